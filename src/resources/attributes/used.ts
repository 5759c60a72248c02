/** Which attributes products have, for requests that name one. */
import { sql } from 'kysely';
import type { Database } from '../../storage/database.ts';

export type UsedAttributes = ReturnType<typeof createUsedAttributes>;

const mostCompared = 1000;

export function createUsedAttributes({ build, read }: Pick<Database, 'build' | 'read'>) {
  // One step in the index for each key: there may be millions of products, with hundreds of values each.
  const keys = sql<{ key: string }>`with recursive used (key) as (
      select min(key) from product_attributes
      union all select (select min(key) from product_attributes where key > used.key) from used where used.key is not null
    ) select key from used where key is not null limit ${sql.lit(mostCompared)}`.compile(build);

  return {
    /** Whether any product has it. */
    async isUsed(key: string): Promise<boolean> {
      const query = sql<{ key: string }>`select key from product_attributes where key = ${key} limit 1`;
      return (await read.first(query.compile(build))) !== undefined;
    },
    /** The keys of all, as far as they are compared with one that is not known. */
    readKeys: async () => (await read.all(keys)).map(({ key }) => key),
  };
}
