/**
 * The versions of collections. Every change of a collection adds a mark to its version, and writes the same mark into
 * the event of the change: the sum of the marks shows a reader whether it has seen all events (docs/decisions/0023).
 */
import { type RawBuilder, sql } from 'kysely';
import { createBulk } from '../bulk.ts';
import type { Database, Dialect, Transaction } from '../database.ts';

/**
 * Marks are random. If they were equal, a version could return after a backup was restored under running replicas, or a
 * failover lost commits, and then name another state than the one that a replica has cached. The sum of 500 million
 * marks stays below 2^53.
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
     * Records that this transaction changes the collection.
     * @param marks the sum of the marks in the events of the changes; without events, everything cached of the
     * collection is dropped
     */
    advance(session: Transaction, collection: string, marks: number = createMark()): void {
      session.increment(
        { key: `version ${collection}`, statement, row: amount => [collection, amount] },
        marks,
      );
    },
  };
}
