/** Group commit on SQLite's one writer: many transactions, one flush of the log, durability unchanged. */
import { SQLiteError } from 'bun:sqlite';
import type { Bulk } from '../bulk.ts';
import { type Session, StorageError, type Transaction } from '../database.ts';
import {
  createGroupQueue,
  createLeftovers,
  type Job,
  type Leftovers,
  leaveItem,
  runEndings,
  settle,
  type WriteRows,
  writeDeferredRows,
  writeIncrements,
} from '../transactions.ts';
import type { Connected } from './connected.ts';
import { translate } from './connection.ts';
import type { Place } from './files/identity.ts';
import type { Checkpoints } from './threads/checkpoint.ts';
import type { LogFlusher } from './threads/flush.ts';
import { wrapInSlices } from './threads/slices.ts';

const groupSize = 256;
const busyRetryMs = 5;
const busyLimitMs = 10_000;

interface GroupCommitOptions {
  readonly connected: Connected;
  readonly checkpoint: Checkpoints;
  readonly place: Place;
  /** Undefined where COMMIT flushes what it has written itself. */
  readonly flusher: LogFlusher | undefined;
  /** Called when readers can see a group; it may not be durable yet. */
  readonly committed: () => void;
}

/**
 * Runs transactions one after another on one connection. Those that come while one group commits and is flushed form
 * the next group and share one COMMIT; a failed one is undone alone.
 */
export function createGroupCommit({ connected, checkpoint, place, flusher, committed }: GroupCommitOptions) {
  const session = wrapInSlices(connected.session);
  const writer = { ...connected, session };

  async function commitGroup(group: readonly Job[]): Promise<void> {
    await checkpoint.before();
    const results = await runGroup(writer, group);
    place.check();
    // Without a log, SQLite writes to the file only when it has no readers.
    await runWhenFree(writer, 'COMMIT');
    committed();
    // Those that have only read wait too: they may have read what an earlier group could not make durable.
    await flusher?.flush();
    for (const result of results) result.settle();
    checkpoint.after();
  }

  async function run(group: readonly Job[]): Promise<void> {
    try {
      await commitGroup(group);
    } catch (error) {
      const failure = translate(error, connected.connection.filename);
      for (const job of group) job.reject(failure);
      // Where this fails, the transaction is still open: the next group cannot begin one, and comes here again.
      if (writer.connection.inTransaction) writer.execute('ROLLBACK');
    }
  }

  return createGroupQueue(groupSize, run, session.begin);
}

/** What a job that has ended leaves for its group. */
interface Done {
  readonly settle: () => void;
  readonly left: Leftovers;
}

/** What a job leaves while it works. */
interface Left extends Leftovers {
  /** Whether a statement of its own has changed, or may have changed, anything. */
  hasWritten: boolean;
}

const createLeft = (): Left => ({ ...createLeftovers(), hasWritten: false });

/**
 * Runs the jobs, and then what they have left for the end: so the search index writes all documents at once.
 * They are to be settled once the group is durable.
 */
async function runGroup(writer: Connected, group: readonly Job[]): Promise<readonly Done[]> {
  await runWhenFree(writer, 'BEGIN IMMEDIATE');
  let results = await runTogether(writer, group);
  if (results === undefined) {
    writer.execute('ROLLBACK');
    await runWhenFree(writer, 'BEGIN IMMEDIATE');
    results = await runApart(writer, group);
  }
  const all = results.map(({ left }) => left);
  const write: WriteRows = async parts => {
    for (const { statement, rows } of parts) await writeMany(writer.session, statement, rows);
  };
  await writeDeferredRows(
    all.flatMap(({ deferred }) => deferred),
    write,
  );
  await runEndings(
    writer.session,
    all.map(({ items }) => items),
  );
  await writeIncrements(
    all.flatMap(({ increments }) => increments),
    write,
  );
  return results;
}

