/** The queries of sessions. Sessions are stored with a hash of their refresh token, never the token. */
import { sql } from 'kysely';
import { maxClockSkewMs } from '../../ports/clock.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createOwnedRemover, createSweep, maxRemoved } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';
import { createEndedSessions, type EndedSessions } from './ended-sessions.ts';
import { refreshLifetime } from './lifetimes.ts';

export type SessionStore = ReturnType<typeof createSessionStore>;

/** @param ended the ended sessions that this process verifies access tokens against, if it verifies any */
export function createSessionStore(
  database: Pick<Database, 'build' | 'dialect' | 'read'>,
  ended: Pick<EndedSessions, 'end'> = createEndedSessions(database),
) {
  const { build, dialect } = database;
  const rows = { table: 'sessions', key: ['id'] } as const;
  const setSomeBack = prepareQuery<{ now: number; end: number; last: number }, unknown>(
    build,
    ({ now, end, last }) => sql`with ahead as materialized (
        select id from sessions where expires_at > ${last} limit ${sql.lit(maxRemoved)} ${dialect.skipLocked})
      update sessions set created_at = ${now}, last_used_at = ${now}, expires_at = ${end}
      where id in (select id from ahead)`,
  );
  const removeRowsOf = createOwnedRemover(database, rows);
  return {
    async insert(session: Session, row: Row<'sessions'>): Promise<void> {
      await session.run(build.insertInto('sessions').values(row).compile());
    },
    findByToken: (session: Session, hash: string) =>
      session.first(build.selectFrom('sessions').selectAll().where('token_hash', '=', hash).compile()),
    /** Records a use. @returns whether the session still exists */
    async touch(session: Session, id: string, now: number): Promise<boolean> {
      const query = build.updateTable('sessions').set({ last_used_at: now }).where('id', '=', id);
      return (await session.run(query.compile())) > 0;
    },
    async removeByToken(session: Session, hash: string): Promise<void> {
      await session.run(build.deleteFrom('sessions').where('token_hash', '=', hash).compile());
    },
    /** Ends all sessions of a locked user, and the access tokens made in them. */
    async removeAllOf(session: Transaction, userId: number, at: number): Promise<void> {
      await removeRowsOf(session, userId);
      const user = build.selectFrom('users').select('session_generation').where('id', '=', userId);
      const generation = ((await session.first(user.compile()))?.session_generation ?? 0) + 1;
      const set = build.updateTable('users').set({ session_generation: generation }).where('id', '=', userId);
      await session.run(set.compile());
      await ended.end(session, userId, generation, at);
    },
    /** Deletes some sessions that have expired; returns how many (see `removeInParts`). */
    sweep: createSweep(database, rows, 'expires_at'),
    /**
     * Some sessions that began before the clock was set back count as begun now: otherwise they would last until the
     * clock has caught up. @returns their number: see `removeInParts`
     */
    setBack(session: Session, now: number): Promise<number> {
      const end = now + refreshLifetime * 1000;
      return session.run(setSomeBack({ now, end, last: end + maxClockSkewMs }));
    },
  };
}
