/**
 * Which lists are read in the background. SQLite reads in the thread that calls it, and the event loop serves nothing
 * meanwhile: a query that counts, sorts or passes very many rows runs in another thread. PostgreSQL reads in processes of
 * its own.
 */
import type { Database } from '../database.ts';
import type { ListQueries } from './queries.ts';
import { type Condition, hasSetCondition, type ListOptions, type ListRequest } from './request.ts';

/** So many rows are read, one by one in another order than theirs, within some milliseconds. */
export const shortlyRead = 5000;

/** Whether a page of this list, even the first, may have to read very many rows; deep pages are checked elsewhere. */
export function createBackgroundRule<Row>(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  { rangeColumn, countedColumns = [], keptTotal }: ListOptions<Row>,
  queries: ListQueries<Row>,
): (request: ListRequest) => boolean | Promise<boolean> {
  if (dialect.name !== 'sqlite') return () => false;

  const isCounted = ({ column }: Condition): boolean =>
    column === rangeColumn || countedColumns.includes(column);

  /** Whether few rows are left before any are counted, by a total that is kept. */
  async function isNarrow({ conditions, resolved, categoryPlan }: ListRequest): Promise<boolean> {
    const others = (resolved ?? conditions).filter(condition => !isCounted(condition));
    const kept = others.length === 0 ? undefined : keptTotal?.(others, categoryPlan);
    const total = kept === undefined ? undefined : (await read.first(kept))?.total;
    return total !== undefined && total <= shortlyRead;
  }

  async function isLarge(): Promise<boolean> {
    // Ids are given in order: there are no more rows than the last one says.
    const all = keptTotal?.([]);
    const kept = all === undefined ? undefined : (await read.first(all))?.total;
    return (kept ?? (await queries.lastId(read))) > shortlyRead;
  }
  return request => {
    const { conditions, order, page } = request;
    if (hasSetCondition(request)) return isLarge();
    // Where totals are kept, only ranges and some columns are counted; lists of categories have a plan
    // (category-plan.ts).
    if (rangeColumn !== undefined) {
      if (!conditions.some(isCounted)) return false;
      return isLarge().then(async large => large && !(await isNarrow(request)));
    }
    if (order.column !== 'id') return isLarge();
    // Columns that name rows of another table have an index, and few rows have one in common.
    const isOfAnother = conditions.some(({ column, operator }) => column.endsWith('_id') && operator === '=');
    const hasTotal = page.kind === 'offset' || page.count;
    return !isOfAnother && (hasTotal || conditions.length > 0) && isLarge();
  };
}
