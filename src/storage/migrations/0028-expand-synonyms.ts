/** Synonyms: words that a search treats as equivalent. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const synonyms: Migration = {
  name: '0028-expand-synonyms',
  async up(session, { build, dialect }) {
    const { id, text, moment } = dialect.types;
    const statement = sql`create table search_synonyms (
      id ${id},
      created_at ${moment} not null,
      updated_at ${moment} not null,
      document ${text} not null
    )`;
    await session.run(statement.compile(build));
  },
};
