/** Administrators' definitions of attribute keys. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const attributes: Migration = {
  name: '0019-expand-attributes',
  async up(session, { build, dialect }) {
    const { id, text, moment } = dialect.types;
    const statement = sql`create table attributes (
      id ${id},
      key ${text} not null unique,
      label ${text} not null,
      type ${text} not null,
      created_at ${moment} not null,
      updated_at ${moment} not null,
      document ${text} not null
    )`;
    await session.run(statement.compile(build));
  },
};
