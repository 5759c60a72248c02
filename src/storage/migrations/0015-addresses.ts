/** Requested e-mail addresses, and tokens that confirm these or restore the former ones. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const addresses: Migration = {
  name: '0015-addresses',
  async up(session, { build, dialect }) {
    const { text, integer, moment } = dialect.types;
    const statements = [
      sql`alter table users add column pending_email ${text}`,
      sql`create table address_tokens (
        token_hash ${text} primary key,
        user_id ${integer} not null references users (id) on delete cascade,
        purpose ${text} not null check (purpose in ('confirmation', 'restoration')),
        email ${text} not null,
        user_version ${integer} not null,
        created_at ${moment} not null,
        expires_at ${moment} not null
      )`,
      sql`create index address_tokens_by_user on address_tokens (user_id)`,
      sql`create index address_tokens_by_expiry on address_tokens (expires_at)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
