/**
 * The search index with what searches ask of it now: words written together, titles by their length, archived products
 * apart, descriptions without markup. A program that lacks this finds what it found, in another order.
 */
import { sql } from 'kysely';
import { pagesAfter } from '../../slices.ts';
import { type SearchDocument, searchIndex, spellingOf, wordsOfDialect } from '../search/index.ts';
import { documentWords } from '../search/text/words.ts';
import type { Migration } from './migration.ts';
import { documentSources } from './search-documents.ts';

export const searchWords: Migration = {
  name: '0023-expand-search-words',
  async up(session, database) {
    const { build } = database;
    const index = searchIndex(database);
    for (const statement of wordsOfDialect(database).clear()) await session.run(statement.compile(build));
    for (const { type, read } of documentSources(build, sql<string>`document`)) {
      for await (const documents of pagesAfter<SearchDocument>(last => read(session, last))) {
        const split = documents.map(document => ({
          id: document.id,
          words: documentWords(document).join(' '),
          archived: document.archived === true,
        }));
        await index.addMany(session, type, split);
      }
    }
    await spellingOf(database).rebuild(session);
    await index.compact(session);
  },
};
