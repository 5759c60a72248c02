/** Bookkeeping at the end of transactions that change products: how many there are of each status and category. */
import { type CompiledQuery, sql } from 'kysely';
import { bulk, rowsOf } from './bulk.ts';
import { versionOf } from './changes/versions.ts';
import type { Database, Session, Transaction } from './database.ts';
import type { Condition, Total } from './list/request.ts';
import { type Arguments, preparedByShape } from './prepared.ts';

/** How many products more (or fewer) there are of one status and category. */
export interface TotalChange {
  readonly status: string;
  readonly category: string | null;
  readonly change: number;
}

export function productTotals({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const row = sql`(${null}, ${null}, ${dialect.slot}, ${null})`;
  const statement = bulk('product_totals', [32, 16, 8, 4, 2, 1], size =>
    sql`insert into product_totals (status, category, slot, total) values ${rowsOf(row, size)}
      on conflict (category, status, slot) do update set total = product_totals.total + excluded.total`.compile(
      build,
    ),
  );

  const total = preparedByShape<Arguments, Total>(shape => {
    const columns = shape === '' ? [] : shape.split(',');
    const conditions = columns.map(column => sql`and ${sql.ref(column)} = ${null}`);
    return {
      compile: () =>
        sql<Total>`select cast(coalesce(sum(total), 0) as integer) as total,
          ${versionOf(dialect, 'products')} as version
          from product_totals where true ${sql.join(conditions, sql` `)}`.compile(build),
    };
  });

  return {
    change(session: Transaction, { status, category, change }: TotalChange): void {
      const counted = category ?? '';
      const key = `total ${status} ${counted}`;
      session.add({ key, statement, row: amount => [status, counted, amount] }, change);
    },

    /** The total for filters on status and category alone; undefined for any other filter. */
    total(conditions: readonly Condition[]): CompiledQuery<Total> | undefined {
      if (conditions.some(({ column }) => column !== 'status' && column !== 'category')) return undefined;
      const shape = conditions.map(({ column }) => column).join();
      return { ...total(shape, {}), parameters: conditions.map(({ value }) => value) };
    },

    /** How many products there are. */
    async count(session: Session): Promise<number> {
      return (await session.first(total('', {})))?.total ?? 0;
    },
  };
}
