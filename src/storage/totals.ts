/** Keeps the number of products of each status and category, at the end of the transactions that change products. */
import { type CompiledQuery, sql } from 'kysely';
import { createBulk } from './bulk.ts';
import { buildIdsInFurtherCategories, isElsewhere } from './categories/listed.ts';
import { buildVersion } from './changes/versions.ts';
import type { Database, Session, Transaction } from './database.ts';
import { categoryColumn, findCategoryCondition, getPaths, prepareByPaths } from './list/category-plan.ts';
import type { CategoryPlan, Condition, Total } from './list/request.ts';
import { type Arguments, prepareByShape } from './prepared.ts';

/** The columns that a product is counted by. */
interface Counted {
  readonly status: string;
  readonly category_id: number | null;
}

/** The columns whose filters the totals can serve. */
const counted = ['status', 'category_id', categoryColumn];

export function createProductTotals({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  // Without `where true`, SQLite would parse ON CONFLICT as the condition of a join.
  const statement = createBulk(
    { build, dialect },
    'product_totals',
    { status: 'text', category_id: 'integer', total: 'integer' },
    rows => sql`insert into product_totals (status, category_id, total, slot)
      select *, ${dialect.slot} from (${rows}) as given where true
      on conflict (category_id, status, slot) do update set total = product_totals.total + excluded.total`,
  );

  const total = prepareByShape<Arguments, Total>(build, shape => {
    const columns = shape === '' ? [] : shape.split(',');
    const conditions = columns.map(column => sql`and ${sql.ref(column)} = ${null}`);
    return sql<Total>`select cast(coalesce(sum(total), 0) as integer) as total,
      ${buildVersion(dialect, 'products')} as version
      from product_totals where true ${sql.join(conditions, sql` `)}`;
  });

  /** Counts products in a part of the tree: those with their main category there, and those with only a further one. */
  const totalWithin = prepareByPaths(build, (ids, shape, argument) => {
    const status = shape.includes('status') ? sql`and status = ${argument.status}` : sql``;
    const others = shape.includes('further')
      ? sql`+ (select count(*) from products where id in (${buildIdsInFurtherCategories(ids)}) and ${isElsewhere(ids)} ${status})`
      : sql``;
    return sql<Total>`select cast(
      (select coalesce(sum(total), 0) from product_totals where category_id in (${ids}) ${status}) ${others}
      as integer) as total, ${buildVersion(dialect, 'products')} as version`;
  });

  function add(session: Transaction, { status, category_id }: Counted, change: number): void {
    const id = category_id ?? 0;
    const key = `total ${status} ${id}`;
    session.increment({ key, statement, row: amount => [status, id, amount] }, change);
  }

  return {
    /** Counts a change of a product. @param before undefined when it is created @param after undefined when deleted */
    change(session: Transaction, before: Counted | undefined, after: Counted | undefined): void {
      if (before !== undefined) add(session, before, -1);
      if (after !== undefined) add(session, after, 1);
    },

    /** The query of the total, for filters on status and category only; undefined for any other filter. */
    total(conditions: readonly Condition[], categoryPlan?: CategoryPlan): CompiledQuery<Total> | undefined {
      if (conditions.some(({ column }) => !counted.includes(column))) return undefined;
      const tree = findCategoryCondition(conditions);
      if (tree !== undefined) {
        const status = conditions.find(({ column }) => column === 'status')?.value;
        const shape = [
          status === undefined ? '' : 'status',
          categoryPlan?.hasFurther === false ? '' : 'further',
        ];
        return totalWithin(getPaths(tree), shape.join(), { status });
      }
      const shape = conditions.map(({ column }) => column).join();
      return { ...total(shape, {}), parameters: conditions.map(({ value }) => value) };
    },

    async count(session: Session): Promise<number> {
      return (await session.first(total('', {})))?.total ?? 0;
    },
  };
}
