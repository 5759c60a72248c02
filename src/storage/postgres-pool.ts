/**
 * Connections to PostgreSQL that nobody waits on for ever. A server that is there but has stopped answering (frozen,
 * or behind a broken network) keeps its connections open: after a deadline they are thrown away with their pool.
 */
import { SQL } from 'bun';
import { StorageError } from './database.ts';

export interface PostgresPool {
  /** @throws StorageError `unavailable` when `work` is not done before the deadline */
  within<T>(work: (pool: SQL) => Promise<T>): Promise<T>;
  /** The same without a deadline: for what may take long. */
  unlimited<T>(work: (pool: SQL) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The server gives a statement up first, where it still can, and then says so itself. */
const marginMs = 2000;

/**
 * @param url `postgres://user:password@host:port/database`
 * @param size connections at most
 * @param timeout seconds after which a statement is given up
 */
export function openPool(url: string, size: number, timeout: number): PostgresPool {
  const open = () =>
    new SQL(url, {
      max: size,
      idleTimeout: 60,
      connectionTimeout: 5,
      prepare: true,
      connection: { application_name: 'catalog', statement_timeout: timeout * 1000 },
    });
  let pool = open();

  function replace(stuck: SQL): void {
    if (pool !== stuck) return;
    pool = open();
    void stuck.close({ timeout: 0 }).catch(() => undefined);
  }

  return {
    async within(work) {
      const used = pool;
      const { promise: late, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => {
          replace(used);
          reject(new StorageError('unavailable', `PostgreSQL has not answered for ${timeout} seconds.`));
        },
        timeout * 1000 + marginMs,
      );
      try {
        return await Promise.race([work(used), late]);
      } finally {
        clearTimeout(timer);
      }
    },
    unlimited: work => work(pool),
    close: () => pool.close({ timeout: 5 }),
  };
}
