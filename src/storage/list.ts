/**
 * Reads one page of a table in a total order: by offset with an exact total, or from a key onwards.
 *
 * What makes deep pages and totals cheap is remembered per filter and order, together with the collection's
 * version. Each page query also reads that version, in the same statement: what was remembered is used only
 * when the versions agree, so a total is never stale (docs/decisions/0003).
 */

import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Database, Session } from './database.ts';
import { type Arguments, preparedByShape } from './prepared.ts';
import type { Tables } from './tables.ts';

/** Where a row stands in an order: its value in the sort column and its id, which breaks ties. */
export interface Key {
  readonly value: string | number;
  readonly id: number;
}

export interface Comparison {
  readonly column: string;
  readonly operator: '=' | '>=' | '<=';
  readonly value: string | number;
  /** Put the value into the query's text: only for a closed set of values, so that partial indexes apply. */
  readonly literal?: boolean;
  /** The column is one of another table, whose column `key` names the rows of this one that it speaks of. */
  readonly through?: { readonly table: keyof Tables & string; readonly key: string };
}

export interface Absence {
  readonly column: string;
  readonly operator: 'is null';
  readonly value: '';
  readonly literal: true;
}

export type Condition = Comparison | Absence;

export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

export type PageRequest =
  | { readonly kind: 'offset'; readonly page: number; readonly perPage: number }
  | {
      readonly kind: 'key';
      readonly limit: number;
      readonly after?: Key;
      readonly before?: Key;
      readonly count: boolean;
    };

export interface ListRequest {
  readonly conditions: readonly Condition[];
  readonly order: Order;
  readonly page: PageRequest;
}

