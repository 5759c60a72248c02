/**
 * Opens connections: finds the server that takes writes among those of the address, also after a failover, and sets the
 * limits of each session, even through a pooler.
 */
import { StorageError } from '../database.ts';
import type { Address } from './address.ts';
import { type Connection, type ConnectionOptions, connect } from './connection.ts';
import { translate } from './errors.ts';

/** The pooler between the service and PostgreSQL, by PgBouncer's names of its modes. */
export type Pooler = 'none' | 'session' | 'transaction';

/** Limits of a session by their names in PostgreSQL: times in milliseconds, sizes in KiB. */
export interface SessionLimits {
  readonly statement_timeout: number;
  readonly lock_timeout: number;
  readonly idle_in_transaction_session_timeout: number;
  readonly gin_pending_list_limit?: number;
}

export type Connector = ReturnType<typeof createConnector>;

/**
 * What a role may have set otherwise. Without the first two, the server reads arrays and writes numbers as old releases
 * did, numbers with fewer digits than they have; without the third, it leaves out hits at random. Compiling a statement
 * takes tens of milliseconds each time it runs, and the planner overestimates what that saves, since most statements
 * stop at a limit.
 */
const required = { array_nulls: 'on', extra_float_digits: 1, gin_fuzzy_search_limit: 0, jit: 'off' };

/** Seconds, and a number of probes, after which the server drops the session of a vanished client and its locks. */
const keepalive = { tcp_keepalives_idle: 5, tcp_keepalives_interval: 2, tcp_keepalives_count: 3 };

/**
 * @param application the name of the sessions on the server
 * @param given the pooler of the settings; undefined to detect it
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
        ...(pooler === 'none' ? { ...limits, ...required, ...keepalive } : {}),
      },
    };
  }

  /** @throws StorageError `unavailable`, or `read-only` when the server takes no writes */
  async function connectTo(server: string, limits: SessionLimits): Promise<Connection> {
    let connection: Connection;
    try {
      connection = await connect(buildOptions(server, limits));
    } catch (error) {
      if (given === undefined && pooler === 'none' && isRefusedParameter(error)) {
        pooler = 'transaction';
        return connectTo(server, limits);
      }
      throw toRefusal(translate(error, description), description);
    }
    // The pool limits the statements of its connections, but does not have this one yet.
    const patience = limits.statement_timeout;
    const timer = patience === 0 ? undefined : setTimeout(connection.close, patience);
    try {
      if (pooler === 'session') await connection.run(buildSettings('set', limits));
      const [row] = await connection.run(checkText);
      // Boundary to the driver, which types no rows: the columns of checkText.
      const { writable, limit } = row as { writable: boolean; limit: number };
      if (requiresPrimary && !writable) {
        throw new StorageError('read-only', `PostgreSQL at ${server} accepts no writes: it is a standby.`);
      }
      if (given === undefined && pooler === 'none' && limit !== limits.statement_timeout) {
        // A pooler has ignored the parameters.
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

  /** Tries all servers at once, keeps the first usable connection, and closes the others. */
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
    /** SQL that follows BEGIN to set the limits in the transaction, where the session cannot keep them; else empty. */
    localSettings: (limits: SessionLimits) =>
      pooler === 'transaction' ? `; ${buildSettings('set local', limits)}` : '',
    /** The server of the last connection. */
    server: () => current,
  };
}

/** `limit` is in milliseconds, whatever unit PostgreSQL shows. The view pg_settings would be eight times as slow. */
const checkText = `select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as writable,
  (extract(epoch from current_setting('statement_timeout')::interval) * 1000)::int as limit`;

function buildSettings(command: 'set' | 'set local', limits: SessionLimits): string {
  return Object.entries({ ...limits, ...required })
    .map(([name, value]) => `${command} ${name} = ${value}`)
    .join('; ');
}

/** Detects PgBouncer's "unsupported startup parameter"; PgBouncer can also be set to ignore such parameters. */
function isRefusedParameter(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/i.test(error.message);
}

/** Whatever else prevents a connection, such as a TLS setting or a database that is closed to connections. */
function toRefusal(error: unknown, description: string): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  return new StorageError('refused', `${description}: ${error.message}`, { cause: error });
}

const isReadOnly = (error: unknown): boolean => error instanceof StorageError && error.kind === 'read-only';
