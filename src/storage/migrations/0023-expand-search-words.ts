/**
 * Rebuilds the search index with joined words, titles by length, archived products apart, and descriptions without
 * markup. A program without this migration finds the same documents, in another order.
 */
import { sql } from 'kysely';
import { readPages } from '../../turns/slices.ts';
import {
  createDialectSpelling,
  createSearchIndex,
  getDialectWords,
  type SearchDocument,
} from '../search/index.ts';
import { toDocumentWords } from '../search/text/words.ts';
import type { Migration } from './migration.ts';
import { createDocumentSources } from './search-documents.ts';

export const searchWords: Migration = {
  name: '0023-expand-search-words',
  async up(session, database) {
    const { build } = database;
    const index = createSearchIndex(database);
    for (const statement of getDialectWords(database).clear()) await session.run(statement.compile(build));
    for (const { type, read } of createDocumentSources(build, sql<string>`document`)) {
      for await (const documents of readPages<SearchDocument>(last => read(session, last))) {
        const split = documents.map(document => ({
          id: document.id,
          words: toDocumentWords(document).join(' '),
          archived: document.archived === true,
        }));
        await index.addMany(session, type, split);
      }
    }
    await createDialectSpelling(database).rebuild(session);
    await index.compact(session);
  },
};
