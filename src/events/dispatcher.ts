/**
 * Delivers queued work: at least once, in order for each key, by the first replica to take it. A failed delivery is
 * retried, later each time; later deliveries with the same key wait for it.
 */
import { describeError, type Log } from '../operations/log.ts';
import { type Clock, hourMs } from '../ports/clock.ts';
import { type Database, type Session, StorageError, type Transaction } from '../storage/database.ts';
import { claimMs, createAttempts, defaultAttemptMs, defaultSlowMs } from './attempts.ts';
import { type Backlog, type Claimed, createDeliveries } from './deliveries.ts';

/** Does the work of one queue. Throwing PermanentFailure gives a delivery up; any other error postpones it. */
export type Consumer = { readonly queue: string } & (
  | {
      /** Writes to this database only, in the transaction that removes the delivery, so exactly once. */
      readonly kind: 'internal';
      deliver(session: Transaction, payload: string): Promise<void>;
    }
  | {
      /** Communicates with external systems. */
      readonly kind: 'external';
      /** Time limit of one attempt, in milliseconds; 20 seconds by default. */
      readonly attemptMs?: number;
      /** @param signal aborts when that time is up, or when the service stops; drop the connection then */
      deliver(payload: string, signal: AbortSignal): Promise<void>;
      /** Whether deliveries may be queued for any future time. */
      readonly isPlanned?: boolean;
      /** Runs in the transaction that removes a completed delivery: exactly once. */
      delivered?(session: Transaction, payload: string): Promise<void>;
    }
);

type External = Extract<Consumer, { kind: 'external' }>;

/** A delivery that can never succeed, such as mail to an address that does not exist. */
export class PermanentFailure extends Error {}

export interface Dispatcher {
  /** Polls for work soon; costs nothing while a poll is under way. */
  wake(): void;
  /** Resolves when nothing more is due. */
  settle(): Promise<void>;
  /** Finishes deliveries under way and starts no others; those that outlast `graceMs` are aborted and stay queued. */
  stop(graceMs?: number): Promise<void>;
  /** The counters of this process, for each queue. */
  numbers(): Iterable<QueueNumbers>;
  /** The backlog of all processes; undefined if the database cannot be reached. */
  backlog(): Promise<readonly Backlog[] | undefined>;
}

export interface QueueNumbers {
  readonly queue: string;
  delivered: number;
  failed: number;
}

export interface DispatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly consumers: readonly Consumer[];
  /** The longest time before work is noticed that another process queued or that has become due again. */
  readonly pollMs?: number;
  /** The time after which an external delivery no longer holds up others in its queue. */
  readonly slowMs?: number;
}

interface Lane {
  /** Called when something is due. */
  onFound(): void;
  /** Called when the lane's delivery takes long. */
  onSlow(): void;
}

interface Lanes {
  /** Makes another lane poll the queue or, if no more may open, makes the open lanes poll once more. */
  wake(): void;
  /** The open lanes. */
  readonly underWay: ReadonlySet<Promise<void>>;
}

const defaultPollMs = 1000;
export const maxPauseMs = hourMs;
/** About five days, as RFC 5321 §4.5.4.1 recommends for mail. */
export const attemptsLimit = 130;
/** External deliveries under way at once per queue: one slow receiver must not hold up the others. */
const lanes = 4;
/** Additional lanes for slow deliveries, which also bounds the connections to a slow receiver. */
const slowLanes = 12;

function createCounters(consumers: readonly Consumer[]) {
  const numbers = new Map<string, QueueNumbers>(
    consumers.map(({ queue }) => [queue, { queue, delivered: 0, failed: 0 }]),
  );
  const count = (queue: string, what: 'delivered' | 'failed') => {
    const known = numbers.get(queue);
    if (known !== undefined) known[what]++;
  };
  return { numbers, count };
}

/**
 * A database that cannot be used holds up all deliveries; data that the disk has corrupted, and rows that another
 * transaction holds for long, only those that need them.
 */
const isOwnFault = (error: unknown): boolean =>
  !(error instanceof StorageError) || error.isLocked || error.kind === 'unique' || error.kind === 'damaged';

