/** The statements of a search index, which each database words differently. */
import type { RawBuilder } from 'kysely';
import type { Builder, Session } from '../database.ts';
import type { Expression } from './expression.ts';

export type Part = RawBuilder<unknown>;

/** What a page query takes. */
export interface PageArguments<Value> {
  readonly query: Value;
  readonly low: Value;
  readonly high: Value;
  readonly limit: Value;
  readonly offset: Value;
}

/** The statements of a search index in one dialect. Positions: see index.ts. */
export interface DialectWords {
  tables(): Part[];
  /** Puts the pieces together that many writes have left, so that searches have fewer to look into. */
  compact(): Part[];
  /** Takes rows of a position and the words with spaces between; puts each document in its old one's place. */
  insert(rows: Part): Part;
  /** The columns into which the same can be copied as it is, where no document is in its place; undefined for none. */
  readonly copied?: readonly string[];
  /** Takes rows of a position. */
  remove(positions: Part): Part;
  /** Removes all documents, and the words kept of them. */
  clear(): Part[];
  /** The words of all documents, some at a time; those of one document need not follow each other. */
  entries(session: Session, build: Builder): AsyncGenerator<readonly Entry[]>;
  /** An expression in the database's own query language. */
  text(expression: Expression): string;
  /**
   * @param types numbers of the types meant, ascending
   * @param rare whether only few documents are hits: so they had better be gathered first and then put in order
   */
  page(
    values: PageArguments<Part>,
    types: readonly number[],
    descending: boolean,
    rare: boolean,
  ): RawBuilder<{ position: number }>;
  /** How many of a range there are, up to a limit, and where the last of those is. */
  reach(values: Omit<PageArguments<Part>, 'offset'>, rare: boolean): RawBuilder<Reach>;
  /** The last document below a position. */
  lastPosition(below: Part): RawBuilder<{ position: number }>;
  /**
   * Words that many documents have, with the share of documents, as far as the database has counted them; undefined
   * where it makes no difference.
   */
  commonWords?(): RawBuilder<CommonWord>;
  /** Looks at a sample of the documents between two positions; undefined where it makes no difference. */
  sample?(values: Pick<PageArguments<Part>, 'query' | 'low' | 'high'>): RawBuilder<Sample>;
  /** How many documents there are between two positions, up to a limit; undefined where it makes no difference. */
  documentsUpTo?(values: Omit<PageArguments<Part>, 'query' | 'offset'>): RawBuilder<{ total: number }>;
  /** How many documents there are of a range. */
  count(values: Pick<PageArguments<Part>, 'query' | 'low' | 'high'>): RawBuilder<{ total: number }>;
  /** The same, but no more than `limit`; undefined where a long statement does not stop other requests. */
  countUpTo?(values: Omit<PageArguments<Part>, 'offset'>): RawBuilder<{ total: number }>;
  /** Whether documents of one word are counted type by type: where they come one after another, grouping would sort. */
  readonly countsWordsApart: boolean;
  /** How many of each type, in one go; undefined where each type had better be counted alone. */
  countTypes?(
    values: Pick<PageArguments<Part>, 'query' | 'low' | 'high'>,
  ): RawBuilder<{ type: number; total: number }>;
  /** The words that begin with this one and are longer, up to a limit; undefined where prefixes cost no more. */
  longerWords?(values: { readonly word: Part; readonly limit: Part }): RawBuilder<{ word: string }>;
  /** How many words of documents begin so, each once for each of its documents, up to a limit: where `longerWords` is. */
  instances?(values: { readonly word: Part; readonly limit: Part }): RawBuilder<{ total: number }>;
  readonly spellings: SpellingStatements;
  /** At least as many as there are documents of these types; undefined where a long statement does not stop other requests. */
  documents?(types: readonly string[]): RawBuilder<{ total: number }>;
  /**
   * The documents of each of several queries, one a line, up to a limit for each; undefined where a statement for each
   * costs no more.
   */
  documentsOf?(values: Omit<PageArguments<Part>, 'offset'>): RawBuilder<Placed>;
  /**
   * The ids of a word's documents between two positions, as 32-bit numbers, the highest byte first; undefined where pages of
   * them cost no more.
   */
  ids?(values: Pick<PageArguments<Part>, 'query' | 'low' | 'high'>): RawBuilder<{ ids: Uint8Array | null }>;
}

/** The statements of the kept words (spelling.ts). Lists are text: their words with spaces between. */
export interface SpellingStatements {
  /**
   * Those of the words that are kept, in order.
   * @param lock keeps them as they are until the transaction ends: `shared` with others that need them kept
   */
  kept(words: Part, lock: 'shared' | 'exclusive'): RawBuilder<{ word: string }>;
  /** The words kept under any of these spellings. */
  spelt(spellings: Part): RawBuilder<{ word: string }>;
  /**
   * Sorts in what was written lately, so that many words are looked up in a moment; undefined where it always is.
   * It is not for transactions that look up few: it costs more than they do.
   */
  sortIn?: Part;
  /** Those of the words that no document below a position has. */
  unused(words: Part, below: Part): RawBuilder<{ word: string }>;
  /** A first test, cheap for words that many documents have: those that a sample of the documents does not have. */
  rare?(words: Part, below: Part): RawBuilder<{ word: string }>;
  /** Keeps words: each element is a spelling and the word it is of, as `spelling:word`. */
  insert(spelt: Part): Part;
  remove(spelt: Part): Part;
  /** All words of the documents below a position. */
  indexed(below: Part): RawBuilder<{ word: string }>;
}

/** A word of a document. */
export interface Entry {
  readonly position: number;
  readonly word: string;
}

export interface Reach {
  readonly total: number;
  readonly last: number | null;
}

interface CommonWord {
  readonly word: string;
  readonly share: number;
}

export interface Sample {
  readonly hits: number;
  readonly documents: number;
}

/** A document of the query at a place, from 1. */
export interface Placed {
  readonly place: number;
  readonly position: number;
}
