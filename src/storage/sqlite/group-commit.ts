/** Group commit on SQLite's one writer: many transactions, one flush of the log, durability unchanged. */
import { SQLiteError } from 'bun:sqlite';
import { takeTurn } from '../../turns/index.ts';
import { wrapInSlices } from '../../turns/session.ts';
import { StorageError } from '../database.ts';
import {
  arrangeDeferredRows,
  arrangeIncrements,
  createGroupQueue,
  createLeftovers,
  type Deferred,
  type Job,
  type Leftovers,
  resolveJob,
  runEndings,
} from '../transactions.ts';
import type { Connected } from './connected.ts';
import { translate } from './connection.ts';
import type { FileIdentity } from './files/identity.ts';
import { createMerging } from './merging.ts';
import type { Checkpoints } from './threads/checkpoint.ts';
import type { LogFlusher } from './threads/flush.ts';
import {
  createLeft,
  createTransaction,
  LaterGroup,
  type Left,
  type Writer,
  writeMany,
} from './transaction.ts';

const groupSize = 256;
/** Bytes after which a group takes no more transactions: COMMIT writes what SQLite has in memory on the event loop. */
const maxGroupBytes = 2_000_000;
const busyRetryMs = 5;

interface GroupCommitOptions {
  readonly connected: Connected;
  /** Seconds that it waits for other processes that write. */
  readonly patience: number;
  readonly mergesPieces: (() => boolean) | undefined;
  readonly checkpoint: Checkpoints;
  readonly identity: FileIdentity;
  readonly flusher: LogFlusher;
  /** Called when a group is visible to readers, before it is durable. */
  readonly committed: () => void;
}

/**
 * Runs transactions one after another on one connection. Those that arrive while a group is committed and flushed form
 * the next group, and share one COMMIT. A transaction that fails is undone alone.
 */
export function createGroupCommit(options: GroupCommitOptions) {
  const { connected, patience, mergesPieces, checkpoint, identity, flusher, committed } = options;
  const session = wrapInSlices(connected.session);
  const writer: Writer = { ...connected, session, merging: createMerging(session, mergesPieces), patience };

  /** @returns the jobs that are left for the next group */
  async function commitGroup(group: readonly Job[]): Promise<readonly Job[]> {
    // Once a flush has failed, nothing may be written: it would be visible although its writer gets an error.
    flusher.check();
    await checkpoint.before();
    const results = await runGroup(writer, group);
    identity.check();
    await takeTurn();
    writer.execute('COMMIT');
    committed();
    // Jobs that only read wait too: they may have read what an earlier group failed to make durable.
    await flusher.flush();
    for (const result of results) result.settle();
    checkpoint.after();
    return group.slice(results.length);
  }

  async function run(group: readonly Job[]): Promise<readonly Job[]> {
    try {
      return await commitGroup(group);
    } catch (error) {
      const failure = translate(error, connected.connection.filename);
      for (const job of group) job.reject(failure);
      // If ROLLBACK fails, the transaction stays open; the next group then fails to begin, and tries ROLLBACK again.
      if (writer.connection.inTransaction) writer.execute('ROLLBACK');
      return [];
    }
  }

  return createGroupQueue(groupSize, run);
}

/** The result of a job that has ended, and the work that it leaves for the group. */
interface Done {
  readonly settle: () => void;
  readonly left: Leftovers;
}

/**
 * Runs the jobs, or only the first ones if these write very much or one must be separate, and then the work that they
 * leave for the end, so that the search index writes all documents at once. The caller settles the jobs once the group
 * is durable.
 */
async function runGroup(writer: Writer, group: readonly Job[]): Promise<readonly Done[]> {
  await beginWhenFree(writer);
  const results = await runJobs(writer, group);
  const all = results.map(({ left }) => left);
  const write = async (parts: readonly Deferred[]): Promise<void> => {
    for (const { statement, rows } of parts) await writeMany(writer, statement, rows);
  };
  await write(await arrangeDeferredRows(all.flatMap(({ deferred }) => deferred)));
  await runEndings(
    writer.session,
    all.map(({ items }) => items),
  );
  await writer.merging.run();
  await write(await arrangeIncrements(all.flatMap(({ increments }) => increments)));
  return results;
}

/**
 * Runs the jobs of a transaction; without savepoints first, which would copy each page that a job changes. If a job fails
 * after it has written, which only a savepoint could undo, the transaction and all jobs begin again with savepoints.
 */
async function runJobs(writer: Writer, group: readonly Job[], savepoints = false): Promise<readonly Done[]> {
  const results: Done[] = [];
  let written = 0;
  let isFull = false;
  for (const job of group) {
    if (isFull) break;
    const left = createLeft();
    if (savepoints) writer.execute('SAVEPOINT job');
    try {
      results.push(await runJob(writer, job, left, results.length === 0));
      written += left.written;
      isFull = left.isSeparate || written > maxGroupBytes;
    } catch (error) {
      // A full disk may have rolled the whole transaction back: then no job of the group can succeed.
      if (!writer.connection.inTransaction || group.length === 1) throw error;
      if (savepoints) writer.execute('ROLLBACK TO job');
      else if (left.hasWritten) {
        writer.execute('ROLLBACK');
        await beginWhenFree(writer);
        return runJobs(writer, group, true);
      }
      if (error instanceof LaterGroup) isFull = true;
      else results.push(toFailed(job, error));
    }
    if (savepoints) writer.execute('RELEASE job');
  }
  return results;
}

const toFailed = (job: Job, error: unknown): Done => ({
  settle: () => job.reject(error),
  left: createLeftovers(),
});

async function runJob(writer: Writer, job: Job, left: Left, isFirst: boolean): Promise<Done> {
  let open = true;
  try {
    const value = await job.work(createTransaction(writer, left, { isFirst, isOpen: () => open }));
    return { settle: () => resolveJob(job, value, left), left };
  } finally {
    open = false;
  }
}

/** Begins a transaction once no other process writes. @throws StorageError when patience ends */
async function beginWhenFree(writer: Writer): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      writer.execute('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      const busy = error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY') === true;
      if (!busy) throw error;
      if (performance.now() - start > writer.patience * 1000) {
        throw new StorageError(
          'unavailable',
          `Another process has been writing to the database for ${writer.patience} s.`,
          { isLocked: true, cause: error },
        );
      }
      await Bun.sleep(busyRetryMs);
    }
  }
}
