/**
 * Delivers what has been queued: at least once, in order for each key, by whichever replica gets hold of it
 * first. A delivery that fails is tried again, later each time; those behind it in its key wait for it.
 */
import { sql } from 'kysely';
import { describeError, type Log } from '../operations/log.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database, Session } from '../storage/database.ts';
import { prepared } from '../storage/prepared.ts';

/** Does the work of one queue. Whatever it throws means: not yet; PermanentFailure means: never. */
export type Consumer = { readonly queue: string } & (
  | {
      /** Writes to this database only: in one transaction with the removal of the delivery, so exactly once. */
      readonly kind: 'internal';
      deliver(session: Session, payload: string): Promise<void>;
    }
  | {
      /** Speaks to the world outside, and must be done with it well within the claim: see `claimMs`. */
      readonly kind: 'external';
      deliver(payload: string): Promise<void>;
      /** Runs in the transaction that removes the delivery once it has been made. */
      delivered?(session: Session, payload: string): Promise<void>;
    }
);

/** A delivery that no repetition can make succeed: an address that does not exist. */
export class PermanentFailure extends Error {}

export interface Dispatcher {
  /** Looks for work soon; costs nothing when it is looking already. */
  wake(): void;
  /** Resolves when nothing is left that is due. */
  settle(): Promise<void>;
  /** Finishes what is under way and takes up nothing more. */
  stop(): Promise<void>;
}

export interface DispatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly consumers: readonly Consumer[];
}

/** How long a replica has an external delivery to itself: after this it is taken for dead. */
export const claimMs = 30_000;
/** What other processes have queued, and what has become due again, is found within this. */
const pollMs = 1000;
const longestPauseMs = 60 * 60 * 1000;
/** About half a day. */
const attemptsLimit = 24;

interface Claimed {
  readonly id: number;
  readonly payload: string;
  readonly attempts: number;
}

export function createDispatcher({ database, clock, log, consumers }: DispatcherOptions): Dispatcher {
  const queries = deliveryQueries(database);
  let stopped = false;
  let running: Promise<void> | undefined;
  let again = false;

  const claim = (session: Session, queue: string) => session.first(queries.next({ queue, now: clock.now() }));

  /** @returns whether there was anything to deliver */
  async function deliverNext(consumer: Consumer): Promise<boolean> {
    const { queue } = consumer;
    // Most looks find nothing: they must not wait for the writer.
    if ((await database.read.first(queries.look({ queue, now: clock.now() }))) === undefined) return false;
    return consumer.kind === 'internal' ? deliverInside(consumer) : deliverOutside(consumer);
  }

  async function deliverInside(consumer: Consumer & { kind: 'internal' }): Promise<boolean> {
    let claimed: Claimed | undefined;
    try {
      await database.write(async session => {
        claimed = await claim(session, consumer.queue);
        if (claimed === undefined) return;
        await consumer.deliver(session, claimed.payload);
        await session.run(queries.remove({ id: claimed.id }));
      });
    } catch (error) {
      if (claimed === undefined) throw error;
      await postpone(consumer.queue, claimed, error);
    }
    return claimed !== undefined;
  }

  async function deliverOutside(consumer: Consumer & { kind: 'external' }): Promise<boolean> {
    const claimed = await database.write(async session => {
      const found = await claim(session, consumer.queue);
      if (found !== undefined)
        await session.run(queries.hold({ id: found.id, until: clock.now() + claimMs }));
      return found;
    });
    if (claimed === undefined) return false;
    try {
      await consumer.deliver(claimed.payload);
    } catch (error) {
      await postpone(consumer.queue, claimed, error);
      return true;
    }
    await database.write(async session => {
      await consumer.delivered?.(session, claimed.payload);
      await session.run(queries.remove({ id: claimed.id }));
    });
    return true;
  }

  async function postpone(queue: string, { id, attempts }: Claimed, error: unknown): Promise<void> {
    const failures = attempts + 1;
    const final = error instanceof PermanentFailure || failures >= attemptsLimit;
    const dueAt = clock.now() + Math.min(1000 * 2 ** attempts, longestPauseMs);
    const failedAt = final ? clock.now() : null;
    await database.write(session =>
      session.run(queries.postpone({ id, attempts: failures, dueAt, failedAt })),
    );
    const what = { queue, delivery: id, attempts: failures, ...describeError(error) };
    if (final) log.error('delivery given up', what);
    else
      log.warn('delivery failed; it will be tried again', {
        ...what,
        retryAt: new Date(dueAt).toISOString(),
      });
  }

  /** @returns whether anything was delivered, which may have queued something else */
  async function drain(consumer: Consumer): Promise<boolean> {
    let any = false;
    try {
      while (!stopped && (await deliverNext(consumer))) any = true;
    } catch (error) {
      log.warn('deliveries wait: the database cannot be used', {
        queue: consumer.queue,
        ...describeError(error),
      });
    }
    return any;
  }

  /** One round at a time; whoever asks during a round, or has delivered in it, gets another one after it. */
  function run(): Promise<void> {
    again = true;
    running ??= (async () => {
      while (again && !stopped) {
        again = false;
        const delivered = await Promise.all(consumers.map(drain));
        again ||= delivered.includes(true);
      }
      running = undefined;
    })();
    return running;
  }

  const poll = setInterval(() => void run(), pollMs);
  return {
    wake: () => void run(),
    settle: run,
    async stop() {
      stopped = true;
      clearInterval(poll);
      await running;
    },
  };
}

function deliveryQueries({ build, dialect }: Database) {
  const due = (argument: {
    queue: unknown;
    now: unknown;
  }) => sql`queue = ${argument.queue} and failed_at is null
    and due_at <= ${argument.now} and claimed_until <= ${argument.now}
    and not exists (select 1 from deliveries as earlier where earlier.queue = deliveries.queue
      and earlier.key = deliveries.key and earlier.id < deliveries.id and earlier.failed_at is null)`;
  type Next = { queue: string; now: number };
  const look = prepared<Next, { id: number }>(argument => ({
    compile: () =>
      sql<{ id: number }>`select id from deliveries where ${due(argument)} limit 1`.compile(build),
  }));
  const next = prepared<Next, Claimed>(argument => ({
    compile: () =>
      sql<Claimed>`select id, payload, attempts from deliveries where ${due(argument)}
        order by id limit 1 ${dialect.skipLocked}`.compile(build),
  }));
  const hold = prepared<{ id: number; until: number }, unknown>(argument =>
    build.updateTable('deliveries').set({ claimed_until: argument.until }).where('id', '=', argument.id),
  );
  const remove = prepared<{ id: number }, unknown>(argument =>
    build.deleteFrom('deliveries').where('id', '=', argument.id),
  );
  const postpone = prepared<
    { id: number; attempts: number; dueAt: number; failedAt: number | null },
    unknown
  >(argument =>
    build
      .updateTable('deliveries')
      .set({
        attempts: argument.attempts,
        due_at: argument.dueAt,
        claimed_until: 0,
        failed_at: argument.failedAt,
      })
      .where('id', '=', argument.id),
  );
  return { look, next, hold, remove, postpone };
}
