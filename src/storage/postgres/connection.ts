/**
 * One connection to PostgreSQL. It is never opened again by itself: a transaction could otherwise go on, statement by
 * statement, on a connection that knows nothing of it. Statements that are sent without waiting are pipelined.
 */
import { SQL } from 'bun';
import { takeTurn } from '../../turns/index.ts';
import { StorageError } from '../database.ts';
import { isCancelledHere, isRetryable, mustCloseConnection } from './errors.ts';

/** Milliseconds after its limit for which a statement may take to be cancelled by the server. */
const cancelMarginMs = 2000;
/** Milliseconds after which a transaction is kept alive: well below what the server allows. */
const silenceMs = 300;
/** After so many statements, which take memory in the server, a connection is replaced. */
const mostPrepared = 1000;
/** How often, between two statements of its own: work that never ends holds its locks for half a minute, not for ever. */
const mostSilences = 60;
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
  /** Settings of the session, sent with the start; a pooler may refuse them. */
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** Rows, with the command that gave them and how many it concerned. */
export type Result = unknown[] & { readonly count?: number; readonly command?: string };

export interface Connection {
  readonly server: string;
  /** Statements that have been sent and not been responded to. */
  pending(): number;
  /** False once the connection has been lost or closed, or is not to be used for anything new. */
  isUsable(): boolean;
  /** `performance.now()` of the last response. */
  idleSince(): number;
  run(text: string, parameters?: readonly unknown[]): Promise<Result>;
  /** Runs COPY … FROM STDIN. */
  copy(text: string, data: Iterable<string>): Promise<void>;
  /** Cancels the first statement that is over its limit; closes the connection when that has not helped. */
  checkLimits(now: number): void;
  /**
   * Sends something within a transaction whose work takes a while between two statements: the server ends those whose client
   * is silent, as one that stands still is.
   */
  keepAlive(now: number): void;
  /** Fails what is pending. */
  close(): void;
}

interface Statement extends Promise<unknown> {
  cancel(): unknown;
}

async function writeAll(
  writer: { write(part: string): Promise<void>; close(): Promise<void> },
  data: Iterable<string>,
): Promise<void> {
  for (const part of data) {
    await writer.write(part);
    await takeTurn();
  }
  await writer.close();
}

/** @throws the driver's error when the server cannot be reached or refuses */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const { url, server, statementLimit, prepare, parameters } = options;
  let open = true;
  /** What the server has said as it closed the connection, between two statements. */
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
  /** Of statements that server and driver keep prepared as long as the connection lives. */
  const texts = new Set<string>();
  let closed = false;
  let late = false;
  let cancelled: Statement | undefined;
  /** How often the transaction has been kept alive since its last statement. */
  let silences = 0;
  /** Since when the first of the pending statements has been running, or nothing has. */
  let since = performance.now();

  function close(): void {
    if (closed) return;
    closed = true;
    open = false;
    void client.close({ timeout: 0 }).catch(() => undefined);
  }

  const run = (text: string, values: readonly unknown[] = []) =>
    runToEnd(() => {
      silences = 0;
      if (prepare) texts.add(text);
      const statement = reserved.unsafe(text, [...values]);
      return { statement, result: statement };
    });

  const copy = (text: string, data: Iterable<string>) =>
    runToEnd(() => {
      const statement = reserved.unsafe(text);
      return { statement, result: writeAll(statement.writable().getWriter(), data) };
    });

  async function runToEnd<T>(begin: () => { statement: Statement; result: Promise<T> }): Promise<T> {
    if (!open) {
      // However long this process has stood still: its transaction was ended for that, and may run again.
      if (isRetryable(farewell)) throw farewell;
      throw new StorageError('unavailable', 'The connection to PostgreSQL has been lost.');
    }
    const { statement, result } = begin();
    if (statements.size === 0) since = performance.now();
    statements.add(statement);
    try {
      return await result;
    } catch (error) {
      if (mustCloseConnection(error)) close();
      // What the server has not begun to respond to is cancelled by the driver, with an error of its own.
      if (!late && !isCancelledHere(error)) throw error;
      throw new StorageError('unavailable', `PostgreSQL has not responded for ${statementLimit / 1000} s.`);
    } finally {
      statements.delete(statement);
      since = performance.now();
    }
  }

  return {
    server,
    pending: () => statements.size,
    // The cancellation of a statement may arrive late, and must not hit the next one.
    isUsable: () => open && cancelled === undefined && texts.size < mostPrepared,
    idleSince: () => since,
    run,
    copy,
    checkLimits(now) {
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
    keepAlive(now) {
      // If the transaction has failed already, this fails as well; whatever runs the transaction ends it.
      if (!open || statements.size > 0 || now - since <= silenceMs || silences >= mostSilences) return;
      const kept = silences + 1;
      void run('select 1').catch(() => undefined);
      silences = kept;
    },
    close,
  };
}
