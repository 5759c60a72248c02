/**
 * Opens connections: finds the server that takes writes among those of the address, also after a failover, and
 * limits what a session may do, through a pooler too.
 */
import { StorageError } from '../database.ts';
import type { Address } from './address.ts';
import { type Connection, type ConnectionOptions, connect } from './connection.ts';
import { translate } from './errors.ts';

/** What stands between the service and PostgreSQL, as PgBouncer names its modes. */
export type Pooler = 'none' | 'session' | 'transaction';

/** Limits of a session, in milliseconds; the names are PostgreSQL's. */
export interface SessionLimits {
  readonly statement_timeout: number;
  readonly lock_timeout: number;
  readonly idle_in_transaction_session_timeout: number;
}

export type Connector = ReturnType<typeof createConnector>;

/** So that the server notices a machine that has gone without a word, and gives up its locks: in seconds, and probes. */
const keepalive = { tcp_keepalives_idle: 5, tcp_keepalives_interval: 2, tcp_keepalives_count: 3 };

/**
 * @param application what the server calls the sessions
 * @param given the setting; undefined to find out
 */
export function createConnector(address: Address, application: string, given: Pooler | undefined) {
  const { servers, requiresPrimary, description } = address;
  let pooler: Pooler = given ?? 'none';
  let current = servers[0] ?? '';

  function buildOptions(server: string, limits: SessionLimits): ConnectionOptions {
    return {
      url: address.urlOf(server),
      server,
      statementLimit: limits.statement_timeout === 0 ? Number.POSITIVE_INFINITY : limits.statement_timeout,
      prepare: pooler !== 'transaction',
      parameters: {
        application_name: application,
        ...(pooler === 'none' ? { ...limits, ...keepalive } : {}),
      },
    };
  }

  /** @throws StorageError `unavailable` also for a pooler that has just been found: connect again */
  async function connectTo(server: string, limits: SessionLimits): Promise<Connection> {
    let connection: Connection;
    try {
      connection = await connect(buildOptions(server, limits));
    } catch (error) {
      if (given === undefined && pooler === 'none' && isRefusedParameter(error)) {
        pooler = 'transaction';
        return connectTo(server, limits);
      }
      throw nameServer(translate(error, description), description);
    }
    // The pool, which limits the statements of its connections, does not have this one yet.
    const patience = limits.statement_timeout;
    const timer = patience === 0 ? undefined : setTimeout(connection.close, patience);
    try {
      if (pooler === 'session') await connection.run(buildSettings('set', limits));
      const [row] = await connection.run(checkText);
      const { writable, limit } = readCheck(row);
      if (requiresPrimary && !writable) {
        throw new StorageError('read-only', `PostgreSQL at ${server} takes no writes: it is a standby.`);
      }
      if (given === undefined && pooler === 'none' && limit !== limits.statement_timeout) {
        // Something in between has swallowed the parameters.
        pooler = 'transaction';
        connection.close();
        return connectTo(server, limits);
      }
      return connection;
    } catch (error) {
      connection.close();
      throw translate(error, description);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tries all servers at once; the first that will do wins, the connections to others are closed. */
  async function search(limits: SessionLimits): Promise<Connection> {
    const attempts = servers.map(server => connectTo(server, limits));
    const found = await Promise.any(attempts).catch((error: AggregateError) => {
      throw error.errors.find(isReadOnly) ?? error.errors[0];
    });
    for (const attempt of attempts) {
      attempt.then(
        connection => connection !== found && connection.close(),
        () => undefined,
      );
    }
    current = found.server;
    return found;
  }

  return {
    /** @throws StorageError `unavailable`, or `read-only` when no server takes writes */
    async open(limits: SessionLimits): Promise<Connection> {
      if (servers.length === 1) return connectTo(current, limits);
      return connectTo(current, limits).catch(() => search(limits));
    },
    /** What begins a transaction sets there, when the session cannot keep it: SQL that follows BEGIN, or nothing. */
    localSettings: (limits: SessionLimits) =>
      pooler === 'transaction' ? `; ${buildSettings('set local', limits)}` : '',
    /** The server that the last connection led to. */
    server: () => current,
  };
}

/** Milliseconds, whatever unit PostgreSQL shows. The view pg_settings would make all its rows: eight times the cost. */
const checkText = `select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as writable,
  (extract(epoch from current_setting('statement_timeout')::interval) * 1000)::int as limit`;

function readCheck(row: unknown): { writable: boolean; limit: number } {
  // Boundary to the driver, which types no rows: the columns of checkText.
  return row as { writable: boolean; limit: number };
}

function buildSettings(command: 'set' | 'set local', limits: SessionLimits): string {
  return Object.entries(limits)
    .map(([name, milliseconds]) => `${command} ${name} = ${milliseconds}`)
    .join('; ');
}

/** PgBouncer's "unsupported startup parameter", unless it is set to ignore them. */
function isRefusedParameter(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/i.test(error.message);
}

/** A connection that was refused for what the settings say of it, such as TLS, has no other place to name the server. */
function nameServer(error: unknown, description: string): unknown {
  if (!(error instanceof Error) || error instanceof StorageError || error.message.startsWith(description))
    return error;
  return new Error(`${description}: ${error.message}`, { cause: error });
}

const isReadOnly = (error: unknown): boolean => error instanceof StorageError && error.kind === 'read-only';
