/** How many products categories have: from the totals that the transactions of products keep. */
import { type RawBuilder, sql } from 'kysely';
import type { Database, Session } from '../../storage/database.ts';
import type { StoredCategory } from './row.ts';

/** What is in a category. */
export interface CategoryContent {
  /** The products in it and in all below it, each counted once. */
  readonly products: number;
  readonly hasChildren: boolean;
}

type Contents = ReadonlyMap<number, CategoryContent>;

export interface CategoryCounts {
  /** By the ids of the categories. */
  below(session: Session, rows: readonly Pick<StoredCategory, 'id'>[]): Promise<Contents>;
  /** The same as they are now, without keeping others waiting. */
  read(rows: readonly Pick<StoredCategory, 'id'>[]): Promise<Contents>;
  /** Those in the category itself. */
  direct(session: Session, id: number): Promise<number>;
}

/** So many categories, and products that are listed in further ones, are counted within some milliseconds. */
const shortlyCounted = 2000;

interface Count {
  readonly id: number;
  readonly total: number;
}

export function createCategoryCounts(database: Database): CategoryCounts {
  const { build } = database;
  /** That a category is `root` or below it; the first two say so of a range of the index. */
  const isIn = (name: string) => {
    const path = sql.ref(`${name}.path`);
    return sql`${path} >= roots.path and ${path} < roots.path || ' >!'
      and (${path} = roots.path or ${path} >= roots.path || ' > ')`;
  };
  const buildOwnQuery = (ids: RawBuilder<unknown>) => sql<Count>`
    select roots.id, cast(sum(total) as integer) as total
    from categories as roots cross join categories as below
      cross join product_totals
    where roots.id in (${ids}) and ${isIn('below')} and product_totals.category_id = below.id
    group by roots.id`;
  const buildFurtherQuery = (ids: RawBuilder<unknown>) => sql<Count>`
    select roots.id, cast(count(distinct product_categories.product_id) as integer) as total
    from categories as roots cross join categories as below
      cross join product_categories
      cross join products left join categories as main on main.id = products.category_id
    where roots.id in (${ids}) and ${isIn('below')} and product_categories.category_id = below.id
      and products.id = product_categories.product_id and (main.id is null or not (${isIn('main')}))
    group by roots.id`;
  const anyFurther = sql<{ found: number }>`select 1 as found from product_categories limit 1`.compile(build);
  const many = sql<{ total: number }>`select
    (select count(*) from (select 1 from categories limit ${sql.lit(shortlyCounted)}) as first) +
    (select count(*) from (select 1 from product_categories limit ${sql.lit(shortlyCounted)}) as others)
    as total`.compile(build);

  const buildParentsQuery = (ids: RawBuilder<unknown>) =>
    sql<{ id: number }>`select id from categories as roots where id in (${ids})
      and exists (select 1 from categories as below where below.parent_id = roots.id)`;

  async function countBelow(
    session: Session,
    rows: readonly Pick<StoredCategory, 'id'>[],
  ): Promise<Contents> {
    const totals = new Map<number, number>();
    if (rows.length === 0) return new Map();
    const ids = sql.join(rows.map(({ id }) => id));
    const parts = [buildOwnQuery(ids)];
    if ((await session.first(anyFurther)) !== undefined) parts.push(buildFurtherQuery(ids));
    for (const part of parts) {
      for (const { id, total } of await session.all(part.compile(build)))
        totals.set(id, (totals.get(id) ?? 0) + total);
    }
    const parents = new Set((await session.all(buildParentsQuery(ids).compile(build))).map(({ id }) => id));
    return new Map(
      rows.map(({ id }) => [id, { products: totals.get(id) ?? 0, hasChildren: parents.has(id) }]),
    );
  }

  return {
    below: countBelow,
    async read(rows) {
      const isLong = ((await database.read.first(many))?.total ?? 0) >= shortlyCounted;
      return database.snapshot(session => countBelow(session, rows), { background: isLong });
    },
    async direct(session, id) {
      const query = sql<{ total: number }>`select cast(
        (select coalesce(sum(total), 0) from product_totals where category_id = ${id}) +
        (select count(*) from product_categories where category_id = ${id}) as integer) as total`;
      return (await session.first(query.compile(build)))?.total ?? 0;
    },
  };
}
