/** Which attributes products use, for requests that name one. */
import { sql } from 'kysely';
import type { Database } from '../../storage/database.ts';

export type UsedAttributes = ReturnType<typeof createUsedAttributes>;

const maxCompared = 1000;

export function createUsedAttributes({ build, read }: Pick<Database, 'build' | 'read'>) {
  // One index step per key: there may be millions of products, with hundreds of values each.
  const keys = sql<{ key: string }>`with recursive used (key) as (
      select min(key) from product_attributes
      union all select (select min(key) from product_attributes where key > used.key) from used where used.key is not null
    ) select key from used where key is not null limit ${sql.lit(maxCompared)}`.compile(build);

  return {
    async isUsed(key: string): Promise<boolean> {
      const query = sql<{ key: string }>`select key from product_attributes where key = ${key} limit 1`;
      return (await read.first(query.compile(build))) !== undefined;
    },
    /** The keys in use, up to the number that an unknown key is compared with. */
    readKeys: async () => (await read.all(keys)).map(({ key }) => key),
  };
}
