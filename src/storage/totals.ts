/** Bookkeeping in the transaction that changes products: the collection's version and its kept totals. */
import { sql } from 'kysely';
import type { Database, Session } from './database.ts';
import type { Condition } from './list.ts';
import { prepared } from './prepared.ts';

/** How many products more (or fewer) there are of one status and category. */
export interface TotalChange {
  readonly status: string;
  readonly category: string | null;
  readonly change: number;
}

export function collectionVersions({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const advance = prepared<{ collection: string }, unknown>(argument => ({
    compile: () =>
      sql`insert into collection_versions (collection, slot, version) values (${argument.collection}, ${dialect.slot}, 1)
        on conflict (collection, slot) do update set version = collection_versions.version + 1`.compile(
        build,
      ),
  }));
  return {
    /**
     * Says that this transaction changes the collection. Call it before the first change: on PostgreSQL it
     * also keeps two connections that share a slot from waiting for each other crosswise.
     */
    advance: (session: Session, collection: string) => session.run(advance({ collection })),
  };
}

export function productTotals({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const add = prepared<{ status: string; category: string; change: number }, unknown>(argument => ({
    compile: () =>
      sql`insert into product_totals (status, category, slot, total)
        values (${argument.status}, ${argument.category}, ${dialect.slot}, ${argument.change})
        on conflict (category, status, slot) do update set total = product_totals.total + excluded.total`.compile(
        build,
      ),
  }));

  return {
    async change(session: Session, changes: readonly TotalChange[]): Promise<void> {
      const sums = new Map<string, { status: string; category: string; change: number }>();
      for (const { status, category, change } of changes) {
        const key = `${status} ${category ?? ''}`;
        const sum = sums.get(key);
        if (sum === undefined) sums.set(key, { status, category: category ?? '', change });
        else sum.change += change;
      }
      // In one order for all transactions, so that none waits for another crosswise.
      for (const key of [...sums.keys()].sort()) {
        const sum = sums.get(key);
        if (sum !== undefined && sum.change !== 0) await session.run(add(sum));
      }
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