/**
 * Without savepoints, which would copy each page that a job changes. Gives undefined when a job has failed that
 * had written something: only a savepoint could have undone it alone.
 */
async function runTogether(writer: Connected, group: readonly Job[]): Promise<Done[] | undefined> {
  const results: Done[] = [];
  for (const job of group) {
    const left = createLeft();
    try {
      results.push(await runJob(writer, job, left));
    } catch (error) {
      if (group.length === 1 || !writer.connection.inTransaction) throw error;
      if (left.hasWritten) return undefined;
      results.push(toFailed(job, error));
    }
  }
  return results;
}

/** Each job in a savepoint of its own. */
async function runApart(writer: Connected, group: readonly Job[]): Promise<Done[]> {
  const results: Done[] = [];
  for (const job of group) {
    writer.execute('SAVEPOINT job');
    try {
      results.push(await runJob(writer, job, createLeft()));
    } catch (error) {
      // A full disk may have rolled the whole transaction back: then no job of the group can succeed.
      if (!writer.connection.inTransaction) throw error;
      writer.execute('ROLLBACK TO job');
      results.push(toFailed(job, error));
    }
    writer.execute('RELEASE job');
  }
  return results;
}

const toFailed = (job: Job, error: unknown): Done => ({
  settle: () => job.reject(error),
  left: createLeftovers(),
});

async function runJob(writer: Connected, job: Job, left: Left): Promise<Done> {
  let open = true;
  try {
    const value = await job.work(createTransaction(writer, left, () => open));
    return { settle: () => settle(job, value, left), left };
  } finally {
    open = false;
  }
}

/** The writer's session for one job, refusing to work once the job has ended. */
function createTransaction(writer: Connected, left: Left, isOpen: () => boolean): Transaction {
  const { session } = writer;
  const check = () => {
    if (!isOpen()) throw new Error('A session was used after its transaction had ended.');
  };
  return {
    async all(query) {
      check();
      const rows = await session.all(query);
      left.hasWritten ||= !isRead(query.sql);
      return rows;
    },
    async first(query) {
      check();
      const row = await session.first(query);
      left.hasWritten ||= !isRead(query.sql);
      return row;
    },
    async pick(lookup, key) {
      check();
      return session.first(lookup.statement([key]));
    },
    // What fails has changed nothing: SQLite undoes a statement that it cannot complete.
    async run(query) {
      check();
      const changed = await session.run(query);
      left.hasWritten = true;
      return changed;
    },
    async insert(query) {
      check();
      const id = writer.insert(query);
      left.hasWritten = true;
      return id;
    },
    async insertMany(into, rows) {
      check();
      const ids: number[] = [];
      for (const query of into.statements(rows)) {
        // One statement of the only writer gives ids one after another, and SQLite reports that of the last row.
        const last = writer.insert(query);
        left.hasWritten = true;
        const count = query.parameters.length / into.columns.length;
        for (let id = last - count + 1; id <= last; id++) ids.push(id);
      }
      return ids;
    },
    async writeMany(statement, rows) {
      check();
      left.hasWritten = true;
      await writeMany(session, statement, rows);
    },
    increment(counter, amount) {
      check();
      left.increments.push({ counter, amount });
    },
    writeDeferred(statement, rows) {
      check();
      left.deferred.push({ statement, rows });
    },
    atEnd(ending, item) {
      check();
      leaveItem(left.items, ending, item);
    },
    onCommit(effect) {
      check();
      left.effects.push(effect);
    },
  };
}

async function writeMany(
  session: Session,
  statement: Bulk,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  for (const query of statement.statements(rows)) await session.run(query);
}

/** Whether a statement that gives rows changes none; an INSERT … RETURNING does. */
const isRead = (text: string): boolean => text.startsWith('select');

/** Runs a statement that other processes may be in the way of, again and again until it succeeds. */
async function runWhenFree(writer: Connected, statement: 'BEGIN IMMEDIATE' | 'COMMIT'): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      writer.execute(statement);
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