export interface Listed<Row> {
  readonly rows: readonly (Row & Positioned)[];
  /** Exact; undefined when the request did not ask for it. */
  readonly total: number | undefined;
  /** Whether rows precede or follow this page. */
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

export interface Positioned {
  readonly id: number;
  readonly sort_value: string | number;
}

export interface ListOptions {
  readonly table: keyof Tables & string;
  readonly columns: readonly string[];
  /** The name under which writers advance collection_versions; without it nothing is remembered. */
  readonly collection?: string;
  /** A total that need not be counted; undefined when these conditions have none. */
  readonly keptTotal?: (session: Session, conditions: readonly Condition[]) => Promise<number | undefined>;
}

interface Remembered {
  readonly version: number;
  readonly total: number;
  /** offset → key of the row before it */
  readonly anchors: Map<number, Key>;
}

const rememberedLists = 500;
const anchorsPerList = 256;

export interface Lister<Row> {
  (request: ListRequest): Promise<Listed<Row>>;
  /** Which state the collection is in: a number that every change advances. */
  version(): Promise<number>;
}

/** @returns a function that reads pages of one table; rows carry `columns`, `id` and `sort_value` */
export function lister<Row>(database: Database, options: ListOptions): Lister<Row> {
  const queries = listQueries<Row>(database, options);
  const remembered = new LRUCache<string, Remembered>({ max: rememberedLists });

  async function totalOf(session: Session, request: ListRequest): Promise<number> {
    const kept = await options.keptTotal?.(session, request.conditions);
    return kept ?? (await queries.count(session, request));
  }

  /** What is known of this list in the session's state of the data; counted when it is not known yet. */
  async function recall(session: Session, request: ListRequest, name: string): Promise<Remembered> {
    const version = options.collection === undefined ? Number.NaN : await queries.version(session);
    const known = remembered.get(name);
    if (known !== undefined && known.version === version) return known;
    const fresh = { version, total: await totalOf(session, request), anchors: new Map<number, Key>() };
    if (options.collection !== undefined) remembered.set(name, fresh);
    return fresh;
  }

  async function byOffset(
    request: ListRequest,
    page: { page: number; perPage: number },
  ): Promise<Listed<Row>> {
    const offset = (page.page - 1) * page.perPage;
    const name = nameOf(request);
    const known = remembered.get(name);
    const anchor = known?.anchors.get(offset);
    if (known !== undefined && (offset === 0 || anchor !== undefined)) {
      const rows = await queries.page(database.read, request, page.perPage, anchor);
      if (rows[0] !== undefined && rows[0].version === known.version) return offsetPage(rows, known, offset);
    }
    return database.snapshot(async session => {
      const state = await recall(session, request, name);
      if (offset >= state.total)
        return { rows: [], total: state.total, hasPrevious: offset > 0, hasNext: false };
      const start = offset === 0 ? undefined : await anchorAt(session, request, state, offset);
      const rows = await queries.page(session, request, page.perPage, start);
      return offsetPage(rows, state, offset);
    });
  }

  /** The key of the row before `offset`, walking an index from the nearest key that is known. */
  async function anchorAt(session: Session, request: ListRequest, state: Remembered, offset: number) {
    const exact = state.anchors.get(offset);
    if (exact !== undefined) return exact;
    const nearest = Math.max(0, ...[...state.anchors.keys()].filter(known => known < offset));
    const key = await queries.walk(session, request, offset - nearest - 1, state.anchors.get(nearest));
    if (key !== undefined) remember(state, offset, key);
    return key;
  }

  async function byKey(request: ListRequest, page: PageRequest & { kind: 'key' }): Promise<Listed<Row>> {
    const backwards = page.before !== undefined;
    const start = page.before ?? page.after;
    const read = async (session: Session) => {
      const found = await queries.page(session, request, page.limit + 1, start, backwards);
      const more = found.length > page.limit;
      const rows = more ? found.slice(0, page.limit) : found;
      if (backwards) rows.reverse();
      return { rows, hasPrevious: backwards ? more : start !== undefined, hasNext: backwards || more };
    };
    if (!page.count) return { ...(await read(database.read)), total: undefined };
    return database.snapshot(async session => {
      const { total } = await recall(session, request, nameOf(request));
      return { ...(await read(session)), total };
    });
  }

  const list = (request: ListRequest) =>
    request.page.kind === 'offset' ? byOffset(request, request.page) : byKey(request, request.page);
  return Object.assign(list, { version: () => queries.version(database.read) });
}

function offsetPage<Row>(
  rows: readonly (Row & Positioned)[],
  state: Remembered,
  offset: number,
): Listed<Row> {
  const end = offset + rows.length;
  const last = rows.at(-1);
  if (last !== undefined) remember(state, end, { value: last.sort_value, id: last.id });
  return { rows, total: state.total, hasPrevious: offset > 0, hasNext: end < state.total };
}

function remember(state: Remembered, offset: number, key: Key): void {
  if (state.anchors.size < anchorsPerList || state.anchors.has(offset)) state.anchors.set(offset, key);
}

function nameOf({ conditions, order }: ListRequest): string {
  return `${order.column} ${order.descending} ${JSON.stringify(conditions.map(c => [c.column, c.operator, c.value]))}`;
}

/** The statements of a list, each prepared once per shape of filter, order and direction. */
function listQueries<Row>(database: Database, options: ListOptions) {
  const { types } = database.dialect;
  const table = sql.table(options.table);
  const version = sql`cast((select coalesce(sum(version), 0) from collection_versions
    where collection = ${sql.lit(options.collection ?? '')}) as ${types.real})`;

  const shapes = new Map<string, ListRequest>();
  const requestOf = (shape: string): ListRequest => {
    const request = shapes.get(shape);
    if (request === undefined) throw new Error(`no list has the shape ${shape}`);
    return request;
  };
  const shapeOf = (kind: string, request: ListRequest): string => {
    const shape = `${kind} ${request.order.column} ${request.order.descending} ${request.conditions
      .map(c => `${c.column}${c.operator}${c.literal === true ? c.value : '?'}`)
      .join(' ')}`;
    if (!shapes.has(shape)) shapes.set(shape, request);
    return shape;
  };
  const argumentsOf = (request: ListRequest, extra: Arguments): Arguments => {
    const values: Record<string, unknown> = { ...extra };
    request.conditions.forEach((condition, index) => {
      if (condition.literal !== true) values[`c${index}`] = condition.value;
    });
    return values;
  };

  const pageQuery = preparedByShape<Arguments, Row & Positioned & { version: number }>((shape, argument) => {
    const { conditions, order } = requestOf(shape);
    const columns = sql.join(options.columns.map(column => sql.ref(column)));
    const versionColumn = options.collection === undefined ? sql`` : sql`, ${version} as version`;
    const descending = shape.startsWith('backwards') ? !order.descending : order.descending;
    const seek = shape.includes('-seek ') ? [seekCondition(order.column, descending, argument)] : [];
    return compilable(sql<Row & Positioned & { version: number }>`
      select ${columns}, id, ${sql.ref(order.column)} as sort_value${versionColumn} from ${table}
      ${where([...conditionsSql(conditions, argument), ...seek])}
      ${orderBy(order.column, descending)} limit ${argument.limit}`);
  });

  const walkQuery = preparedByShape<Arguments, Key>((shape, argument) => {
    const { conditions, order } = requestOf(shape);
    const seek = shape.includes('-seek ') ? [seekCondition(order.column, order.descending, argument)] : [];
    return compilable(sql<Key>`
      select ${sql.ref(order.column)} as value, id from ${table}
      ${where([...conditionsSql(conditions, argument), ...seek])}
      ${orderBy(order.column, order.descending)} limit 1 offset ${argument.offset}`);
  });

  const countQuery = preparedByShape<Arguments, { total: number }>((shape, argument) =>
    compilable(sql<{ total: number }>`
      select cast(count(*) as integer) as total from ${table}
      ${where(conditionsSql(requestOf(shape).conditions, argument))}`),
  );

  function compilable<R>(query: RawBuilder<R>) {
    return { compile: () => query.compile(database.build) };
  }
  const versionQuery = compilable(sql<{ version: number }>`select ${version} as version`).compile();

  return {
    page(session: Session, request: ListRequest, limit: number, start: Key | undefined, backwards = false) {
      const kind = `${backwards ? 'backwards' : 'forwards'}${start === undefined ? '' : '-seek'}`;
      const extra = { limit, value: start?.value, id: start?.id };
      return session.all(pageQuery(shapeOf(kind, request), argumentsOf(request, extra)));
    },
    walk(session: Session, request: ListRequest, offset: number, start: Key | undefined) {
      const extra = { offset, value: start?.value, id: start?.id };
      const shape = shapeOf(start === undefined ? 'walk' : 'walk-seek', request);
      return session.first(walkQuery(shape, argumentsOf(request, extra)));
    },
    async count(session: Session, request: ListRequest): Promise<number> {
      const row = await session.first(countQuery(shapeOf('count', request), argumentsOf(request, {})));
      return row?.total ?? 0;
    },
    async version(session: Session): Promise<number> {
      return (await session.first(versionQuery))?.version ?? 0;
    },
  };
}

type Argument = Readonly<Record<string, RawBuilder<unknown>>>;

function conditionsSql(conditions: readonly Condition[], argument: Argument): RawBuilder<unknown>[] {
  return conditions.map((condition, index) => {
    if (condition.operator === 'is null') return sql`${sql.ref(condition.column)} is null`;
    const value = condition.literal === true ? sql.lit(condition.value) : argument[`c${index}`];
    const meets = sql`${sql.ref(condition.column)} ${sql.raw(condition.operator)} ${value}`;
    const { through } = condition;
    return through === undefined
      ? meets
      : sql`id in (select ${sql.ref(through.key)} from ${sql.table(through.table)} where ${meets})`;
  });
}

/** Rows strictly past a key. A row value comparison is one index seek on both databases. */
function seekCondition(column: string, descending: boolean, argument: Argument): RawBuilder<unknown> {
  const operator = sql.raw(descending ? '<' : '>');
  if (column === 'id') return sql`id ${operator} ${argument.id}`;
  return sql`(${sql.ref(column)}, id) ${operator} (${argument.value}, ${argument.id})`;
}

function where(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
}

function orderBy(column: string, descending: boolean): RawBuilder<unknown> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  return column === 'id'
    ? sql`order by id ${direction}`
    : sql`order by ${sql.ref(column)} ${direction}, id ${direction}`;
}
