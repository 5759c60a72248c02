/**
 * The connections of a process, in parts that never wait for each other. Single reads share a few connections and are
 * pipelined on them. Each writing transaction and each snapshot has a connection to itself. One connection is reserved
 * for groups of transactions (groups.ts), and one for counting requests. So a locked row, or a stalled replica, delays
 * only writers.
 */
import { createOnce } from '../../turns/once.ts';
import { StorageError } from '../database.ts';
import type { Connection, Result } from './connection.ts';
import type { Connector, SessionLimits } from './connector.ts';

const checkEveryMs = 250;
/** Connections are closed after this long without use: a firewall or proxy may have dropped them. */
const idleLimitMs = 60_000;
/** The shares of connections for single reads and for snapshots; most of the others are for writers. */
const readShare = 0.3;
const snapshotShare = 0.2;
export const minConnections = 4;

export interface PoolOptions {
  /** Maximum number of connections; at least `minConnections`. */
  readonly size: number;
  readonly connector: Connector;
  readonly limits: Readonly<Record<'reads' | Purpose, SessionLimits>>;
  /** Milliseconds that a transaction waits for a connection. */
  readonly patience: number;
}

export type Purpose = 'writes' | 'groups' | 'snapshots' | 'checks' | 'counts';

export type PostgresPool = ReturnType<typeof openPool>;

export function openPool({ size, connector, limits, patience }: PoolOptions) {
  const shared = Math.max(1, Math.floor(size * readShare));
  const snapshots = Math.max(1, Math.floor(size * snapshotShare));
  const writing = size - shared - snapshots - 1;
  const together = Math.min(1, writing - 1);
  const all = new Set<Connection>();
  let closed = false;

  async function open(of: SessionLimits): Promise<Connection> {
    const connection = await connector.open(of);
    if (closed) {
      connection.close();
      throw new StorageError('unavailable', 'The service is stopping.');
    }
    all.add(connection);
    closeStrays();
    return connection;
  }

  /** Closes connections that still lead to the former primary after a failover. */
  function closeStrays(): void {
    for (const connection of all) if (connection.server !== connector.server()) connection.close();
  }

  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of all) {
      connection.checkLimits(now);
      if (lent.has(connection)) connection.keepAlive(now);
      if (connection.pending() > 0 || lent.has(connection)) continue;
      if (now - connection.idleSince() > idleLimitMs || !connection.isUsable()) {
        connection.close();
        all.delete(connection);
      }
    }
  }, checkEveryMs);
  timer.unref();

  const lent = new Set<Connection>();
  const reads = createSharedGroup(shared, () => open(limits.reads));
  const groups = {
    writes: createExclusiveGroup(writing - together, patience, () => open(limits.writes)),
    groups: createExclusiveGroup(together, patience, () => open(limits.groups)),
    counts: createExclusiveGroup(1, patience, () => open(limits.counts)),
    snapshots: createExclusiveGroup(snapshots, patience, () => open(limits.snapshots)),
    // Only the command that checks the database opens it.
    checks: createExclusiveGroup(1, patience, () => open(limits.checks)),
  };

  return {
    /** Whether there are enough connections to reserve one for groups of transactions. */
    hasGroups: together > 0,
    /** Runs one statement outside of a transaction. */
    query: reads.query,
    /**
     * Reserves a connection for the duration of `work`.
     * @throws StorageError `unavailable` when none becomes free in time
     */
    async use<T>(purpose: Purpose, work: (connection: Connection) => Promise<T>): Promise<T> {
      const connection = await groups[purpose].take();
      lent.add(connection);
      try {
        return await work(connection);
      } finally {
        lent.delete(connection);
        groups[purpose].giveBack(connection);
      }
    },
    /** Waits for pending work, at most for `seconds`. */
    async close(seconds: number): Promise<void> {
      closed = true;
      clearInterval(timer);
      const deadline = performance.now() + seconds * 1000;
      const isBusy = () => lent.size > 0 || [...all].some(connection => connection.pending() > 0);
      while (isBusy() && performance.now() < deadline) await Bun.sleep(10);
      for (const connection of all) connection.close();
    },
  };
}

