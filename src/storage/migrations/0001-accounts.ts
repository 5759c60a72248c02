/** Accounts, sessions and API keys, and the stored responses of requests with an Idempotency-Key. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const accounts: Migration = {
  name: '0001-accounts',
  async up(session, { build, dialect }) {
    const { id, text, integer, moment } = dialect.types;
    const statements = [
      sql`create table users (
        id ${id},
        name ${text} not null,
        email ${text} not null,
        email_key ${text} not null unique,
        password_hash ${text},
        role ${text} not null check (role in ('admin', 'editor', 'user')),
        tags ${text} not null,
        version ${integer} not null,
        verified_at ${moment},
        created_at ${moment} not null,
        updated_at ${moment} not null
      )`,
      sql`create table sessions (
        id ${text} primary key,
        user_id ${integer} not null references users (id) on delete cascade,
        token_hash ${text} not null unique,
        created_at ${moment} not null,
        last_used_at ${moment} not null,
        expires_at ${moment} not null
      )`,
      sql`create index sessions_by_user on sessions (user_id)`,
      sql`create index sessions_by_expiry on sessions (expires_at)`,
      sql`create table api_keys (
        id ${id},
        name ${text} not null,
        prefix ${text} not null,
        key_hash ${text} not null unique,
        scopes ${text} not null,
        created_by ${integer} references users (id) on delete set null,
        created_at ${moment} not null,
        expires_at ${moment},
        last_used_at ${moment}
      )`,
      sql`create table idempotency_keys (
        caller ${text} not null,
        key ${text} not null,
        request_hash ${text} not null,
        answer ${text} not null,
        created_at ${moment} not null,
        primary key (caller, key)
      )`,
      sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`,
      sql`create table quotas (
        subject ${text} not null,
        window_start ${moment} not null,
        used ${integer} not null,
        primary key (subject, window_start)
      )`,
      sql`create index quotas_by_age on quotas (window_start)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
