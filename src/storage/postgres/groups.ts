/**
 * Groups of transactions that run as one (docs/decisions/0024). Those that wait while a group runs form the next group.
 * Their statements are sent as they come, so that a group costs as many round trips as one transaction, and the work
 * that they leave for the end is written together. If one of them fails after it has written, or has to wait for a lock
 * for too long, the whole group is undone; then each runs apart, in a separate transaction.
 */
import type { CompiledQuery } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import { createOnce } from '../../turns/once.ts';
import { StorageError, type Transaction } from '../database.ts';
import { createGroupQueue, createLeftovers, type Job, type Leftovers, resolveJob } from '../transactions.ts';
import { type CopySession, mayBeCopied } from './bulk/copy.ts';
import { isLockTimeout, isLost } from './errors.ts';
import { createWaitError } from './pool.ts';
import { createStatementGatherer } from './together.ts';
import { addReturningId, createTransaction, writeLeftovers } from './transaction.ts';

/** Limited so that a group does not delay the next one for long. */
const groupSize = 128;

export interface GroupOptions {
  /** Runs one transaction for a group. @throws `CommitUnknown`; any other error means that nothing was committed */
  runTogether(work: (session: CopySession) => Promise<void>): Promise<void>;
  /** Runs one job in a separate transaction, which waits for locks and is run again like any other. */
  runApart<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /** Milliseconds that `runApart` waits for a lock. */
  readonly lockTimeout: number;
  /** Milliseconds after which jobs are not run again when the connection was lost. */
  readonly againWithin: number;
  /** Milliseconds that a job waits for the groups before it. */
  readonly patience: number;
}

/** It is not known whether a transaction was committed. Its cause says why. */
export class CommitUnknown extends Error {}

export function createTransactionGroups(options: GroupOptions) {
  const { runTogether, runApart, lockTimeout, againWithin, patience } = options;
  /** By what jobs that run apart touch: the end of the last such job, with its error if it failed. */
  const apart = new Map<string, Promise<unknown>>();

  async function run(jobs: readonly Job[]): Promise<readonly Job[]> {
    // A job that runs apart may be waiting for a lock; in a group, a job that touches the same would make all wait.
    const taken = Object.groupBy(jobs, ({ touches, since }) =>
      hasPassed(patience, since) ? 'late' : touches.some(name => apart.has(name)) ? 'apart' : 'group',
    );
    for (const job of taken.late ?? []) job.reject(createWaitError(patience));
    for (const job of taken.apart ?? []) leaveApart(job);
    const group = taken.group ?? [];
    // All processes use the same order, so that their groups do not deadlock.
    group.sort((a, b) => compare(a.touches[0] ?? '', b.touches[0] ?? ''));
    if (group.length > 0) for (const job of await runGroup(group)) leaveApart(job);
    return [];
  }

  /** Settles the jobs, except those that it returns, which must run apart. */
  async function runGroup(group: readonly Job[]): Promise<readonly Job[]> {
    let outcomes: readonly Outcome[] = [];
    const start = performance.now();
    try {
      await runTogether(async session => {
        outcomes = await runInterleaved(session, group);
        const done = outcomes.flatMap(outcome => (outcome.kind === 'done' ? [outcome.left] : []));
        await writeLeftovers(session, done);
      });
    } catch (error) {
      const isUnknown = error instanceof CommitUnknown;
      if (!isUnknown && !(isLost(error) && hasPassed(againWithin, start))) return group;
      for (const job of group) job.reject(isUnknown ? error.cause : error);
      return [];
    }
    for (const outcome of outcomes) if (outcome.kind !== 'apart') outcome.settle();
    return outcomes.flatMap(outcome => (outcome.kind === 'apart' ? [outcome.job] : []));
  }

  /** Jobs that touch the same thing run one after another, so that a row that stays locked occupies one connection. */
  function leaveApart(job: Job): void {
    const before = job.touches.flatMap(name => apart.get(name) ?? []);
    const ended = endApart(job, before).finally(() => {
      for (const name of job.touches) if (apart.get(name) === ended) apart.delete(name);
    });
    for (const name of job.touches) apart.set(name, ended);
  }

  async function endApart(
    { work, resolve, reject }: Job,
    before: readonly Promise<unknown>[],
  ): Promise<unknown> {
    const start = performance.now();
    const failures = await Promise.all(before);
    // The job has waited for the same lock, or for the same lost server, for as long as it may.
    const failure =
      (hasPassed(lockTimeout, start) ? failures.find(isLockTimeout) : undefined) ??
      (hasPassed(againWithin, start) ? failures.find(isLost) : undefined);
    try {
      if (failure !== undefined) throw failure;
      resolve(await runApart(work));
      return undefined;
    } catch (error) {
      reject(error);
      return error;
    }
  }

  return createGroupQueue(groupSize, run);
}

