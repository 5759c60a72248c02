/**
 * The search index with what searches ask of it now: words written together, titles by their length, archived products
 * apart, descriptions without markup. A program that lacks this finds what it found, in another order.
 */
import { sql } from 'kysely';
import { searchIndex, spellingOf, wordsOfDialect } from '../search/index.ts';
import type { Migration } from './migration.ts';
import { documentsOf, splitDocuments } from './search-documents.ts';

export const searchWords: Migration = {
  name: '0023-expand-search-words',
  async up(session, database) {
    const { build } = database;
    const index = searchIndex(database);
    for (const statement of wordsOfDialect(database).clear()) await session.run(statement.compile(build));
    const stored = sql<string>`document`;
    for await (const { type, documents } of documentsOf(session, build, stored))
      await index.addMany(session, type, splitDocuments(documents));
    await spellingOf(database).rebuild(session);
    await index.compact(session);
  },
};
