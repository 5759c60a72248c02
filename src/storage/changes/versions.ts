/**
 * The versions of collections. Every change of one adds a mark to its version and writes the same mark into the event
 * that says what has changed: anyone who has seen some events knows by their sum whether they are all there are
 * (docs/decisions/0023).
 */
import { type RawBuilder, sql } from 'kysely';
import { createBulk } from '../bulk.ts';
import type { Database, Dialect, Transaction } from '../database.ts';

/**
 * Marks are random: were they all alike, the version would come round after a backup has been put back under running
 * replicas, or a failover has lost commits, and name another state than the one that a replica has cached things of.
 * 500 million of them stay below 2^53.
 */
export const createMark = (): number => 1 + Math.floor(Math.random() * 2 ** 24);

/** A collection's version, for a statement that reads it together with something else. */
export const buildVersion = ({ types }: Dialect, collection: string): RawBuilder<number> =>
  sql<number>`cast((select coalesce(sum(version), 0) from collection_versions
    where collection = ${sql.lit(collection)}) as ${types.real})`;

export function createCollectionVersions({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const statement = createBulk(
    { build, dialect },
    'collection_versions',
    { collection: 'text', version: 'double precision' },
    rows => sql`insert into collection_versions (collection, version, slot)
      select *, ${dialect.slot} from (${rows}) as given where true
      on conflict (collection, slot) do update
      set version = collection_versions.version + excluded.version`,
  );
  return {
    /**
     * Says that this transaction changes the collection.
     * @param marks the sum of those in the events that say how; without it nothing says how, and whatever is cached
     * of the collection goes
     */
    advance(session: Transaction, collection: string, marks: number = createMark()): void {
      session.increment(
        { key: `version ${collection}`, statement, row: amount => [collection, amount] },
        marks,
      );
    },
  };
}