/** Connections that any number of statements share: each statement goes to the least busy one. */
function createSharedGroup(limit: number, open: () => Promise<Connection>) {
  let connections: Connection[] = [];
  const shareOpening = createOnce<Connection>();

  const openAnother = (): Promise<Connection> =>
    shareOpening('another', async () => {
      const connection = await open();
      connections.push(connection);
      return connection;
    });

  function findLeastBusy(): Connection | undefined {
    let best: Connection | undefined;
    let lost = false;
    for (const connection of connections) {
      if (!connection.isUsable()) lost = true;
      else if (best === undefined || connection.pending() < best.pending()) best = connection;
    }
    if (lost) connections = connections.filter(connection => connection.isUsable());
    return best;
  }

  async function runOnceOpen(text: string, parameters: readonly unknown[]): Promise<Result> {
    return (await openAnother()).run(text, parameters);
  }

  return {
    query(text: string, parameters: readonly unknown[]): Promise<Result> {
      const connection = findLeastBusy();
      if (connection === undefined) return runOnceOpen(text, parameters);
      // This statement does not wait for the new connection.
      if (connection.pending() > 0 && connections.length < limit) openAnother().catch(() => undefined);
      return connection.run(text, parameters);
    },
  };
}

/** @param patience milliseconds */
export const createWaitError = (patience: number): StorageError =>
  new StorageError('unavailable', `No connection became free within ${patience / 1000} s.`);

/** A caller that waits until it gets a connection or an error, or its patience ends. */
interface Waiting {
  /** @returns false when the caller no longer waits, and does not take the connection */
  give(connection: Connection): boolean;
  fail(error: unknown): void;
}

/** Connections that are lent to one user at a time; the most recently used one is lent first. */
function createExclusiveGroup(limit: number, patience: number, open: () => Promise<Connection>) {
  const free: Connection[] = [];
  const queue = new Set<Waiting>();
  /** The number of connections that are free, lent or being opened. */
  let count = 0;

  function takeFree(): Connection | undefined {
    for (let connection = free.pop(); connection !== undefined; connection = free.pop()) {
      if (connection.isUsable()) return connection;
      count--;
    }
    return undefined;
  }

  async function openOne(): Promise<Connection> {
    count++;
    try {
      return await open();
    } catch (error) {
      count--;
      serveNext();
      throw error;
    }
  }

  /** Removes the caller that has waited longest from the queue. */
  function takeNext(): Waiting | undefined {
    const [next] = queue;
    if (next !== undefined) queue.delete(next);
    return next;
  }

  /** Opens a connection, now that there is room for one, for the caller that has waited longest. */
  function serveNext(): void {
    const next = takeNext();
    if (next === undefined) return;
    openOne().then(connection => {
      // Opening may outlast the caller's patience: then another waiting caller gets the connection, or it becomes free.
      if (!next.give(connection)) giveBack(connection);
    }, next.fail);
  }

  function wait(): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    let waits = true;
    const end = () => {
      waits = false;
      clearTimeout(timer);
      queue.delete(waiting);
    };
    const waiting: Waiting = {
      give(connection) {
        if (!waits) return false;
        end();
        resolve(connection);
        return true;
      },
      fail(error) {
        end();
        reject(error);
      },
    };
    const timer = setTimeout(() => waiting.fail(createWaitError(patience)), patience);
    queue.add(waiting);
    return promise;
  }

  function giveBack(connection: Connection): void {
    if (!connection.isUsable()) {
      count--;
      serveNext();
      return;
    }
    // Callers in the queue are still waiting.
    if (takeNext()?.give(connection) !== true) free.push(connection);
  }

  return {
    take(): Promise<Connection> {
      const connection = takeFree();
      if (connection !== undefined) return Promise.resolve(connection);
      return count < limit ? openOne() : wait();
    },
    giveBack,
  };
}
