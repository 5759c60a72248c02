/**
 * Reads an SQLite database in the background, for queries that may take long: on the event loop, they would delay all
 * requests. There is one snapshot at a time. Each of its statements takes a message there and back, which costs more
 * than a short statement.
 */
import { Worker } from 'node:worker_threads';
import type { CompiledQuery } from 'kysely';
import { getErrorMessage } from '../../../error-text.ts';
import { requireSpareFiles } from '../../../open-files.ts';
import { type Session, StorageError, type StorageErrorKind } from '../../database.ts';
import { endThread } from './end.ts';

/** A message to the thread. */
export interface BackgroundStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A message from the thread. */
export type BackgroundResult =
  | { readonly rows: unknown[] }
  | { readonly kind: StorageErrorKind | undefined; readonly message: string };

/**
 * @param file the database; the thread starts when it is first needed
 * @param renew called before each result, which may be of a newer state than what was read in this turn
 */
export function createBackgroundReader(file: string, renew?: () => void) {
  let thread: Worker | undefined;
  /** Statements whose results have yet to come, in order. */
  const pending: PromiseWithResolvers<unknown[]>[] = [];
  let last: Promise<unknown> = Promise.resolve();

  /** @throws StorageError `unavailable` when too few files can be opened */
  function start(): Worker {
    try {
      requireSpareFiles();
    } catch (error) {
      throw new StorageError('unavailable', getErrorMessage(error), { cause: error });
    }
    const made = new Worker(new URL('./reader-worker.ts', import.meta.url), { workerData: file });
    made.unref();
    made.on('message', (result: BackgroundResult) => {
      const first = pending.shift();
      renew?.();
      if ('rows' in result) first?.resolve(result.rows);
      else first?.reject(toError(result));
    });
    made.on('error', error => {
      // The next snapshot starts another.
      thread = undefined;
      const ended = new StorageError(
        'unavailable',
        'The thread that reads in the background has ended; the next read starts another.',
        { cause: error },
      );
      for (const one of pending.splice(0)) one.reject(ended);
    });
    return made;
  }

  async function runQuery<Row>({ sql, parameters }: Pick<CompiledQuery<Row>, 'sql' | 'parameters'>) {
    thread ??= start();
    const mine = Promise.withResolvers<unknown[]>();
    pending.push(mine);
    const statement: BackgroundStatement = { sql, parameters };
    thread.postMessage(statement);
    // Boundary to the thread: Kysely has derived Row from the query and the tables.
    return (await mine.promise) as Row[];
  }
  const session: Session = {
    all: runQuery,
    first: async <Row>(query: CompiledQuery<Row>) => (await runQuery<Row>(query))[0],
    run: () => Promise.reject(new Error('nothing is written in the background')),
  };

  async function runInSnapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    await runQuery({ sql: 'BEGIN', parameters: [] });
    try {
      return await work(session);
    } finally {
      if (thread !== undefined) await runQuery({ sql: 'ROLLBACK', parameters: [] });
    }
  }

  return {
    snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
      const done = last.then(() => runInSnapshot(work));
      last = done.catch(() => undefined);
      return done;
    },
    /** Ends the thread and its connection. */
    async close(): Promise<void> {
      await last;
      if (thread !== undefined) await endThread(thread);
    },
  };
}

function toError({ kind, message }: Exclude<BackgroundResult, { rows: unknown[] }>): Error {
  return kind === undefined ? new Error(message) : new StorageError(kind, message);
}
