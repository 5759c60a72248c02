/** Group commit on SQLite's one writer: many transactions, one fsync, durability unchanged. */
import { SQLiteError } from 'bun:sqlite';
import type { Bulk } from './bulk.ts';
import { StorageError, type Transaction } from './database.ts';
import type { Checkpoints } from './sqlite-checkpoint.ts';
import { type Connected, translate } from './sqlite-connection.ts';
import { type Addition, writeAdditions } from './tally.ts';

const groupSize = 256;
const busyRetryMs = 5;
const busyLimitMs = 10_000;

interface Job {
  readonly work: (session: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Runs transactions one after another on one connection. Those that wait while one group commits form the
 * next group: each has its own savepoint, so a failed one is undone alone, and all share one COMMIT.
 */
export function groupCommit(writer: Connected, checkpoint: Checkpoints, committed: () => void) {
  const waiting: Job[] = [];
  let draining = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, groupSize);
      try {
        await checkpoint.before();
        await begin(writer);
        const settle = await runGroup(writer, group);
        writer.execute('COMMIT');
        committed();
        for (const resolve of settle) resolve();
        checkpoint.after();
      } catch (error) {
        if (writer.connection.inTransaction) writer.execute('ROLLBACK');
        for (const job of group) job.reject(translate(error));
      }
    }
    draining = false;
  }

  return <T>(work: (session: Transaction) => Promise<T>): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // Boundary: the queue forgets each job's result type; the promise above still knows it.
    waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
    if (!draining) {
      draining = true;
      // One turn of the event loop: requests that arrived together are committed together.
      setImmediate(drain);
    }
    return promise;
  };
}

/** What a job that has done its work leaves for its group. */
interface Done {
  readonly settle: () => void;
  readonly additions: readonly Addition[];
  readonly late: readonly Late[];
}

/** A row for the end of the group. */
interface Late {
  readonly statement: Bulk;
  readonly row: readonly unknown[];
}

/**
 * Runs each job in a savepoint, and then what they have left for the end: a savepoint would make the search
 * index write each document by itself. Gives the resolutions to call once the group is durable.
 */
async function runGroup(writer: Connected, group: readonly Job[]): Promise<(() => void)[]> {
  const settle: (() => void)[] = [];
  const additions: Addition[] = [];
  const late: Late[] = [];
  const keep = (done: Done) => {
    settle.push(done.settle);
    for (const row of done.late) late.push(row);
    for (const addition of done.additions) additions.push(addition);
  };
  const [only] = group;
  // Alone, a job is undone with its transaction; a savepoint would only make long ones slower.
  if (group.length === 1 && only !== undefined) keep(await runJob(writer, only));
  else {
    for (const job of group) {
      writer.execute('SAVEPOINT job');
      try {
        keep(await runJob(writer, job));
      } catch (error) {
        // A full disk may have rolled the whole transaction back: then no job of the group can succeed.
        if (!writer.connection.inTransaction) throw error;
        writer.execute('ROLLBACK TO job');
        settle.push(() => job.reject(error));
      }
      writer.execute('RELEASE job');
    }
  }
  await writeLate(writer, late);
  await writeAdditions(writer.session, additions);
  return settle;
}

/** Rows of one statement that follow each other are written together; their order is kept. */
async function writeLate({ session }: Connected, late: readonly Late[]): Promise<void> {
  for (let start = 0; start < late.length; ) {
    const statement = late[start]?.statement;
    let end = start + 1;
    while (late[end]?.statement === statement && end < late.length) end++;
    const rows = late.slice(start, end).map(({ row }) => row);
    for (const query of statement?.statements(rows) ?? []) await session.run(query);
    start = end;
  }
}

async function runJob(writer: Connected, job: Job): Promise<Done> {
  const additions: Addition[] = [];
  const late: Late[] = [];
  let open = true;
  try {
    const value = await job.work(transaction(writer, { additions, late }, () => open));
    return { settle: () => job.resolve(value), additions, late };
  } finally {
    open = false;
  }
}

/** The writer's session for one job, refusing to work once the job has ended. */
function transaction(
  writer: Connected,
  left: { readonly additions: Addition[]; readonly late: Late[] },
  isOpen: () => boolean,
): Transaction {
  const { session } = writer;
  const check = () => {
    if (!isOpen()) throw new Error('A session was used after its transaction had ended.');
  };
  return {
    async all(query) {
      check();
      return session.all(query);
    },
    async first(query) {
      check();
      return session.first(query);
    },
    async run(query) {
      check();
      return session.run(query);
    },
    async insert(query) {
      check();
      return writer.insert(query);
    },
    async insertMany(query, count) {
      check();
      // One statement of the only writer gives ids one after another, and the last row's is told.
      const last = writer.insert(query);
      return Array.from({ length: count }, (_, index) => last - count + 1 + index);
    },
    add(counter, amount) {
      check();
      left.additions.push({ counter, amount });
    },
    async runLate(statement, row) {
      check();
      left.late.push({ statement, row });
    },
  };
}

async function begin(writer: Connected): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      writer.execute('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      const busy = error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY') === true;
      if (!busy) throw error;
      if (performance.now() - start > busyLimitMs) {
        throw new StorageError('unavailable', 'Another process has held the database for too long.', {
          cause: error,
        });
      }
      await Bun.sleep(busyRetryMs);
    }
  }
}
