/** Bookkeeping at the end of transactions that change products: the collection's version and its kept totals. */
import { sql } from 'kysely';
import type { Database, Session, Transaction } from './database.ts';
import type { Condition } from './list/request.ts';
import { prepared } from './prepared.ts';

/** How many products more (or fewer) there are of one status and category. */
export interface TotalChange {
  readonly status: string;
  readonly category: string | null;
  readonly change: number;
}

/**
 * Versions are random numbers: counted on, one would come round after a backup has been put back under running
 * replicas, or a failover has lost commits, and name another state than the one that a replica has cached under it.
 * The sum of all slots stays below 2^53.
 */
const randomVersion = (): number => 1 + Math.floor(Math.random() * 2 ** 47);

export function collectionVersions({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const plus = prepared<{ collection: string; version: number }, unknown>(argument => ({
    compile: () =>
      sql`insert into collection_versions (collection, slot, version)
        values (${argument.collection}, ${dialect.slot}, ${argument.version})
        on conflict (collection, slot) do update set version = excluded.version`.compile(build),
  }));
  return {
    /** Says that this transaction changes the collection. */
    advance(session: Transaction, collection: string): void {
      session.add(
        { key: `version ${collection}`, plus: () => plus({ collection, version: randomVersion() }) },
        1,
      );
    },
  };
}

export function productTotals({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const plus = prepared<{ status: string; category: string; amount: number }, unknown>(argument => ({
    compile: () =>
      sql`insert into product_totals (status, category, slot, total)
        values (${argument.status}, ${argument.category}, ${dialect.slot}, ${argument.amount})
        on conflict (category, status, slot) do update set total = product_totals.total + excluded.total`.compile(
        build,
      ),
  }));

  return {
    change(session: Transaction, { status, category, change }: TotalChange): void {
      const counted = { status, category: category ?? '' };
      const key = `total ${status} ${counted.category}`;
      session.add({ key, plus: amount => plus({ ...counted, amount }) }, change);
    },

    /** The total for filters on status and category alone; undefined for any other filter. */
    async total(session: Session, conditions: readonly Condition[]): Promise<number | undefined> {
      if (conditions.some(({ column }) => column !== 'status' && column !== 'category')) return undefined;
      let query = build
        .selectFrom('product_totals')
        .select(sql<number>`cast(coalesce(sum(total), 0) as integer)`.as('total'));
      for (const { column, value } of conditions) query = query.where(sql.ref(column), '=', value);
      return (await session.first(query.compile()))?.total ?? 0;
    },
  };
}
