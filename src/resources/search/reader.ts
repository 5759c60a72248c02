/** Reads the search index for the resources; common words of products come from memory. */
import type { Database } from '../../storage/database.ts';
import { createMemoryReader } from '../../storage/search/memory/reader.ts';
import { createIdReader } from '../../storage/search/memory/source.ts';
import { createWordSets, type WordSets } from '../../storage/search/memory/words.ts';
import { createSearchReader, type SearchReader } from '../../storage/search/reading/index.ts';
import { toDocumentWordsInSlices } from '../../storage/search/text/words.ts';
import { productOf, products } from '../products/row.ts';
import { toSearchTextInSlices } from '../products/search-text.ts';

/** @param reader reads only the index */
export const createProductWords = (database: Database, reader: SearchReader): WordSets =>
  createWordSets(database, {
    collection: products,
    read: createIdReader(database, reader),
    async wordsOf(id, document) {
      const text = await toSearchTextInSlices(productOf({ id, document }));
      return text.archived === true ? [] : toDocumentWordsInSlices(text);
    },
  });

export function createProductReader(database: Database): SearchReader {
  const reader = createSearchReader(database);
  return createMemoryReader(reader, createProductWords(database, reader));
}
