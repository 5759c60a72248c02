/** The number of products in categories, from the totals that product transactions maintain. */
import { type RawBuilder, sql } from 'kysely';
import { type Count, createFurtherCounts, isInRoot } from '../../storage/categories/further.ts';
import type { Database, Session } from '../../storage/database.ts';
import type { StoredCategory } from './row.ts';

export interface CategoryContent {
  /** The products in the category and all its descendants, each counted once. */
  readonly products: number;
  readonly hasChildren: boolean;
}

export const noContent: CategoryContent = { products: 0, hasChildren: false };

type Contents = ReadonlyMap<number, CategoryContent>;

/** Fewer categories and products in further ones, together, are counted within a few milliseconds. */
const shortlyCounted = 2000;

export function createCategoryCounts(database: Database) {
  const { build } = database;
  const further = createFurtherCounts(database);
  const buildOwnQuery = (ids: RawBuilder<unknown>) => sql<Count>`
    select roots.id, cast(sum(total) as integer) as total
    from categories as roots cross join categories as below
      cross join product_totals
    where roots.id in (${ids}) and ${isInRoot('below')} and product_totals.category_id = below.id
    group by roots.id`;
  const many = sql<{ total: number }>`select
    (select count(*) from (select 1 from categories limit ${sql.lit(shortlyCounted)}) as first) +
    (select count(*) from (select 1 from product_categories limit ${sql.lit(shortlyCounted)}) as others)
    as total`.compile(build);

  const buildParentsQuery = (ids: RawBuilder<unknown>) =>
    sql<{ id: number }>`select id from categories as roots where id in (${ids})
      and exists (select 1 from categories as below where below.parent_id = roots.id)`;

  async function countBelow(
    session: Session,
    rows: readonly number[],
    count: (session: Session, ids: readonly number[]) => Promise<readonly Count[]>,
  ): Promise<Contents> {
    const totals = new Map<number, number>();
    if (rows.length === 0) return new Map();
    const ids = sql.join(rows);
    const own = await session.all(buildOwnQuery(ids).compile(build));
    for (const { id, total } of [...own, ...(await count(session, rows))])
      totals.set(id, (totals.get(id) ?? 0) + total);
    const parents = new Set((await session.all(buildParentsQuery(ids).compile(build))).map(({ id }) => id));
    return new Map(rows.map(id => [id, { products: totals.get(id) ?? 0, hasChildren: parents.has(id) }]));
  }

  return {
    /** The content of one category, as a transaction sees it. */
    async below(session: Session, id: number): Promise<CategoryContent> {
      const counts = await countBelow(session, [id], () => further.countOne(session, id));
      return counts.get(id) ?? noContent;
    },
    async read(rows: readonly Pick<StoredCategory, 'id'>[]): Promise<Contents> {
      const isLong = ((await database.read.first(many))?.total ?? 0) >= shortlyCounted;
      const ids = rows.map(({ id }) => id);
      return database.snapshot(session => countBelow(session, ids, further.count), { background: isLong });
    },
    async direct(session: Session, id: number): Promise<number> {
      const query = sql<{ total: number }>`select cast(
        (select coalesce(sum(total), 0) from product_totals where category_id = ${id}) +
        (select count(*) from product_categories where category_id = ${id}) as integer) as total`;
      return (await session.first(query.compile(build)))?.total ?? 0;
    },
  };
}