/** Logs each change of state once: otherwise every poll would log it. */
function createStateLog(log: Log) {
  const unreached = new Set<string>();
  return {
    noteUnreached(queue: string, error: unknown): void {
      if (!unreached.has(queue))
        log.warn('deliveries are paused: the database cannot be used', { queue, ...describeError(error) });
      unreached.add(queue);
    },
    noteReached(queue: string): void {
      if (unreached.delete(queue)) log.info('deliveries resumed', { queue });
    },
  };
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { database, clock, log, consumers } = options;
  const stored = createDeliveries(database);
  const { numbers, count } = createCounters(consumers);
  let stopped = false;
  const { noteReached, noteUnreached } = createStateLog(log);
  const outside = createAttempts(stored, { database, clock, slowMs: options.slowMs ?? defaultSlowMs });

  /** The next delivery; none once the dispatcher stops, even if it was stopped during the search. */
  async function take(session: Session, queue: string): Promise<Claimed | undefined> {
    const found = stopped ? undefined : await stored.next(session, queue, clock.now());
    return stopped ? undefined : found;
  }

  /** @returns whether there was anything to deliver */
  async function deliverNext(consumer: Consumer, { onFound, onSlow }: Lane): Promise<boolean> {
    // Most polls find nothing: they must not wait for the writer.
    if (!(await stored.isDue(database.read, consumer.queue, clock.now()))) return false;
    onFound();
    return consumer.kind === 'internal' ? deliverInside(consumer) : deliverOutside(consumer, onSlow);
  }

  async function deliverInside(consumer: Consumer & { kind: 'internal' }): Promise<boolean> {
    let claimed: Claimed | undefined;
    try {
      await database.write(async session => {
        claimed = await take(session, consumer.queue);
        if (claimed === undefined) return;
        await consumer.deliver(session, claimed.payload);
        await stored.remove(session, claimed);
      });
    } catch (error) {
      if (claimed === undefined || !isOwnFault(error)) throw error;
      await postpone(consumer.queue, claimed, error);
      return true;
    }
    if (claimed !== undefined) count(consumer.queue, 'delivered');
    return claimed !== undefined;
  }

  async function deliverOutside(consumer: External, onSlow: () => void): Promise<boolean> {
    const { attemptMs } = consumer;
    const found = await database.write(async session => {
      const next = await take(session, consumer.queue);
      return next && stored.renew(session, next, clock.now() + claimMs);
    });
    if (found === undefined) return false;
    const deliver = async (signal: AbortSignal) => consumer.deliver(found.payload, signal);
    const { claimed, outcome } = await outside.make({ claimed: found, attemptMs, onSlow, deliver });
    if (outcome.status === 'rejected') {
      await postpone(consumer.queue, claimed, outcome.reason);
      return true;
    }
    try {
      await database.write(async session => {
        // If another process has taken the delivery over, it delivers once more and runs `delivered` then.
        if (await stored.remove(session, claimed)) await consumer.delivered?.(session, claimed.payload);
      });
      count(consumer.queue, 'delivered');
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      await postpone(consumer.queue, claimed, error);
    }
    return true;
  }

  async function postpone(queue: string, claimed: Claimed, error: unknown): Promise<void> {
    count(queue, 'failed');
    const attempts = claimed.attempts + 1;
    const final = error instanceof PermanentFailure || attempts >= attemptsLimit;
    const dueAt = clock.now() + Math.min(1000 * 2 ** claimed.attempts, maxPauseMs);
    const failedAt = final ? clock.now() : null;
    const mine = await database.write(session =>
      stored.postpone(session, claimed, { attempts, dueAt, failedAt }),
    );
    const what = { queue, delivery: claimed.id, attempts, ...describeError(error) };
    if (!mine) log.warn('delivery failed; another process has taken it over', what);
    else if (final) log.error('delivery given up', what);
    else {
      const retryAt = new Date(dueAt).toISOString();
      log.warn('delivery failed; it will be retried', { ...what, retryAt });
    }
  }

  /**
   * The lanes of one queue. Each takes one delivery after another as long as anything is due. A lane that finds a
   * delivery opens another lane, so that a long delivery holds up only its own lane. Lanes with a very slow delivery do
   * not count.
   */
  function createLanes(consumer: Consumer): Lanes {
    const most = consumer.kind === 'internal' ? 1 : lanes;
    const underWay = new Set<Promise<void>>();
    let open = 0;
    let slow = 0;
    let wakes = 0;
    const countAllowed = () => (stopped ? 0 : most + Math.min(slow, slowLanes));

    function wake(): void {
      wakes++;
      if (open >= countAllowed()) return;
      open++;
      const lane = run().finally(() => underWay.delete(lane));
      underWay.add(lane);
    }

    /** Makes one delivery. @returns whether there was one */
    async function step(): Promise<boolean> {
      let isSlow = false;
      const onSlow = () => {
        isSlow = true;
        slow++;
        wake();
      };
      try {
        return await deliverNext(consumer, { onFound: wake, onSlow });
      } finally {
        if (isSlow) slow--;
      }
    }

    async function run(): Promise<void> {
      let any = false;
      try {
        // When a slow delivery ends, more lanes may be open than allowed.
        for (let seen = -1; seen !== wakes && open <= countAllowed(); ) {
          seen = wakes;
          while (open <= countAllowed() && (await step())) any = true;
        }
        // Nothing may be awaited between reading `wakes` and this, or a wake could be lost.
        open--;
        noteReached(consumer.queue);
      } catch (error) {
        open--;
        noteUnreached(consumer.queue, error);
      }
      // A delivery in one queue may have added work to another.
      if (any) wakeAll();
    }

    return { wake, underWay };
  }

  const queues = consumers.map(createLanes);

  function wakeAll(): void {
    for (const queue of queues) queue.wake();
  }

  /** Resolves when no lane is open. */
  async function waitUntilIdle(): Promise<void> {
    for (;;) {
      const busy = queues.flatMap(({ underWay }) => [...underWay]);
      if (busy.length === 0) return;
      await Promise.all(busy);
    }
  }

  const poll = setInterval(wakeAll, options.pollMs ?? defaultPollMs);
  // The server keeps the process alive; queued work can wait for the next start.
  poll.unref();
  return {
    wake: wakeAll,
    settle() {
      wakeAll();
      return waitUntilIdle();
    },
    async stop(graceMs = defaultAttemptMs) {
      stopped = true;
      clearInterval(poll);
      const grace = setTimeout(outside.abortAll, graceMs);
      await waitUntilIdle();
      clearTimeout(grace);
    },
    numbers: () => numbers.values(),
    backlog: () => stored.backlog(database.read).catch(() => undefined),
  };
}
