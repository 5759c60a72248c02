/**
 * Which lists are read in the background. On SQLite nobody is answered while the thread that serves reads: what counts,
 * sorts or passes very many rows is read by another. PostgreSQL reads in processes of its own.
 */
import type { Database } from '../database.ts';
import type { ListQueries } from './queries.ts';
import type { Condition, ListOptions, ListRequest } from './request.ts';

/** So many rows are read, one by one in another order than theirs, within some milliseconds. */
export const shortlyRead = 5000;

/** Whether a page of this list, be it the first, may have to read very many rows; deep pages are another question. */
export function backgroundRule<Row>(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  { rangeColumn, countedColumns = [], keptTotal }: ListOptions<Row>,
  queries: ListQueries<Row>,
): (request: ListRequest) => boolean | Promise<boolean> {
  if (dialect.name !== 'sqlite') return () => false;

  async function isLarge(): Promise<boolean> {
    // Ids are given in order: there are no more rows than the last one says.
    const all = keptTotal?.([]);
    const kept = all === undefined ? undefined : (await read.first(all))?.total;
    return (kept ?? (await queries.lastId(read))) > shortlyRead;
  }
  return ({ conditions, order, page }) => {
    if (conditions.some(({ operator }) => operator === 'attribute')) return isLarge();
    // Where totals are kept, only ranges and some columns are counted, and there is an index for every filter and order.
    if (rangeColumn !== undefined) {
      const isCounted = ({ column }: Condition) => column === rangeColumn || countedColumns.includes(column);
      return conditions.some(isCounted) && isLarge();
    }
    if (order.column !== 'id') return isLarge();
    // Columns that name rows of another table have an index, and few rows have one in common.
    const isNarrow = conditions.some(({ column, operator }) => column.endsWith('_id') && operator === '=');
    const isCounted = page.kind === 'offset' || page.count;
    return !isNarrow && (isCounted || conditions.length > 0) && isLarge();
  };
}
