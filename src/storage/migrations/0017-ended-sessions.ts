/** Access tokens end with the sessions of their user: see resources/auth/ended-sessions.ts. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const endedSessions: Migration = {
  name: '0017-ended-sessions',
  async up(session, { build, dialect }) {
    const { integer, moment } = dialect.types;
    const statements = [
      sql`alter table users add column session_generation ${integer} not null default 0`,
      // The table includes deleted users.
      sql`create table ended_sessions (
        user_id ${integer} primary key,
        generation ${integer} not null,
        ended_at ${moment} not null
      )`,
      sql`create index ended_sessions_by_time on ended_sessions (ended_at)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
