/**
 * Decides which lists are read in the background. SQLite runs in the thread that calls it, and would block the event
 * loop: a query that counts, sorts or skips very many rows runs in another thread. PostgreSQL has its own processes.
 */
import type { Database } from '../database.ts';
import type { ListQueries } from './queries.ts';
import { type Condition, hasSetCondition, type ListOptions, type ListRequest } from './request.ts';

/** Rows that can be read within some milliseconds, one by one and not in the order in which they are stored. */
export const shortlyRead = 5000;

/** Whether even the first page of a list may have to read very many rows; deep pages are checked elsewhere. */
export function createBackgroundRule<Row>(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  { rangeColumn, countedColumns = [], keptTotal }: ListOptions<Row>,
  queries: ListQueries<Row>,
): (request: ListRequest) => boolean | Promise<boolean> {
  if (dialect.name !== 'sqlite') return () => false;

  const isCounted = ({ column }: Condition): boolean =>
    column === rangeColumn || countedColumns.includes(column);

  /** Whether a kept total shows that the conditions that need no counting leave few rows. */
  async function isNarrow({ conditions, resolved, categoryPlan }: ListRequest): Promise<boolean> {
    const others = (resolved ?? conditions).filter(condition => !isCounted(condition));
    const kept = others.length === 0 ? undefined : keptTotal?.(others, categoryPlan);
    const total = kept === undefined ? undefined : (await read.first(kept))?.total;
    return total !== undefined && total <= shortlyRead;
  }

  async function isLarge(): Promise<boolean> {
    // Ids are assigned in order, so the last one is at least the number of rows.
    const all = keptTotal?.([]);
    const kept = all === undefined ? undefined : (await read.first(all))?.total;
    return (kept ?? (await queries.lastId(read))) > shortlyRead;
  }
  return request => {
    const { conditions, order, page } = request;
    if (hasSetCondition(request)) return isLarge();
    // Where totals are kept, only ranges and some columns need counting; lists of categories have a plan
    // (category-plan.ts).
    if (rangeColumn !== undefined) {
      if (!conditions.some(isCounted)) return false;
      return isLarge().then(async large => large && !(await isNarrow(request)));
    }
    if (order.column !== 'id') return isLarge();
    // Columns that refer to another table have an index, and few rows share a value.
    const isOfAnother = conditions.some(({ column, operator }) => column.endsWith('_id') && operator === '=');
    const hasTotal = page.kind === 'offset' || page.count;
    return !isOfAnother && (hasTotal || conditions.length > 0) && isLarge();
  };
}
