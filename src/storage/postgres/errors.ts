/** Translates PostgreSQL's errors for the rest of the service, by SQLSTATE (PostgreSQL, appendix A). */
import { SQL } from 'bun';
import { StorageError } from '../database.ts';

const states = {
  uniqueViolation: '23505',
  readOnlyTransaction: '25006',
  idleInTransaction: '25P03',
  transactionTimeout: '25P04',
  serializationFailure: '40001',
  deadlock: '40P01',
  insufficientPrivilege: '42501',
  diskFull: '53100',
  lockTimeout: '55P03',
} as const;

/** The SQLSTATE of an error, anywhere in its chain of causes. */
function readState(error: unknown): string | undefined {
  if (error instanceof SQL.PostgresError) return error.errno === undefined ? undefined : String(error.errno);
  return error instanceof Error && error.cause !== undefined ? readState(error.cause) : undefined;
}

/**
 * Whether the transaction failed because of others, or because this process stalled in it for too long. It has changed
 * nothing, and may succeed when it is run again.
 */
export function isRetryable(error: unknown): boolean {
  const state = readState(error);
  return (
    state === states.serializationFailure || state === states.deadlock || state === states.idleInTransaction
  );
}

/** Whether another transaction has held a lock for longer than the statement may wait. */
export const isLockTimeout = (error: unknown): boolean => readState(error) === states.lockTimeout;

/** Whether the role may not use a table, or does not own one that must be changed; not if another error explains it. */
export const isMissingRight = (error: unknown): boolean =>
  error instanceof SQL.PostgresError && readState(error) === states.insufficientPrivilege;

/** Whether the connection can no longer be used, or leads to a server that takes no writes. */
export function mustCloseConnection(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return false;
  const state = readState(error) ?? '';
  return (
    error.code.startsWith('ERR_POSTGRES_CONNECTION') ||
    // 57014: the statement was cancelled, but the connection can still be used.
    (/^(08|57)/.test(state) && state !== '57014') ||
    state === states.idleInTransaction ||
    state === states.transactionTimeout ||
    state === states.readOnlyTransaction
  );
}

/** Whether a new connection may help: this one was lost, or leads to a server that takes no writes. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof StorageError)) return mustCloseConnection(error);
  return error.cause === undefined
    ? error.kind === 'unavailable' || error.kind === 'read-only'
    : mustCloseConnection(error.cause);
}

/** Whether the driver itself cancelled a statement that the server had not begun to respond to. */
export const isCancelledHere = (error: unknown): boolean =>
  error instanceof SQL.PostgresError && error.code === 'ERR_POSTGRES_QUERY_CANCELLED';

/**
 * Whether the database cannot be reached, is stopping, has run out of connections, locks or time, or the transaction
 * failed because of others on every attempt.
 */
function isUnavailable(error: InstanceType<typeof SQL.PostgresError>, state: string): boolean {
  return (
    error.code.startsWith('ERR_POSTGRES_CONNECTION') ||
    /^(08|57|53)/.test(state) ||
    isRetryable(error) ||
    state === states.transactionTimeout ||
    state === states.lockTimeout
  );
}

/** What failed connections mean, by the codes of the driver, whose messages do not distinguish them. */
const connectionFailures: Readonly<Record<string, string>> = {
  ERR_POSTGRES_CONNECTION_REFUSED: 'no server accepts connections there, or its name cannot be resolved',
  ERR_POSTGRES_CONNECTION_FAILED: 'the server did not respond in time, or closed the connection',
};

/** The states of statements that failed because of locks that others hold. */
const locked: readonly string[] = [states.lockTimeout, states.deadlock];

/** @param server the name of the server in messages */
export function translate(error: unknown, server: string): unknown {
  if (!(error instanceof SQL.PostgresError)) return error;
  const state = readState(error) ?? '';
  const createError = (kind: StorageError['kind'], message: string) =>
    new StorageError(kind, message, { isLocked: locked.includes(state), cause: error });
  if (state === states.uniqueViolation) {
    // "Key (sku)=(A-1) already exists.", or ("sku") with the server's setting quote_all_identifiers.
    const column = /\("?(\w+)/.exec(error.detail ?? '')?.[1] ?? 'id';
    return new StorageError('unique', error.message, { column, cause: error });
  }
  if (state === states.diskFull) return createError('full', 'The disk of the database is full.');
  if (state === states.readOnlyTransaction) return createError('read-only', `${server}: ${error.message}`);
  // XX001 is data_corrupted, XX002 is index_corrupted.
  if (/^XX00[12]$/.test(state)) return createError('damaged', `${server}: ${error.message}`);
  if (isUnavailable(error, state))
    return createError('unavailable', `${server}: ${connectionFailures[error.code] ?? error.message}`);
  // The login was refused, or the database does not exist: the settings are wrong, not the statement.
  if (/^(28|3D)/.test(state)) return createError('refused', `${server}: ${error.message}`);
  return error;
}
