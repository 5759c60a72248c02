/** Holds locks on PostgreSQL, so that writes wait for them in an order that the test determines. */
import { SQL } from 'bun';
import { createDatabase } from '../service/postgres.ts';
import { startTestService } from '../service/service.ts';

export interface HeldLocks extends AsyncDisposable {
  /** Locks a product, or a row of another table, until `release`. */
  hold(row: { readonly id: number }, table?: string): Promise<void>;
  /** Resolves once this many statements of the database wait for a lock. */
  waiting(expected: number): Promise<void>;
  /** Shares the paths of the categories until `release`: nothing can be renamed. */
  holdPaths(): Promise<void>;
  /** Locks a table until `release`, so that not even reads are possible. */
  holdTable(name: string): Promise<void>;
  /** Lets the waiting statements continue, the one that has waited longest first. */
  release(): Promise<void>;
}

/** Until a test fails because nothing waits that should, in milliseconds. */
const maxWaitMs = 20_000;

/**
 * A service whose writes wait for locks that the test holds, one connection for each process. Without groups of writes:
 * in a group, a transaction that waits too long restarts on its own, behind the others.
 */
export async function startHeldService() {
  const url = await createDatabase();
  const service = await startTestService('postgresql', { DATABASE_URL: url, DATABASE_POOL: '4' });
  return { service, held: holdLocks(url) };
}

/** @param url the address of a database that no other test uses */
export function holdLocks(url: string): HeldLocks {
  const holder = new SQL(url, { max: 1 });
  const observer = new SQL(url, { max: 1 });
  return {
    async hold({ id }, table = 'products') {
      await holder.unsafe(`begin; select 1 from ${table} where id = ${id} for update`);
    },
    async holdPaths() {
      await holder.unsafe(`begin; select pg_advisory_xact_lock_shared(hashtextextended('categories', 0))`);
    },
    async holdTable(name) {
      await holder.unsafe(`begin; lock table ${name} in access exclusive mode`);
    },
    async waiting(expected) {
      const locks = `select 1 from pg_locks where not granted and pid in
        (select pid from pg_stat_activity where datname = current_database())`;
      const until = performance.now() + maxWaitMs;
      for (let found = 0; found < expected; ) {
        found = (await observer.unsafe(locks)).length;
        if (performance.now() > until)
          throw new Error(`${found} statements wait for a lock, not ${expected}`);
      }
    },
    async release() {
      await holder.unsafe('commit');
    },
    async [Symbol.asyncDispose]() {
      await holder.end();
      await observer.end();
    },
  };
}
