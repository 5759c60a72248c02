/** Records of an import as far as they can be made ready without the database: checked, as rows, their words split. */
import type { ErrorDetail } from '../../../http/errors.ts';
import { detailsOf } from '../../../http/schema.ts';
import { canBeMisspelt, isNoWord, splitDocument } from '../../../storage/search/words.ts';
import { type ProductRow, rowOf } from '../row.ts';
import { completeFields, createProduct } from '../schema.ts';
import { searchTextOf } from '../search-text.ts';
import { type ImportRecord, plainRecord } from './plain.ts';

export interface PreparedRecord {
  /** The row of a new product with just the fields of this record. */
  readonly row: ProductRow;
  /** What the search index holds of such a product. */
  readonly words: string;
  readonly tags: readonly string[];
  /** Which fields the record has itself, for a product that exists: see `isGiven`. */
  readonly given: number;
}

/** Those that a record may leave out; the place of each is its bit in `given`. */
const optional = ['currency', 'status', 'description', 'category', 'tags'] as const;

/** Whether the record has the field, be it as an explicit null, which its row tells no longer from none. */
export function isGiven({ given }: PreparedRecord, field: (typeof optional)[number]): boolean {
  return (given & (1 << optional.indexOf(field))) !== 0;
}

function givenOf(record: ImportRecord): number {
  let given = 0;
  for (const [bit, field] of optional.entries()) if (record[field] !== undefined) given |= 1 << bit;
  return given;
}

/** Checks one mapped record with the create schema: its fields, or what is wrong with it. */
export function checkRecord(input: Readonly<Record<string, unknown>>): ImportRecord | readonly ErrorDetail[] {
  if (plainRecord(input)) return input;
  const result = createProduct.safeParse(input);
  return result.success ? result.data : detailsOf(result.error);
}

export interface Preparer {
  /** @param at epoch milliseconds: when a product that this record makes will have been created */
  prepare(record: ImportRecord, at: number): PreparedRecord;
  /** The distinct words of the records since the last call that a search may misspell. */
  newWords(): string[];
}

/** Prepares the records of one import. */
export function recordPreparer(defaultCurrency: string): Preparer {
  const had = new Set<string>();
  return {
    prepare(record, at) {
      // An explicit null is kept, also as the currency.
      const currency = record.currency === undefined ? defaultCurrency : record.currency;
      const fields = { ...completeFields(record), currency };
      const { text, words } = splitDocument(searchTextOf(fields));
      for (const word of words) {
        if (!isNoWord(word) && !had.has(word) && canBeMisspelt(word)) had.add(word);
      }
      return { row: rowOf(fields, at), words: text, tags: fields.tags, given: givenOf(record) };
    },
    newWords() {
      const words = [...had];
      had.clear();
      return words;
    },
  };
}
