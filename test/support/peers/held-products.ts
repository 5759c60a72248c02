/** Holds the row of a product on PostgreSQL, so that writes wait for it in an order that the test determines. */
import { SQL } from 'bun';

export interface HeldProducts extends AsyncDisposable {
  /** Locks a product until `release`. */
  hold(product: { readonly id: number }): Promise<void>;
  /** Resolves once this many statements of the database wait for a lock. */
  waiting(expected: number): Promise<void>;
  /** Lets the waiting statements continue, the one that has waited longest first. */
  release(): Promise<void>;
}

/** @param url the address of a database that no other test uses */
export function holdProducts(url: string): HeldProducts {
  const holder = new SQL(url, { max: 1 });
  const observer = new SQL(url, { max: 1 });
  return {
    async hold({ id }) {
      await holder.unsafe(`begin; select 1 from products where id = ${id} for update`);
    },
    async waiting(expected) {
      const locks = `select 1 from pg_locks where not granted and pid in
        (select pid from pg_stat_activity where datname = current_database())`;
      while ((await observer.unsafe(locks)).length < expected);
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
