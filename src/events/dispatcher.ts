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
      /** Speaks to the world outside. */
      readonly kind: 'external';
      /** How many deliveries, of different keys, a replica makes at once; 1 when not given. */
      readonly parallel?: number;
      /** @param signal aborts when the claim is about to end, or the service stops: drop the connection then */
      deliver(payload: string, signal: AbortSignal): Promise<void>;
      /** Runs once, in the transaction that removes the delivery after it has been made. */
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
  /** Finishes what is under way and takes up nothing more; what takes longer than this is aborted and stays queued. */
  stop(graceMs: number): Promise<void>;
}

export interface DispatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly consumers: readonly Consumer[];
}

/** How long a replica has an external delivery to itself: after this it is taken for dead. */
const claimMs = 30_000;
/** What one attempt may take: it must be over before another replica begins its own. */
const attemptMs = 20_000;
/** What other processes have queued, and what has become due again, is found within this. */
const pollMs = 1000;
const longestPauseMs = 60 * 60 * 1000;
/** About five days, as long as mail is to be tried (RFC 5321 §4.5.4.1). */
const attemptsLimit = 130;

interface Claimed {
  readonly id: number;
  readonly payload: string;
  readonly attempts: number;
  readonly claimed_until: number;
}

export function createDispatcher({ database, clock, log, consumers }: DispatcherOptions): Dispatcher {
  const queries = deliveryQueries(database);
  const attemptsUnderWay = new Set<AbortController>();
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
      if (found === undefined) return undefined;
      const until = clock.now() + claimMs;
      await session.run(queries.hold({ id: found.id, until }));
      return { ...found, claimed_until: until };
    });
    if (claimed === undefined) return false;
    try {
      await withinTime(signal => consumer.deliver(claimed.payload, signal));
    } catch (error) {
      await postpone(consumer.queue, claimed, error);
      return true;
    }
    await database.write(async session => {
      // Nothing to remove: it took longer than the claim, and another replica has made it as well.
      if ((await session.run(queries.remove({ id: claimed.id }))) === 0) return;
      await consumer.delivered?.(session, claimed.payload);
    });
    return true;
  }

  async function withinTime(attempt: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new Error('the attempt took too long')), attemptMs);
    attemptsUnderWay.add(controller);
    try {
      await attempt(controller.signal);
    } finally {
      clearTimeout(timer);
      attemptsUnderWay.delete(controller);
    }
  }

  function abortAll(): void {
    for (const controller of attemptsUnderWay) controller.abort(new Error('the service stops'));
  }

  async function postpone(queue: string, delivery: Claimed, error: unknown): Promise<void> {
    const { id, attempts, claimed_until: claimedUntil } = delivery;
    const failures = attempts + 1;
    const final = error instanceof PermanentFailure || failures >= attemptsLimit;
    const dueAt = clock.now() + Math.min(1000 * 2 ** attempts, longestPauseMs);
    const failedAt = final ? clock.now() : null;
    const held = await database.write(session =>
      session.run(queries.postpone({ id, attempts: failures, dueAt, failedAt, claimedUntil })),
    );
    // The claim has gone to another replica: whatever comes of that one counts.
    if (held === 0) return;
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

  const workers = consumers.flatMap(consumer => {
    const parallel = consumer.kind === 'external' ? (consumer.parallel ?? 1) : 1;
    return Array.from({ length: parallel }, () => consumer);
  });

  /** One round at a time; whoever asks during a round, or has delivered in it, gets another one after it. */
  function run(): Promise<void> {
    again = true;
    running ??= (async () => {
      while (again && !stopped) {
        again = false;
        const delivered = await Promise.all(workers.map(drain));
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
    async stop(graceMs) {
      stopped = true;
      clearInterval(poll);
      const grace = setTimeout(abortAll, graceMs);
      await running;
      clearTimeout(grace);
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
      sql<Claimed>`select id, payload, attempts, claimed_until from deliveries where ${due(argument)}
        order by id limit 1 ${dialect.skipLocked}`.compile(build),
  }));
  const hold = prepared<{ id: number; until: number }, unknown>(argument =>
    build.updateTable('deliveries').set({ claimed_until: argument.until }).where('id', '=', argument.id),
  );
  const remove = prepared<{ id: number }, unknown>(argument =>
    build.deleteFrom('deliveries').where('id', '=', argument.id),
  );
  const postpone = prepared<
    { id: number; attempts: number; dueAt: number; failedAt: number | null; claimedUntil: number },
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
      .where('id', '=', argument.id)
      .where('claimed_until', '=', argument.claimedUntil),
  );
  return { look, next, hold, remove, postpone };
}
