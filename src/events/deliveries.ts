/**
 * The queries of deliveries. `due_at` is when a delivery may be taken up next. A lane that starts an external delivery
 * postpones it: if its process dies, the delivery becomes due again. The postponed `due_at` also identifies the claim:
 * only its holder can remove or postpone the delivery.
 */
import { sql } from 'kysely';
import type { Database, Session } from '../storage/database.ts';
import { type Arguments, prepareByShape, prepareQuery } from '../storage/prepared.ts';

/** A delivery that has been taken up; `due_at` identifies the claim. */
export interface Claimed {
  readonly id: number;
  readonly payload: string;
  /** How often it has failed. */
  readonly attempts: number;
  readonly due_at: number;
}

export interface Backlog {
  readonly queue: string;
  readonly waiting: number;
  /** When the oldest waiting delivery was queued, in epoch milliseconds; null if none waits. */
  readonly oldest: number | null;
  /** Deliveries given up. */
  readonly failed: number;
}

type Postponed = {
  readonly attempts: number;
  readonly dueAt: number;
  /** Set when it is given up. */
  readonly failedAt: number | null;
};

export type Deliveries = ReturnType<typeof createDeliveries>;

export function createDeliveries({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  // A delivery waits while an earlier one with its key is neither made nor given up. Without parameters, so that
  // PostgreSQL plans it each time: a plan cached while the queue was empty would read the whole table for each row.
  const buildFirst = (queue: string) =>
    sql`queue = ${sql.lit(queue)} and failed_at is null
      and not exists (select 1 from deliveries as earlier where earlier.queue = deliveries.queue
        and earlier.key = deliveries.key and earlier.id < deliveries.id and earlier.failed_at is null)
      order by due_at, id limit 1`;
  const first = prepareByShape<Arguments, Pick<Claimed, 'due_at'>>(
    build,
    queue => sql`select due_at from deliveries where ${buildFirst(queue)}`,
  );
  const firstLocked = prepareByShape<Arguments, Claimed>(
    build,
    queue => sql`select id, payload, attempts, due_at from deliveries
        where ${buildFirst(queue)} ${dialect.skipLocked}`,
  );
  const renew = prepareQuery<{ id: number; claim: number; until: number }, unknown>(
    build,
    ({ id, claim, until }) =>
      sql`update deliveries set due_at = ${until} where id = ${id} and due_at = ${claim}`,
  );
  const remove = prepareQuery<{ id: number; claim: number }, unknown>(
    build,
    ({ id, claim }) => sql`delete from deliveries where id = ${id} and due_at = ${claim}`,
  );
  const postpone = prepareQuery<Postponed & { id: number; claim: number }, unknown>(
    build,
    ({ id, claim, attempts, dueAt, failedAt }) => sql`update deliveries
      set attempts = ${attempts}, due_at = ${dueAt}, failed_at = ${failedAt}
      where id = ${id} and due_at = ${claim}`,
  );
  const backlog = sql<Backlog>`select queue, cast(count(*) - count(failed_at) as integer) as waiting,
    min(case when failed_at is null then created_at end) as oldest, cast(count(failed_at) as integer) as failed
    from deliveries group by queue order by queue`.compile(build);

  return {
    async isDue(session: Session, queue: string, now: number): Promise<boolean> {
      const found = await session.first(first(queue, {}));
      return found !== undefined && found.due_at <= now;
    },
    /** The next due delivery, locked until the transaction ends. */
    async next(session: Session, queue: string, now: number): Promise<Claimed | undefined> {
      const found = await session.first(firstLocked(queue, {}));
      return found !== undefined && found.due_at <= now ? found : undefined;
    },
    /**
     * Claims a locked delivery until then, beyond the transaction, or extends a claim.
     * @returns the new claim; undefined if another process holds the delivery by now
     */
    async renew(session: Session, claimed: Claimed, until: number): Promise<Claimed | undefined> {
      const renewed = await session.run(renew({ id: claimed.id, claim: claimed.due_at, until }));
      return renewed > 0 ? { ...claimed, due_at: until } : undefined;
    },
    /** @returns false if another process holds the delivery by now */
    remove: async (session: Session, { id, due_at }: Claimed) =>
      (await session.run(remove({ id, claim: due_at }))) > 0,
    /** @returns false if another process holds the delivery by now */
    postpone: async (session: Session, { id, due_at }: Claimed, postponed: Postponed) =>
      (await session.run(postpone({ id, claim: due_at, ...postponed }))) > 0,
    backlog: (session: Session) => session.all(backlog),
  };
}