type Outcome =
  | { readonly kind: 'done'; readonly left: Leftovers; settle(): void }
  | { readonly kind: 'failed'; settle(): void }
  | { readonly kind: 'apart'; readonly job: Job };

/** Runs jobs that touch the same thing one after another, others concurrently. @throws if the transaction failed */
async function runInterleaved(inner: CopySession, group: readonly Job[]): Promise<readonly Outcome[]> {
  const shared = createSharedSession(inner);
  const last = new Map<string, Promise<unknown>>();
  const outcomes = await Promise.all(
    group.map(job => {
      const before = job.touches.flatMap(name => last.get(name) ?? []);
      const outcome = before.length === 0 ? runJob(job) : Promise.all(before).then(() => runJob(job));
      for (const name of job.touches) last.set(name, outcome);
      return outcome;
    }),
  );
  shared.end();
  return outcomes;

  async function runJob(job: Job): Promise<Outcome> {
    const left = createLeftovers();
    const own = shared.own(left);
    try {
      const value = await job.work(own.session);
      return { kind: 'done', left, settle: () => resolveJob(job, value, left) };
    } catch (error) {
      if (own.hasWritten()) shared.fail(error);
      return own.hasConflict() ? { kind: 'apart', job } : { kind: 'failed', settle: () => job.reject(error) };
    }
  }
}

/**
 * A session that many jobs use. A statement that fails ends the transaction for all of them. What several jobs read at
 * the same time is read once, such as the row of their caller, categories or attributes; a shared lock is taken once.
 */
function createSharedSession(inner: CopySession) {
  const shareRun = createOnce<unknown>();
  function readTogether<Row>(query: CompiledQuery<Row>): Promise<Row[]> {
    if (!query.sql.startsWith('select') || query.sql.endsWith('for update')) return inner.all(query);
    const key = `${query.sql} ${JSON.stringify(query.parameters)}`;
    // Boundary: the same statement returns rows of the same type.
    return shareRun(key, () => inner.all(query)) as Promise<Row[]>;
  }
  const together = createStatementGatherer(inner);
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
  };
  async function runGuarded<T>(statement: () => Promise<T>): Promise<T> {
    if (failure !== undefined) throw failure.error;
    try {
      return await statement();
    } catch (error) {
      fail(error);
      throw error;
    }
  }
  // Jobs that wait for the same result would otherwise all continue in one turn of the event loop.
  async function passOn<T>(result: Promise<T>): Promise<T> {
    const value = await result;
    await takeTurn();
    return value;
  }
  const sendStatement = <T>(statement: () => Promise<T>): Promise<T> =>
    runGuarded(() => together.whileSent(passOn(statement())));

  return {
    fail,
    /** @throws the error that ended the transaction, if one did */
    end(): void {
      if (failure !== undefined) throw failure.error;
      fail(new Error('A session was used after its transaction had ended.'));
    },
    /** The session of one job. */
    own(left: Leftovers) {
      let [written, hasConflicted] = [false, false];
      const sendAndNote = <T>(query: CompiledQuery<unknown>, statement: () => Promise<T>): Promise<T> => {
        written ||= !query.sql.startsWith('select');
        return sendStatement(statement);
      };
      const alone = createTransaction(
        {
          all: query => sendAndNote(query, () => readTogether(query)),
          first: async query => (await sendAndNote(query, () => readTogether(query)))[0],
          run: query => sendAndNote(query, () => inner.run(query)),
          copy(table, columns, data) {
            written = true;
            return sendStatement(() => inner.copy(table, columns, data));
          },
        },
        left,
      );
      const noteTaken = (): StorageError => {
        hasConflicted = true;
        return new StorageError('unique', 'Another row has one of the values.');
      };
      const session: Transaction = {
        ...alone,
        pick: (lookup, key) => sendStatement(() => together.pick(lookup, key)),
        writeMany(statement, rows) {
          written = true;
          return runGuarded(() => passOn(together.write({ statement, rows })));
        },
        // An error would end the transaction of the group: the job gets its `unique` error when it runs apart.
        async insert(query) {
          const row = await sendStatement(() =>
            inner.first(addReturningId(query, ' on conflict do nothing')),
          );
          if (row === undefined) throw noteTaken();
          written = true;
          return row.id;
        },
        async insertMany(into, rows) {
          if (mayBeCopied([{ statement: into, rows }])) return alone.insertMany(into, rows);
          const ids = await runGuarded(() => passOn(together.insert(into, rows)));
          written ||= ids.length > 0;
          if (ids.length < rows.length) throw noteTaken();
          return ids;
        },
      };
      return { session, hasWritten: () => written, hasConflict: () => hasConflicted };
    },
  };
}

const hasPassed = (milliseconds: number, since: number): boolean => performance.now() - since >= milliseconds;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
