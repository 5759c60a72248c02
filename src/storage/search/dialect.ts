/** The statements of a search index, which differ between databases. */
import { type RawBuilder, sql } from 'kysely';
import type { Builder, Session } from '../database.ts';
import type { Expression } from './expression.ts';

export type Part = RawBuilder<unknown>;

export interface PageArguments<Value> {
  readonly query: Value;
  readonly low: Value;
  readonly high: Value;
  readonly limit: Value;
  readonly offset: Value;
}

/** The statements of a search index in one dialect. Positions: see index.ts. */
export interface DialectWords {
  /** Whether a statement blocks all other requests. */
  readonly blocksEventLoop: boolean;
  tables(): Part[];
  /** Merges the pieces that many writes have left, so that searches read fewer of them. */
  compact(): Part[];
  /** Takes rows of a position and its words, separated by spaces; replaces the old document at each position. */
  insert(rows: Part): Part;
  /** The columns into which the same rows can be copied if their positions have no documents; undefined for none. */
  readonly copied?: readonly string[];
  remove(positions: Part): Part;
  /** Removes all documents, and their kept words. */
  clear(): Part[];
  /** The words of all documents, some at a time; those of one document need not be adjacent. */
  entries(session: Session, build: Builder): AsyncGenerator<readonly Entry[]>;
  /** Writes an expression in the database's own query language. */
  text(expression: Expression): string;
  /**
   * @param types the numbers of the types, ascending
   * @param rare whether few documents match, so that it is faster to collect them first and then sort them
   */
  page(
    values: PageArguments<Part>,
    types: readonly number[],
    descending: boolean,
    rare: boolean,
  ): RawBuilder<{ position: number }>;
  /** The last document below a position. */
  lastPosition(below: Part): RawBuilder<{ position: number }>;
  /**
   * Words that many documents have, with their share of documents, as far as the database has statistics; undefined if
   * they make no difference.
   */
  commonWords?(): RawBuilder<CommonWord>;
  /** Tests a sample of the documents between two positions; undefined if it makes no difference. */
  sample?(values: Pick<PageArguments<Part>, 'query' | 'low' | 'high'>): RawBuilder<Sample>;
  /** How many documents of a range match; undefined if counting all types in one statement is faster. */
  count?(values: Pick<PageArguments<Part>, 'query' | 'low' | 'high'>): RawBuilder<{ total: number }>;
  /** How many documents of each type match; defined if `count` is not. */
  countTypes?(
    values: Pick<PageArguments<Part>, 'query' | 'low' | 'high'>,
  ): RawBuilder<{ type: number; total: number }>;
  /** The longer words that begin with this one, up to a limit; undefined if prefixes cost no more. */
  longerWords?(values: { readonly word: Part; readonly limit: Part }): RawBuilder<{ word: string }>;
  /** How often documents have words that begin with this one, up to a limit; defined if `longerWords` is. */
  instances?(values: { readonly word: Part; readonly limit: Part }): RawBuilder<{ total: number }>;
  /** The same as rows, in the order of words; defined if `longerWords` is. */
  entriesOf?(values: { readonly word: Part; readonly limit: Part }): RawBuilder<Entry>;
  readonly spellings: SpellingStatements;
  /**
   * The documents of several queries, up to a limit for each; undefined if a statement for each query costs no more.
   */
  documentsOf?(
    queries: readonly Part[],
    values: Pick<PageArguments<Part>, 'low' | 'high' | 'limit'>,
  ): RawBuilder<Placed>;
  /**
   * The ids of a word's documents between two positions, as 32-bit numbers, the highest byte first; undefined if pages
   * of them cost no more.
   */
  ids?(values: Pick<PageArguments<Part>, 'query' | 'low' | 'high'>): RawBuilder<{ ids: Uint8Array | null }>;
}

/** The statements of the kept words (spelling.ts). Lists are text: words separated by spaces. */
export interface SpellingStatements {
  /**
   * Those of the words that are kept, in order.
   * @param lock locks them until the transaction ends: `shared` with other transactions that need them kept
   */
  kept(words: Part, lock: 'shared' | 'exclusive'): RawBuilder<{ word: string }>;
  /** The words that are kept under any of these spellings. */
  spelt(spellings: Part): RawBuilder<{ word: string }>;
  /**
   * Sorts recent writes into the index, so that many words are looked up quickly; undefined if the index is always
   * sorted. It is not for transactions that look up few words: it costs more than their lookups.
   */
  sortIn?: Part;
  /** Those of the words that no document below a position has. */
  unused(words: Part, below: Part): RawBuilder<{ word: string }>;
  /** A first test, cheap for words that many documents have: the words that a sample of the documents lacks. */
  rare?(words: Part, below: Part): RawBuilder<{ word: string }>;
  /** Keeps words: each element is a spelling and its word, as `spelling:word`. */
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

interface CommonWord {
  readonly word: string;
  readonly share: number;
}

export interface Sample {
  readonly hits: number;
  readonly documents: number;
}

/** A document of the query with the number `place`, from 1. */
export interface Placed {
  readonly place: number;
  readonly position: number;
}

/**
 * The end of a condition on a range of positions; empty if the types are consecutive, so that only they are in it.
 * @param type the number of a document's type
 */
export const buildTypeCondition = (type: Part, types: readonly number[]): Part =>
  types.every((one, index) => index === 0 || one === (types[index - 1] ?? 0) + 1)
    ? sql``
    : sql`and ${type} in (${sql.join(types.map(one => sql.lit(one)))})`;
