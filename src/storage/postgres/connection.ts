/**
 * One connection to PostgreSQL. It never reconnects: otherwise the later statements of a transaction could run on a new
 * connection, outside of it. Statements that are sent without waiting are pipelined.
 */
import { SQL } from 'bun';
import { takeTurn } from '../../turns/index.ts';
import { StorageError } from '../database.ts';
import { isCancelledHere, isRetryable, mustCloseConnection } from './errors.ts';

/** Milliseconds that the server has to cancel a statement after its limit. */
const cancelMarginMs = 2000;
/** Milliseconds of silence after which a transaction is kept alive by a statement: well below the server's limit. */
const silenceMs = 300;
/** A connection is replaced after this many prepared statements, since they take memory in the server. */
const maxPrepared = 1000;
/** How often a transaction is kept alive between two statements: endless work loses its locks after half a minute. */
const maxSilences = 60;
/** Seconds that a new connection may take. */
const connectionTimeout = 5;

export interface ConnectionOptions {
  readonly url: string;
  /** `host:port`. */
  readonly server: string;
  /** Milliseconds after which a statement is cancelled; Infinity for none. */
  readonly statementLimit: number;
  /** Whether statements are prepared and kept by the server. */
  readonly prepare: boolean;
  /** Settings of the session, sent at startup; a pooler may refuse them. */
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** Rows, with the command that returned them and the number of rows that it affected. */
export type Result = unknown[] & { readonly count?: number; readonly command?: string };

export type Connection = Awaited<ReturnType<typeof connect>>;

interface Statement extends Promise<unknown> {
  cancel(): unknown;
}

async function writeAll(
  writer: { readonly closed: Promise<void>; write(part: string): Promise<void>; close(): Promise<void> },
  data: Iterable<string>,
): Promise<void> {
  for (const part of data) {
    await writer.write(part);
    await takeTurn();
  }
  // If the server has already refused the rows, close() fails without its reason, which `closed` has.
  await Promise.all([writer.closed, writer.close()]);
}

/** @throws the driver's error when the server cannot be reached or refuses */
export async function connect(options: ConnectionOptions) {
  const { url, server, statementLimit, prepare, parameters } = options;
  let open = true;
  /** The error with which the server closed the connection between two statements. */
  let farewell: unknown;
  const client = new SQL(url, {
    max: 1,
    idleTimeout: 0,
    connectionTimeout,
    prepare,
    connection: parameters,
    onclose(reason) {
      open = false;
      farewell = reason;
    },
  });
  const reserved = await client.reserve().catch(error => {
    void client.close({ timeout: 0 }).catch(() => undefined);
    throw error;
  });
  const statements = new Set<Statement>();
  /** The statements that server and driver keep prepared for the life of the connection. */
  const texts = new Set<string>();
  let closed = false;
  let late = false;
  let cancelled: Statement | undefined;
  /** How often the transaction was kept alive since its last statement. */
  let silences = 0;
  /** The time since which the first pending statement has been running, or the connection has been idle. */
  let since = performance.now();

  /** Rejects pending statements. */
  function close(): void {
    if (closed) return;
    closed = true;
    open = false;
    void client.close({ timeout: 0 }).catch(() => undefined);
  }

  const run = (text: string, values: readonly unknown[] = []): Promise<Result> =>
    runToEnd(() => {
      silences = 0;
      if (prepare) texts.add(text);
      const statement = reserved.unsafe(text, [...values]);
      return { statement, result: statement };
    });

  /** Runs COPY … FROM STDIN. */
  const copy = (text: string, data: Iterable<string>) =>
    runToEnd(() => {
      const statement = reserved.unsafe(text);
      return { statement, result: writeAll(statement.writable().getWriter(), data) };
    });

  async function runToEnd<T>(begin: () => { statement: Statement; result: Promise<T> }): Promise<T> {
    if (!open) {
      // The server ended the transaction because this process stalled, for however long: it may be run again.
      if (isRetryable(farewell)) throw farewell;
      throw new StorageError('unavailable', 'The connection to PostgreSQL was lost.');
    }
    const { statement, result } = begin();
    if (statements.size === 0) since = performance.now();
    statements.add(statement);
    try {
      return await result;
    } catch (error) {
      if (mustCloseConnection(error)) close();
      // Until the server begins to respond, the driver cancels a statement itself, with its own kind of error.
      if (!late && !isCancelledHere(error)) throw error;
      throw new StorageError('unavailable', `PostgreSQL did not respond for ${statementLimit / 1000} s.`);
    } finally {
      statements.delete(statement);
      since = performance.now();
    }
  }

  return {
    server,
    /** The number of statements that the server has yet to respond to. */
    pending: () => statements.size,
    /**
     * False once the connection is lost or closed, or must not be used for new work: a cancellation may arrive late, and
     * must not cancel the next statement.
     */
    isUsable: () => open && cancelled === undefined && texts.size < maxPrepared,
    /** `performance.now()` of the last response. */
    idleSince: () => since,
    run,
    copy,
    /** Cancels the first statement if it is over its limit; closes the connection if that does not help. */
    checkLimits(now: number): void {
      const [first] = statements;
      if (first === undefined || now - since < statementLimit) return;
      if (first !== cancelled) {
        cancelled = first;
        first.cancel();
      }
      if (now - since >= statementLimit + cancelMarginMs) {
        late = true;
        close();
      }
    },
    /**
     * Sends a statement if a transaction works for a long time between two statements: the server ends transactions whose
     * client is silent, as a stalled one is.
     */
    keepAlive(now: number): void {
      // This also fails if the transaction has already failed; the code that runs the transaction ends it.
      if (!open || statements.size > 0 || now - since <= silenceMs || silences >= maxSilences) return;
      const kept = silences + 1;
      void run('select 1').catch(() => undefined);
      silences = kept;
    },
    close,
  };
}
