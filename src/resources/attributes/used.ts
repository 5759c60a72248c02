/** Which attributes products have, for requests that name one. */
import { sql } from 'kysely';
import type { Database } from '../../storage/database.ts';

export interface UsedAttributes {
  /** Whether any product has it. */
  isUsed(key: string): Promise<boolean>;
  /** The keys of all, as far as they are compared with one that is not known. */
  readKeys(): Promise<readonly string[]>;
}

const mostCompared = 1000;

export function createUsedAttributes({ build, read }: Pick<Database, 'build' | 'read'>): UsedAttributes {
  // One step in the index for each key: there may be millions of products, with hundreds of values each.
  const keys = sql<{ key: string }>`with recursive used (key) as (
      select min(key) from product_attributes
      union all select (select min(key) from product_attributes where key > used.key) from used where used.key is not null
    ) select key from used where key is not null limit ${sql.lit(mostCompared)}`.compile(build);

  return {
    async isUsed(key) {
      const query = sql<{ key: string }>`select key from product_attributes where key = ${key} limit 1`;
      return (await read.first(query.compile(build))) !== undefined;
    },
    readKeys: async () => (await read.all(keys)).map(({ key }) => key),
  };
}
