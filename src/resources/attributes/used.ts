/** Which attributes there are, defined or in any product, for requests that name one. */
import { sql } from 'kysely';
import { Problems } from '../../http/request/problems.ts';
import type { Database } from '../../storage/database.ts';
import type { Definitions } from './store.ts';

export interface UsedAttributes {
  /** Whether any product has it. */
  isUsed(key: string): Promise<boolean>;
  /**
   * @param parameters filters by attributes, by their names: what `attributeParameters` has parsed
   * @throws HttpError 400 for each attribute that is neither defined nor in any product, with the nearest that is
   */
  requireKnown(
    parameters: Readonly<Record<string, unknown>> | undefined,
    definitions: Definitions,
  ): Promise<void>;
}

const prefix = 'attr.';
/** Keys of products that are compared with one that is not known. */
const mostCompared = 1000;

export function createUsedAttributes({ build, read }: Pick<Database, 'build' | 'read'>): UsedAttributes {
  // One step in the index for each key: a product may have hundreds of values, and there may be millions of products.
  const keys = sql<{ key: string }>`with recursive used (key) as (
      select min(key) from product_attributes
      union all select (select min(key) from product_attributes where key > used.key) from used where used.key is not null
    ) select key from used where key is not null limit ${sql.lit(mostCompared)}`.compile(build);

  async function isUsed(key: string): Promise<boolean> {
    const query = sql<{ key: string }>`select key from product_attributes where key = ${key} limit 1`;
    return (await read.first(query.compile(build))) !== undefined;
  }

  async function readKnown(definitions: Definitions): Promise<string[]> {
    const filterable = [...definitions.values()].filter(one => one.filterable).map(({ key }) => key);
    const used = (await read.all(keys)).map(({ key }) => key).filter(key => !definitions.has(key));
    return [...filterable, ...used].map(key => `${prefix}${key}`);
  }

  return {
    isUsed,
    async requireKnown(parameters = {}, definitions) {
      const problems = new Problems();
      let known: readonly string[] | undefined;
      for (const name of Object.keys(parameters)) {
        const key = name.slice(prefix.length);
        if (definitions.has(key) || (await isUsed(key))) continue;
        known ??= await readKnown(definitions);
        problems.addUnknown([name], { known });
      }
      problems.refuse();
    },
  };
}
