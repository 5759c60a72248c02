/** Pages of a list in memory: the few images of a product, which are read with the product. */
import type { Key, Listed, ListRequest, Positioned } from '../../storage/list/request.ts';

/** @param rows the whole list, in ascending order of `sort_value` and then id */
export function pickPage<Row extends Positioned>(
  rows: readonly Row[],
  { page, order }: ListRequest,
): Listed<Row> {
  const ordered = order.descending ? rows.toReversed() : rows;
  const total = rows.length;
  if (page.kind === 'offset') {
    const start = (page.page - 1) * page.perPage;
    const end = start + page.perPage;
    return {
      rows: ordered.slice(start, end),
      total,
      hasPrevious: start > 0 && total > 0,
      hasNext: end < total,
    };
  }
  const sign = order.descending ? -1 : 1;
  const compareTo = (key: Key) => (row: Row) =>
    sign * (Number(row.sort_value) - Number(key.value) || row.id - key.id);
  const { after, before, limit } = page;
  const firstAfter = after === undefined ? 0 : countRows(ordered, row => compareTo(after)(row) <= 0);
  const end =
    before === undefined ? firstAfter + limit : countRows(ordered, row => compareTo(before)(row) < 0);
  const start = before === undefined ? firstAfter : Math.max(0, end - limit);
  return {
    rows: ordered.slice(start, end),
    total: page.count ? total : undefined,
    hasPrevious: start > 0,
    hasNext: end < total,
  };
}

const countRows = <Row>(rows: readonly Row[], holds: (row: Row) => boolean): number =>
  rows.filter(holds).length;
