/** The addresses from which users have signed in: guesses from elsewhere do not lock them out. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const knownAddresses: Migration = {
  name: '0014-known-addresses',
  async up(session, { build, dialect }) {
    const { text, integer, moment } = dialect.types;
    const statements = [
      sql`create table known_addresses (
        hash ${text} primary key,
        user_id ${integer} not null references users (id) on delete cascade,
        last_used_at ${moment} not null
      )`,
      sql`create index known_addresses_by_user on known_addresses (user_id)`,
      sql`create index known_addresses_by_age on known_addresses (last_used_at)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
