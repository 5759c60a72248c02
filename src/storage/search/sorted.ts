/** Hits in the order of a column instead of how good they are. */
import { sql } from 'kysely';
import type { Database, Session } from '../database.ts';
import type { Listed, Order, PageRequest } from '../list/request.ts';

export interface SortedRow {
  readonly id: number;
  readonly sort_value: string | number;
}

/** @returns a function that reads a page of the products of these ids */
export function sortedReader({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const among = (ids: readonly number[]) =>
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
    const read = (
      limit: number,
      offset: number,
      start: { value: unknown; id: number } | undefined,
      backwards: boolean,
    ) => {
      const isDown = descending !== backwards;
      const direction = sql.raw(isDown ? 'desc' : 'asc');
      const name = sql.ref(column);
      const seek =
        start === undefined
          ? sql``
          : sql`and (${name}, id) ${sql.raw(isDown ? '<' : '>')} (${start.value}, ${start.id})`;
      const query = sql<SortedRow>`select id, ${name} as sort_value from products where ${among(ids)} ${seek}
        order by ${name} ${direction}, id ${direction} limit ${limit} offset ${offset}`;
      return session.all(query.compile(build));
    };
    if (page.kind === 'offset') {
      const offset = (page.page - 1) * page.perPage;
      const rows = offset < total ? await read(page.perPage, offset, undefined, false) : [];
      return { rows, total, hasPrevious: offset > 0, hasNext: offset + rows.length < total };
    }
    const backwards = page.before !== undefined;
    const start = page.before ?? page.after;
    const found = await read(page.limit + 1, 0, start, backwards);
    const more = found.length > page.limit;
    const rows = more ? found.slice(0, page.limit) : found;
    if (backwards) rows.reverse();
    return {
      rows,
      total: page.count ? total : undefined,
      hasPrevious: backwards ? more : start !== undefined,
      hasNext: backwards || more,
    };
  };
}
