/** Records of an import as far as they can be made ready without the database: checked, their words split. */
import type { ErrorDetail } from '../../http/errors.ts';
import { detailsOf } from '../../http/schema.ts';
import { canBeMisspelt, documentWords, isNoWord } from '../../storage/search-words.ts';
import { type ImportRecord, plainRecord } from './import-plain.ts';
import { createProduct } from './schema.ts';
import { searchTextOf } from './search-text.ts';

export interface PreparedRecord {
  readonly fields: ImportRecord;
  /** What the search index holds of a product with just these fields. */
  readonly words: string;
  /** Those of its words that no record before had, and that a search may misspell. */
  readonly newWords: readonly string[];
}

/** Words remembered as had: beyond that they are told once more, which does no harm. */
const mostHad = 100_000;

/** Checks one mapped record with the create schema: its fields, or what is wrong with it. */
export function checkRecord(input: Readonly<Record<string, unknown>>): ImportRecord | readonly ErrorDetail[] {
  if (plainRecord(input)) return input;
  const result = createProduct.safeParse(input);
  return result.success ? result.data : detailsOf(result.error);
}

/** @returns what prepares the records of one import, one after another */
export function recordPreparer(): (fields: ImportRecord) => PreparedRecord {
  const had = new Set<string>();
  return fields => {
    const { name, description = null, category = null, tags, sku = null } = fields;
    const entries = documentWords(searchTextOf({ name, description, category, tags: tags ?? [], sku }));
    const newWords: string[] = [];
    for (const word of entries) {
      if (isNoWord(word) || had.has(word) || !canBeMisspelt(word)) continue;
      if (had.size >= mostHad) had.clear();
      had.add(word);
      newWords.push(word);
    }
    return { fields, words: entries.join(' '), newWords };
  };
}
