/** Hits in the order of a column instead of best first. */
import { sql } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import { has, toRowSet } from '../columns/rows.ts';
import type { Database, Session } from '../database.ts';
import { cutKeyPage, type Listed, type Order, type PageRequest } from '../list/request.ts';

/** For more products than this, all rows are read in the order of the column, and other products are skipped. */
const manyIds = 20_000;
const rowsAtOnce = 1000;

export interface SortedRow {
  readonly id: number;
  readonly sort_value: string | number;
}

/** @returns a function that reads a page of the products of these ids */
export function createSortedReader({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const buildAmong = (ids: readonly number[]) =>
    dialect.name === 'sqlite'
      ? sql`id in (select value from json_each(${`[${ids.join()}]`}))`
      : sql`id = any(string_to_array(${ids.join()}, ',')::integer[])`;

  return async (
    session: Session,
    ids: readonly number[],
    { column, descending }: Order,
    page: PageRequest,
  ): Promise<Listed<SortedRow>> => {
    const total = ids.length;
    const those = total > manyIds ? toRowSet(ids) : undefined;
    type Start = { readonly value: unknown; readonly id: number } | undefined;
    const buildPart = (limit: number, offset: number, start: Start, backwards: boolean) => {
      const isDown = descending !== backwards;
      const direction = sql.raw(isDown ? 'desc' : 'asc');
      const name = sql.ref(column);
      const seek =
        start === undefined
          ? sql``
          : sql`and (${name}, id) ${sql.raw(isDown ? '<' : '>')} (${start.value}, ${start.id})`;
      const own = those === undefined ? buildAmong(ids) : sql`true`;
      const query = sql<SortedRow>`select id, ${name} as sort_value from products where ${own} ${seek}
        order by ${name} ${direction}, id ${direction} limit ${limit} offset ${offset}`;
      return session.all(query.compile(build));
    };
    const read = async (limit: number, offset: number, start: Start, backwards: boolean) => {
      if (those === undefined) return buildPart(limit, offset, start, backwards);
      const found: SortedRow[] = [];
      let left = offset;
      for (let from = start; ; ) {
        const rows = await buildPart(rowsAtOnce, 0, from, backwards);
        for (const row of rows) {
          if (!has(those, row.id)) continue;
          if (left > 0) left -= 1;
          else if (found.push(row) === limit) return found;
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < rowsAtOnce) return found;
        from = { value: last.sort_value, id: last.id };
        await takeTurn();
      }
    };
    if (page.kind === 'offset') {
      const offset = (page.page - 1) * page.perPage;
      const rows = offset < total ? await read(page.perPage, offset, undefined, false) : [];
      return { rows, total, hasPrevious: offset > 0, hasNext: offset + rows.length < total };
    }
    const found = await read(page.limit + 1, 0, page.before ?? page.after, page.before !== undefined);
    return { ...cutKeyPage(page, found), total: page.count ? total : undefined };
  };
}
