/** Checks of counters: the stored totals of products, their ratings, and the numbers of invoices. */
import { sql } from 'kysely';
import { computeAverage } from '../../resources/products/ratings.ts';
import {
  buildLockedColumns,
  type LockedProduct,
  productOf,
  toKeptProduct,
  toProductFields,
  toProductRow,
} from '../../resources/products/row.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import type { Session } from '../../storage/database.ts';
import { formatQuantity } from '../terminal/index.ts';
import type { Check, Storage } from './check.ts';

export function createCounterChecks(database: Storage): Check[] {
  return [createTotalsCheck(database), createRatingsCheck(database), createInvoicesCheck(database)];
}

function createTotalsCheck(database: Storage): Check {
  const { build } = database;
  interface Total {
    readonly status: string;
    /** 0 for products without a category. */
    readonly category_id: number;
    readonly path: string | null;
    readonly kept: number;
    readonly counted: number;
  }
  const wrong = sql<Total>`select status, category_id, path, cast(sum(kept) as integer) as kept,
      cast(sum(counted) as integer) as counted
    from (
      select status, category_id, total as kept, 0 as counted from product_totals
      union all select status, coalesce(category_id, 0), 0, 1 from products
    ) as both_sides left join categories on categories.id = category_id
    group by status, category_id, path having sum(kept) <> sum(counted) order by status, category_id`;
  return {
    name: 'totals of products',
    async find(session) {
      const rows = await session.all(wrong.compile(build));
      return rows.map(
        ({ status, category_id, path, kept, counted }) =>
          `${status} products ${formatCategory(category_id, path)}: ${kept} kept, ${counted} counted`,
      );
    },
    async repair(session) {
      await session.run(sql`delete from product_totals`.compile(build));
      await session.run(
        sql`insert into product_totals (status, category_id, slot, total)
          select status, coalesce(category_id, 0), 0, count(*) from products group by 1, 2`.compile(build),
      );
      createCollectionVersions(database).advance(session, 'products');
    },
  };
}

function formatCategory(id: number, path: string | null): string {
  if (id === 0) return 'without a category';
  return path === null ? `of category ${id}, which does not exist` : `of category ${id} (${path})`;
}

interface Rated extends LockedProduct {
  readonly sum: number;
  readonly count: number;
}

function createRatingsCheck(database: Storage): Check {
  const { build, dialect } = database;
  const rated = sql<Rated>`select ${buildLockedColumns(dialect)},
      cast(coalesce(sum, 0) as integer) as sum, cast(coalesce(count, 0) as integer) as count
    from products left join (
      select product_id, sum(rating) as sum, count(*) as count from reviews group by product_id
    ) as reviewed on product_id = id
    where rating_sum <> coalesce(sum, 0) or rating_count <> coalesce(count, 0) order by id`;
  return {
    name: 'ratings of products',
    async find(session) {
      return (await session.all(rated.compile(build))).map(
        row =>
          `product ${row.id}: ${formatQuantity(row.rating_count, 'review')} with the sum ${row.rating_sum} kept, ${row.count} with ${row.sum} counted`,
      );
    },
    async repair(session, now) {
      for (const row of await session.all(rated.compile(build))) {
        const product = productOf(row);
        const { id } = product;
        const at = Math.max(now, row.updated_at);
        const rating = { average: computeAverage(row.sum, row.count), count: row.count };
        const { document } = toProductRow(toProductFields(product, row.base_price), at, {
          ...toKeptProduct(product),
          rating,
        });
        const values = { document, updated_at: at, rating_sum: row.sum, rating_count: row.count };
        await session.run(build.updateTable('products').set(values).where('id', '=', id).compile());
      }
      createCollectionVersions(database).advance(session, 'products');
    },
  };
}

/** A counter that is behind would issue a number twice. One that is ahead means a lost invoice, and is left alone. */
function createInvoicesCheck({ build }: Storage): Check {
  const readState = async (session: Session) => {
    const query = sql<{ value: number; highest: number; total: number }>`select
      coalesce((select value from counters where name = 'invoices'), 0) as value,
      coalesce(max(number), 0) as highest, cast(count(*) as integer) as total from invoices`;
    return (await session.first(query.compile(build))) ?? { value: 0, highest: 0, total: 0 };
  };
  return {
    name: 'numbers of invoices',
    async find(session) {
      const { value, highest, total } = await readState(session);
      const lines: string[] = [];
      if (value !== highest) lines.push(`the counter is at ${value}, but the highest number is ${highest}`);
      if (total !== highest) lines.push(`the highest number is ${highest}, but there are ${total} invoices`);
      return lines;
    },
    async repair(session) {
      const { value, highest } = await readState(session);
      if (value >= highest) return;
      await session.run(
        sql`insert into counters (name, value) values ('invoices', ${highest})
          on conflict (name) do update set value = excluded.value`.compile(build),
      );
    },
  };
}
