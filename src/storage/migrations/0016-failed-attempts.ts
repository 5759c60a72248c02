/** How often attempts to guess a secret have failed, for all replicas together. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const failedAttempts: Migration = {
  name: '0016-failed-attempts',
  async up(session, { build, dialect }) {
    const { text, integer, moment } = dialect.types;
    const statements = [
      sql`create table failed_attempts (
        hash ${text} primary key,
        failures ${integer} not null,
        failed_at ${moment} not null,
        failed_before ${moment} not null
      )`,
      sql`create index failed_attempts_by_age on failed_attempts (failed_at)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
