/** Reads the search index for the resources: common words of products out of memory. */
import type { Database } from '../../storage/database.ts';
import { memoryReader } from '../../storage/search/memory/reader.ts';
import { idsOfWord } from '../../storage/search/memory/source.ts';
import { type WordSets, wordSets } from '../../storage/search/memory/words.ts';
import { type SearchReader, searchReader } from '../../storage/search/reading/index.ts';
import { documentWords } from '../../storage/search/text/words.ts';
import { productOf, products } from '../products/row.ts';
import { searchTextOf } from '../products/search-text.ts';

/** @param reader of the index alone */
export const productWords = (database: Database, reader: SearchReader): WordSets =>
  wordSets(database, {
    collection: products,
    read: idsOfWord(database, reader),
    wordsOf(id, document) {
      const text = searchTextOf(productOf({ id, document }));
      return text.archived === true ? [] : documentWords(text);
    },
  });

export function productReader(database: Database): SearchReader {
  const reader = searchReader(database);
  return memoryReader(reader, productWords(database, reader));
}
