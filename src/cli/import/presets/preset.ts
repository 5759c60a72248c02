/** What a preset is: how a shop's export becomes products. */
import type { CellOptions } from '../../../files/cells/fields.ts';

export const presetNames = ['shopify', 'woocommerce', 'magento', 'google', 'meta'] as const;

export type PresetName = (typeof presetNames)[number];

/** The columns of a shop's file by the names that its preset gives them. */
export interface Columns {
  /** As the file calls them. */
  readonly all: readonly string[];
  /** Where a name of the preset is found. */
  readonly found: ReadonlyMap<string, string>;
  /** Those that no name stands for: their values become attributes. */
  readonly rest: readonly string[];
  /** By what they are called in English, in lower case: what is in the file. */
  readonly english: ReadonlyMap<string, string>;
}

/** A row of a shop's file; its cells by the names that the preset gives its columns. */
export interface Row {
  readonly line: number;
  readonly raw: string;
  readonly columns: Columns;
  readonly value: Readonly<Record<string, unknown>>;
  /** Trimmed; empty when there is no such column. */
  text(name: string): string;
  /** The same of a column that has no name of its own. */
  cell(column: string): string;
}

/** Where a row belongs, by texts that rows of one product have in common. */
export type RowPlacement =
  /**
   * The product itself. @param also other names that rows of variants call it; @param variants names of such rows;
   * @param absorbs what other rows call a product of their own, which is part of this one
   */
  | {
      readonly product: string;
      readonly also?: readonly string[];
      readonly variants?: readonly string[];
      readonly absorbs?: string;
    }
  /** A row of a product that another row introduces. @param lacks what the row itself lacks where none does */
  | { readonly variantOf: string; readonly lacks?: string }
  /** A product of its own, unless another row names it as its variant. */
  | { readonly named: string }
  /** A product of its own, which no other row can name. */
  | { readonly alone: true }
  /** Not to be imported. */
  | { readonly leftOut: string };

/** The currency that stands beside an amount, and where. */
export interface NamedCurrency {
  readonly code: string;
  /** What its sign may stand for, where that is several currencies. */
  readonly choices?: readonly string[] | undefined;
  readonly line: number;
  readonly column: string;
  /** All that is in the cell. */
  readonly text: string;
}

export interface Variant {
  readonly sku?: string | undefined;
  readonly gtin?: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly price?: number | undefined;
  /** null: there is none, nor any more. */
  readonly compareAtPrice?: number | null | undefined;
  /** Of its amounts. */
  readonly currency?: NamedCurrency | undefined;
  readonly weight?: { readonly value: number; readonly unit: string } | undefined;
  readonly stock?: Stock | Uncounted | undefined;
  /** The address of one of the product's images. */
  readonly image?: string | undefined;
}

/** The shop sells without counting: what is counted here then is no longer, and keeps its pieces. */
export interface Uncounted {
  readonly tracked: false;
}

export interface Stock {
  readonly tracked: boolean;
  readonly onHand: number;
  readonly backorder: boolean;
}

/** A product as the rows of a shop describe it. */
export interface Draft {
  /** Members of a product that is to be created; checked later. */
  readonly fields: Readonly<Record<string, unknown>> & { readonly currency?: NamedCurrency | undefined };
  readonly variants: readonly Variant[];
  readonly images: readonly { readonly url: string; readonly alt?: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Names of options in their order; undefined: as the variants name them. */
  readonly options?: readonly string[];
}

export interface Preset {
  readonly name: PresetName;
  /** How people call such a file. */
  readonly file: string;
  /** Names of columns → what they are called in the file; several: the first that is there. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /** Members of a product or variant → the name of the column that they come from, for errors. */
  readonly members: Readonly<Record<string, string>>;
  /** Names without which the file is something else. */
  readonly required: readonly string[];
  /** Names that, together, no other file has: it is recognized by them. */
  readonly signs: readonly (readonly string[])[];
  /** Further columns that the preset reads itself, or that mean nothing outside the shop. */
  readonly takes?: RegExp;
  /** Whether such files may be XML, too. */
  readonly isFeed?: boolean;
  /** Columns that may come several times in a file, and hold lists with commas where they come once. */
  readonly repeated?: RegExp;
  /** What the places of values with colons are, by column; names that share a place with | between them. */
  readonly places?: ReadonlyMap<string, readonly string[]>;
  /** Whether a text of the shop says that there is nothing in the cell. */
  isEmpty?(column: string, text: string): boolean;
  /** The columns in English, where the shop writes them in its own language; undefined: they are not known. */
  translate?(columns: readonly string[]): readonly string[] | undefined;
  place(row: Row): RowPlacement;
  /** @param rows of one product, in their order @throws RowProblem */
  draft(rows: readonly Row[], drafting: Drafting): Draft;
}

/** What drafts are made with. */
export interface Drafting {
  readonly cells: CellOptions;
  /** Before addresses of images that are only paths. */
  readonly imageBase: string | undefined;
  /** Leaves out what has no place, instead of keeping it as attributes. */
  readonly dropUnknown: boolean;
  /** Epoch milliseconds: which sales are on. */
  readonly now: number;
  /** Those that products and variants of the file have so far, where a shop lets several have one. */
  readonly skus: Set<string>;
  /** Whether an attribute is left out, as the command line wants it. */
  drop(name: string): boolean;
  /** The key of an attribute or column: in one file those of different names are different. */
  keyOf(name: string): string;
  /** Counts something that the user should know. */
  note(text: string): void;
}

/** A row that cannot be taken. */
export class RowProblem extends Error {
  readonly line: number;
  readonly column: string;
  readonly problem: string;
  readonly value: string;

  constructor(row: Pick<Row, 'line'>, column: string, problem: string, value = '') {
    super(`${column} ${problem}`);
    this.line = row.line;
    this.column = column;
    this.problem = problem;
    this.value = value;
  }
}
