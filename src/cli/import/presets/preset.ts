/** The interface of a preset, which turns a shop's export into products. */
import type { CellOptions } from '../../../files/cells/fields.ts';
import type { StockFields as Stock } from '../../../resources/products/members/stock.ts';

export type { Stock };

export const presetNames = ['shopify', 'woocommerce', 'magento', 'wix', 'google', 'meta'] as const;

export type PresetName = (typeof presetNames)[number];

/** The presets that also read JSON. */
export const jsonPresetNames: readonly PresetName[] = ['shopify', 'woocommerce'];

/** The cells of a row by the names of their columns. */
export type Cells = Readonly<Record<string, string>>;

/** Products as the API of a shop gives them: they are converted to the rows of its export. */
export interface JsonProducts {
  /** The name for such a file in messages. */
  readonly file: string;
  /** What such a file may contain, for messages. */
  readonly accepted: string;
  isProduct(value: Readonly<Record<string, unknown>>): boolean;
  /** @returns the rows of one product, or of a part of it, under the columns of an export in English */
  toRows(product: Readonly<Record<string, unknown>>): readonly Cells[];
}

/** The columns of a shop's file by the names that its preset gives them. */
export interface Columns {
  /** All columns, by their names in the file. */
  readonly all: readonly string[];
  /** Names of the preset → columns of the file. */
  readonly found: ReadonlyMap<string, string>;
  /** Columns without a name in the preset: their values become attributes. */
  readonly rest: readonly string[];
  /** English names, in lower case → columns of the file. */
  readonly english: ReadonlyMap<string, string>;
}

/** A row of a shop's file, with its cells by the names that the preset gives to columns. */
export interface Row {
  readonly line: number;
  readonly raw: string;
  readonly columns: Columns;
  readonly value: Readonly<Record<string, unknown>>;
  /** The trimmed text of a cell; empty if there is no such column. */
  text(name: string): string;
  /** Like `text`, by the name of the column in the file. */
  cell(column: string): string;
}

/** Where a row belongs, according to the keys that rows of one product share. */
export type RowPlacement =
  /**
   * The product itself. @param also other names by which rows of variants refer to it; @param variants names of such
   * rows; @param absorbs the key of another product whose rows are part of this one
   */
  | {
      readonly product: string;
      readonly also?: readonly string[];
      readonly variants?: readonly string[];
      readonly absorbs?: string;
    }
  /** A row of a product that another row introduces. @param lacks what this row lacks if there is no such row */
  | { readonly variantOf: string; readonly lacks?: string }
  /** A separate product, unless another row names this one as its variant. */
  | { readonly named: string }
  /** A separate product that no other row can name. */
  | { readonly alone: true }
  /** Not imported, with the reason. */
  | { readonly leftOut: string };

/** The currency beside an amount, and its position in the file. */
export interface NamedCurrency {
  readonly code: string;
  /** The currencies that the sign may stand for, if there are several. */
  readonly choices?: readonly string[] | undefined;
  readonly line: number;
  readonly column: string;
  /** The whole text of the cell. */
  readonly text: string;
}

export interface Variant {
  readonly sku?: string | undefined;
  readonly gtin?: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly price?: number | undefined;
  /** null removes a former price. */
  readonly compareAtPrice?: number | null | undefined;
  readonly currency?: NamedCurrency | undefined;
  readonly weight?: { readonly value: number; readonly unit: string } | undefined;
  readonly stock?: Stock | Uncounted | undefined;
  /** The URL of one of the product's images. */
  readonly image?: string | undefined;
}

/** The shop sells without counting: stock that was tracked is no longer, and keeps its number of pieces. */
export interface Uncounted {
  readonly tracked: false;
}

/** A product as the rows of a shop describe it. */
export interface Draft {
  /** The row of the product itself: files may have those of its variants before it. */
  readonly own: Row;
  /** Members of the product to create; checked later. */
  readonly fields: Readonly<Record<string, unknown>> & { readonly currency?: NamedCurrency | undefined };
  readonly variants: readonly Variant[];
  readonly images: readonly { readonly url: string; readonly alt?: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The names of options, in order; if undefined, the order in which the variants name them. */
  readonly options?: readonly string[];
}

export interface Preset {
  readonly name: PresetName;
  /** The name for such a file in messages. */
  readonly file: string;
  /** Names of columns → their possible names in the file; the first one that exists is used. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /** Members of a product or variant → the names of the columns that they come from, for errors. */
  readonly members: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  /** Sets of column names, each of which identifies a file of this shop. */
  readonly signs: readonly (readonly string[])[];
  /** Further columns that the preset reads itself, or that mean nothing outside the shop. */
  readonly takes?: RegExp;
  /** The same products as JSON, if the preset reads them. */
  readonly json?: JsonProducts;
  /** Whether such files may also be XML. */
  readonly isFeed?: boolean;
  /** Columns that may occur several times in a file; one that occurs once holds a list with commas. */
  readonly repeated?: Pick<RegExp, 'test'>;
  /** Columns → the names of the parts of values with colons; names that share a place are separated by `|`. */
  readonly places?: ReadonlyMap<string, readonly string[]>;
  isEmpty?(column: string, text: string): boolean;
  /** Translates columns that a shop writes in its own language to English; undefined if they are not recognized. */
  translate?(columns: readonly string[]): readonly string[] | undefined;
  place(row: Row): RowPlacement;
  /** @param rows the rows of one product, in file order @throws RowProblem */
  draft(rows: readonly Row[], drafting: Drafting): Draft;
}

/** The options and state that drafts are made with. */
export interface Drafting {
  readonly cells: CellOptions;
  /** Whether to leave out columns that have no field, instead of keeping them as attributes. */
  readonly dropUnknown: boolean;
  /** The time, in epoch milliseconds, that decides which sales are on. */
  readonly now: number;
  /** The skus in the file so far, for shops that allow duplicates. */
  readonly skus: Set<string>;
  /** Whether the command line leaves out an attribute. */
  drop(name: string): boolean;
  /** The key of an attribute or column; different names in one file have different keys. */
  keyOf(name: string): string;
  /** Counts an occurrence of a note for the user. */
  note(text: string): void;
}

/** A row that cannot be imported. */
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
