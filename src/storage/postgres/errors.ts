/** What PostgreSQL's errors mean to the rest of the service, by SQLSTATE (PostgreSQL, appendix A). */
import { SQL } from 'bun';
import { StorageError } from '../database.ts';

const states = {
  uniqueViolation: '23505',
  readOnlyTransaction: '25006',
  idleInTransaction: '25P03',
  serializationFailure: '40001',
  deadlock: '40P01',
  diskFull: '53100',
  lockTimeout: '55P03',
} as const;

/** The SQLSTATE of an error, anywhere in its chain of causes. */
function readState(error: unknown): string | undefined {
  if (error instanceof SQL.PostgresError) return error.errno === undefined ? undefined : String(error.errno);
  return error instanceof Error && error.cause !== undefined ? readState(error.cause) : undefined;
}

/**
 * Whether the transaction has failed because of others, or because this process stood still for too long within it,
 * and may succeed when it is run again: nothing of it has been done.
 */
export function isRetryable(error: unknown): boolean {
  const state = readState(error);
  return (
    state === states.serializationFailure || state === states.deadlock || state === states.idleInTransaction
  );
}

/** Whether another transaction has held a lock for longer than the statement may wait. */
export const isLockTimeout = (error: unknown): boolean => readState(error) === states.lockTimeout;

/** Whether the connection is of no use any more, or leads to a server that takes no writes. */
export function mustCloseConnection(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return false;
  const state = readState(error) ?? '';
  return (
    error.code.startsWith('ERR_POSTGRES_CONNECTION') ||
    // 57014 is a statement that was cancelled: its connection is as good as before.
    (/^(08|57)/.test(state) && state !== '57014') ||
    state === states.idleInTransaction ||
    state === states.readOnlyTransaction
  );
}

/** Whether the driver has given a statement up itself, which the server had not begun to respond to. */
export const isCancelledHere = (error: unknown): boolean =>
  error instanceof SQL.PostgresError && error.code === 'ERR_POSTGRES_QUERY_CANCELLED';

/** Whether the database cannot be reached, is stopping, or has no connection, lock or time left. */
function isUnavailable(error: InstanceType<typeof SQL.PostgresError>, state: string): boolean {
  return (
    error.code.startsWith('ERR_POSTGRES_CONNECTION') ||
    /^(08|57|53)/.test(state) ||
    state === states.idleInTransaction ||
    state === states.lockTimeout
  );
}

/** @param server names it in messages about connections */
export function translate(error: unknown, server: string): unknown {
  if (!(error instanceof SQL.PostgresError)) return error;
  const state = readState(error) ?? '';
  const createError = (kind: StorageError['kind'], message: string) =>
    new StorageError(kind, message, { isLocked: state === states.lockTimeout, cause: error });
  if (state === states.uniqueViolation) {
    // "Key (sku)=(A-1) already exists."
    const column = /\((\w+)/.exec(error.detail ?? '')?.[1] ?? 'id';
    return new StorageError('unique', error.message, { column, cause: error });
  }
  if (state === states.diskFull) return createError('full', 'The disk of the database is full.');
  if (state === states.readOnlyTransaction) return createError('read-only', `${server}: ${error.message}`);
  // Data_corrupted, index_corrupted.
  if (/^XX00[12]$/.test(state)) return createError('damaged', `${server}: ${error.message}`);
  if (isUnavailable(error, state)) return createError('unavailable', `${server}: ${error.message}`);
  // The sign-in is refused, or there is no such database: the settings are wrong, not the statement.
  if (/^(28|3D)/.test(state)) return new Error(`${server}: ${error.message}`, { cause: error });
  return error;
}
