/** Records of an import as far as they can be made ready without the database: checked, as rows, their words split. */
import type { ErrorDetail } from '../../http/errors.ts';
import { detailsOf } from '../../http/schema.ts';
import { canBeMisspelt, documentWords, isNoWord } from '../../storage/search-words.ts';
import { type ImportRecord, plainRecord } from './import-plain.ts';
import { type ProductRow, rowOf } from './row.ts';
import { completeFields, createProduct } from './schema.ts';
import { searchTextOf } from './search-text.ts';

export interface PreparedRecord {
  /** The row of a new product with just the fields of this record. */
  readonly row: ProductRow;
  /** What the search index holds of such a product. */
  readonly words: string;
  /** The record's own fields, an ImportRecord as JSON: for a product that exists. */
  readonly source: string;
}

/** Checks one mapped record with the create schema: its fields, or what is wrong with it. */
export function checkRecord(input: Readonly<Record<string, unknown>>): ImportRecord | readonly ErrorDetail[] {
  if (plainRecord(input)) return input;
  const result = createProduct.safeParse(input);
  return result.success ? result.data : detailsOf(result.error);
}

/** Words remembered as had: beyond that they are told once more, which does no harm. */
const mostHad = 100_000;

export interface Preparer {
  /** @param at epoch milliseconds: when a product that this record makes will have been created */
  prepare(record: ImportRecord, at: number): PreparedRecord;
  /** The words of the records since the last call that none had before, and that a search may misspell. */
  newWords(): string[];
}

/** Prepares the records of one import. */
export function recordPreparer(defaultCurrency: string): Preparer {
  const had = new Set<string>();
  let fresh: string[] = [];
  return {
    prepare(record, at) {
      // An explicit null is kept, also as the currency.
      const currency = record.currency === undefined ? defaultCurrency : record.currency;
      const fields = { ...completeFields(record), currency };
      const words = documentWords(searchTextOf(fields));
      for (const word of words) {
        if (isNoWord(word) || had.has(word) || !canBeMisspelt(word)) continue;
        if (had.size >= mostHad) had.clear();
        had.add(word);
        fresh.push(word);
      }
      return { row: rowOf(fields, at), words: words.join(' '), source: JSON.stringify(record) };
    },
    newWords() {
      const words = fresh;
      fresh = [];
      return words;
    },
  };
}
