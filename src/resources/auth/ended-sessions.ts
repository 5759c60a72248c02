/**
 * Access tokens are verified without a lookup, and yet end with the sessions of their user (docs/decisions/0022).
 *
 * A user has a generation, which advances when all sessions end. Access tokens carry the generation they were made in.
 * The transaction that ends the sessions records the user and the new generation for as long as access tokens live. The
 * process that commits it knows at once; the others read these few rows again once their copy is half a minute old.
 */
import { maxClockSkewMs } from '../../ports/clock.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createSweep } from '../../storage/table-rows.ts';
import { accessLifetime } from './lifetimes.ts';

/** The age, in milliseconds, at which a process polls again for the sessions that others ended. */
const knownForMs = 30_000;
/** Milliseconds until the next poll after one that failed. */
const againAfterMs = 5000;
/** No access token is valid for longer, on whichever machine it was issued. */
const keptForMs = accessLifetime * 1000 + maxClockSkewMs;

export type EndedSessions = ReturnType<typeof createEndedSessions>;

export function createEndedSessions(database: Pick<Database, 'build' | 'dialect' | 'read'>) {
  const { build, read } = database;
  const ended = new Map<number, { readonly generation: number; readonly at: number }>();
  /** The period during which no poll is due, by the clock of the requests. */
  let due = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
  let polling: Promise<void> | undefined;
  const since = prepareQuery<{ at: number }, { user_id: number; generation: number; ended_at: number }>(
    build,
    argument => build.selectFrom('ended_sessions').selectAll().where('ended_at', '>', argument.at),
  );

  const sweep = createSweep(database, { table: 'ended_sessions', key: ['user_id'] }, 'ended_at');

  function keep(userId: number, generation: number, at: number): void {
    const known = ended.get(userId);
    if (known === undefined || known.generation <= generation) ended.set(userId, { generation, at });
  }

  async function poll(now: number): Promise<void> {
    try {
      // By time, not after the last row seen: rows are not committed in the order of their times.
      const rows = await read.all(since({ at: now - keptForMs }));
      for (const { user_id, generation, ended_at } of rows) keep(user_id, generation, ended_at);
      for (const [userId, { at }] of ended) if (at <= now - keptForMs) ended.delete(userId);
      due = { from: now, until: now + knownForMs };
    } catch {
      // Other requests meet the same database and report the problem. Writes confirm credentials in their transactions.
      due = { from: now, until: now + againAfterMs };
    } finally {
      polling = undefined;
    }
  }

  return {
    /** Ends, with the commit, the access tokens of all generations before this one. */
    async end(session: Transaction, userId: number, generation: number, at: number): Promise<void> {
      const set = { generation, ended_at: at };
      const query = build
        .insertInto('ended_sessions')
        .values({ user_id: userId, ...set })
        .onConflict(conflict => conflict.column('user_id').doUpdateSet(set));
      await session.run(query.compile());
      session.onCommit(() => keep(userId, generation, at));
    },
    /** Whether this process knows that an access token has ended. */
    has(userId: number, generation: number): boolean {
      const known = ended.get(userId);
      return known !== undefined && generation < known.generation;
    },
    /** Resolves once sessions that other processes ended are known; undefined if they already are. Never rejects. */
    known(now: number): Promise<void> | undefined {
      // Also due if the clock was set back.
      if (now >= due.from && now < due.until) return undefined;
      polling ??= poll(now);
      return polling;
    },
    /** Deletes some of the rows whose access tokens have expired; returns how many (see `removeInParts`). */
    sweep: (session: Session, now: number) => sweep(session, now - keptForMs),
  };
}
