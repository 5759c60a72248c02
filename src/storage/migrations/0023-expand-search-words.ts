/**
 * The search index with what searches ask of it now: words written together, titles by their length, archived products
 * apart, descriptions without markup. A program that lacks this finds what it found, in another order.
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
