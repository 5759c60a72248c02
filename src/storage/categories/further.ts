/** Counts the products of a category other than those whose main category is this one or below it. */
import { type RawBuilder, sql } from 'kysely';
import { readPaced } from '../../turns/slices.ts';
import type { Database, Session } from '../database.ts';
import { prepareQuery } from '../prepared.ts';

export interface Count {
  readonly id: number;
  readonly total: number;
}

/** A product of a category, and whether it counts there: not if its main category or another one counts it. */
interface Listed {
  readonly path: string;
  readonly id: number;
  readonly counts: boolean | number;
}

/**
 * The condition that a category is `roots` or below it; the first two comparisons select a range of the index.
 * @param first the path from which on the range is selected
 */
export function isInRoot(name: string, first = sql`roots.path`): RawBuilder<unknown> {
  const path = sql.ref(`${name}.path`);
  return sql`${path} >= ${first} and ${path} < roots.path || ' >!'
    and (${path} = roots.path or ${path} >= roots.path || ' > ')`;
}

const any = sql<{ found: number }>`select 1 as found from product_categories limit 1`;

export function createFurtherCounts({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const buildQuery = (ids: RawBuilder<unknown>) => sql<Count>`
    select roots.id, cast(count(distinct product_categories.product_id) as integer) as total
    from categories as roots cross join categories as below
      cross join product_categories
      cross join products left join categories as main on main.id = products.category_id
    where roots.id in (${ids}) and ${isInRoot('below')} and product_categories.category_id = below.id
      and products.id = product_categories.product_id and (main.id is null or not (${isInRoot('main')}))
    group by roots.id`;
  // One statement reads the products of many categories: most have few, and a statement for each would take longer.
  const listedAfter = prepareQuery<{ root: number; path: string | null; id: number; limit: number }, Listed>(
    build,
    ({ root, path, id, limit }) => sql`
      select below.path, listed.product_id as id, (main.id is null or not (${isInRoot('main')}))
        and not exists (select 1 from product_categories as others
          join categories as other on other.id = others.category_id
          where others.product_id = listed.product_id and other.id < listed.category_id
            and ${isInRoot('other')}) as counts
      from categories as roots cross join categories as below cross join product_categories as listed
        cross join products left join categories as main on main.id = products.category_id
      where roots.id = ${root} and ${isInRoot('below', sql`coalesce(${path}, roots.path)`)}
        and listed.category_id = below.id
        and listed.product_id > case when below.path = ${path} then ${id} else 0 end
        and products.id = listed.product_id
      order by below.path, listed.product_id limit ${limit}`,
  );

  /** Omits categories that have none. */
  async function count(session: Session, ids: readonly number[]): Promise<readonly Count[]> {
    if ((await session.first(any.compile(build))) === undefined) return [];
    return session.all(buildQuery(sql.join(ids)).compile(build));
  }

  /** Counts some products at a time, category by category. */
  async function countInTurns(session: Session, root: number): Promise<readonly Count[]> {
    let total = 0;
    const pages = readPaced<Listed>((limit, last) =>
      session.all(listedAfter({ root, path: last?.path ?? null, id: last?.id ?? 0, limit })),
    );
    for await (const rows of pages) total += rows.filter(({ counts }) => counts).length;
    return [{ id: root, total }];
  }

  return {
    count,
    /** For transactions: on an embedded database, each of their statements blocks the event loop until it ends. */
    countOne: (session: Session, id: number): Promise<readonly Count[]> =>
      dialect.name === 'sqlite' ? countInTurns(session, id) : count(session, [id]),
  };
}
