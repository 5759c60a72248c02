/** The statements of a list, each prepared once per shape of filter, order and direction. */
import { type RawBuilder, sql } from 'kysely';
import { createBoundedMap } from '../../bounded-map.ts';
import { takeTurn } from '../../turns/index.ts';
import { maxAtOnce, prepareByKeys } from '../batched-lookups.ts';
import { buildVersion } from '../changes/versions.ts';
import type { Database, Session } from '../database.ts';
import { type Arguments, keptShapes, prepareByShape } from '../prepared.ts';
import type { Condition, JoinCondition, Key, ListOptions, ListRequest, Positioned } from './request.ts';
import {
  type Argument,
  buildConditionArguments,
  buildCount,
  buildMergedSource,
  buildSource,
  buildWhere,
  toConditionShape,
} from './sources.ts';

/** Rows per statement where it blocks the event loop until its end: each row may be a megabyte. */
const embeddedAtOnce = 20;
const longAtOnce = 4;
/** Rows are long if they have more than this many characters on average. */
const longRow = 50_000;
/** A text is long if it has at least this many bytes. */
const longText = 10_000;

/** Selects the rows of a list that make a page. */
export interface Part {
  readonly limit: number;
  /** The key that the page follows, or precedes; undefined for the first page. */
  readonly start?: Key | undefined;
  readonly backwards?: boolean;
}

/** The position of a row in the list, and the collection's version when it was read. */
export type Versioned = Positioned & { readonly version: number };

const getConditions = ({ conditions, resolved }: ListRequest): readonly Condition[] => resolved ?? conditions;
const isJoined = ({ conditions }: Pick<ListRequest, 'conditions'>): boolean =>
  conditions.some(condition => 'join' in condition);

/** Whether long texts of a row were left out; a number, as SQLite has no booleans. */
interface Shortened {
  readonly is_long: number;
}

export type ListQueries<Row> = ReturnType<typeof createListQueries<Row>>;

export function createListQueries<Row>(database: Database, options: ListOptions<Row>) {
  const version = buildVersion(database.dialect, options.collection?.name ?? '');

  type ReadRow = Row & Omit<Versioned, 'sort_value'>;
  const usualAtOnce = options.longColumns === undefined ? embeddedAtOnce : longAtOnce;
  const isEmbedded = database.dialect.name === 'sqlite';

  /** The requests that the most recent shapes stand for, from which their statements are built. */
  const shapes = createBoundedMap<string, ListRequest>(keptShapes);
  const requireRequest = (shape: string): ListRequest => {
    const request = shapes.get(shape);
    if (request === undefined) throw new Error(`no list has the shape ${shape}`);
    return request;
  };
  const registerShape = (kind: string, request: ListRequest): string => {
    const probed = request.joinPlan?.probed === true ? ' probed' : '';
    const { categoryPlan, order, value = order.column } = request;
    const tree =
      categoryPlan === undefined
        ? ''
        : ` ${categoryPlan.kind} ${categoryPlan.ids.length} ${categoryPlan.hasFurther} ${categoryPlan.isWide}`;
    const conditions = getConditions(request);
    const filter = conditions.map(toConditionShape).join(' ');
    const shape = `${kind}${probed}${tree} ${value} ${order.column} ${order.descending} ${filter}`;
    if (shapes.get(shape) === undefined) shapes.set(shape, { ...request, conditions });
    return shape;
  };
  const buildArguments = (request: ListRequest, extra: Arguments): Arguments => {
    const values: Record<string, unknown> = { ...extra, ...buildConditionArguments(getConditions(request)) };
    for (const [number, id] of (request.categoryPlan?.ids ?? []).entries()) values[`w${number}`] = id;
    return values;
  };

  const columns = buildColumnsSql(options);
  const versionColumn = options.collection === undefined ? sql`` : sql`, ${version} as version`;

  /** For shapes that begin with `keys`, selects only keys, which indexes have without the table. */
  const pageQuery = prepareByShape<Arguments, Row & Versioned>(database.build, (shape, argument) => {
    const { order, value = order.column, ...request } = requireRequest(shape);
    const shown = buildShown(shape, options);
    const descending = shape.includes('backwards') ? !order.descending : order.descending;
    const buildSeek = (id: string) =>
      shape.includes('-seek ') ? [buildSeekCondition(order.column, id, descending, argument)] : [];
    if (request.categoryPlan?.kind === 'merged' && !isJoined(request)) {
      const source = buildMergedSource(request, [order.column, value], argument, buildSeek('id'));
      const direction = sql.raw(descending ? 'desc' : 'asc');
      const sorted = sql`order by place ${direction}, product_id ${direction}`;
      const listed = sql`(${source} ${sorted} limit ${argument.limit}) as listed`;
      if (shape.startsWith('keys'))
        return sql<Row & Versioned>`
          select product_id as id, value as sort_value${versionColumn} from ${listed} ${sorted}`;
      return sql<Row & Versioned>`
        select ${shown} id, place as sort_value${versionColumn}
        from ${listed} cross join ${sql.table(options.table)} where product_id = id ${sorted}`;
    }
    const { from, conditions, id } = buildSource(options.table, request, argument);
    const seek = buildSeek(id);
    // A short row has null in place of a column, whose name would mean that null.
    const sorted = shape.startsWith('short') && order.column !== 'id' ? 'sort_value' : order.column;
    return sql<Row & Versioned>`
      select ${shown} id, ${sql.ref(value)} as sort_value${versionColumn} from ${from}
      ${buildWhere([...conditions, ...seek])}
      ${buildOrderBy(sorted, id, descending)} limit ${argument.limit}`;
  });

  const rowsQuery = prepareByKeys<ReadRow>(size =>
    sql<ReadRow>`select ${columns}, id${versionColumn}
      from ${sql.table(options.table)} where id in (${sql.join(new Array(size).fill(null))})`.compile(
      database.build,
    ),
  );
  const readRows = (session: Session, ids: readonly number[]): Promise<ReadRow[]> =>
    options.rowsById?.(session, ids) ?? session.all(rowsQuery(ids));

  const walkQuery = prepareByShape<Arguments, Key>(database.build, (shape, argument) => {
    const { order, ...request } = requireRequest(shape);
    const { from, conditions, id } = buildSource(options.table, request, argument);
    const { column, descending } = order;
    const seek = shape.includes('-seek ') ? [buildSeekCondition(column, id, descending, argument)] : [];
    return sql<Key>`
      select ${sql.ref(column)} as value, id from ${from}
      ${buildWhere([...conditions, ...seek])}
      ${buildOrderBy(column, id, descending)} limit 1 offset ${argument.offset}`;
  });

  const countQuery = prepareByShape<Arguments, { total: number }>(database.build, (shape, argument) => {
    return buildCount(options.table, requireRequest(shape), argument);
  });

  function buildPagePart(kind: string, request: ListRequest, { limit, start, backwards = false }: Part) {
    const shape = `${kind}${backwards ? 'backwards' : 'forwards'}${start === undefined ? '' : '-seek'}`;
    const extra = { limit, value: start?.value, id: start?.id };
    return pageQuery(registerShape(shape, request), buildArguments(request, extra));
  }
  const versionQuery = sql<{ version: number }>`select ${version} as version`.compile(database.build);
  const lastIdQuery = sql<{
    id: number | null;
  }>`select max(id) as id from ${sql.table(options.table)}`.compile(database.build);

  return {
    page(session: Session, request: ListRequest, part: Part): Promise<(Row & Versioned)[]> {
      return session.all(buildPagePart('', request, part));
    },
    /** As `page`, but only the keys of the rows. */
    keys(session: Session, request: ListRequest, part: Part): Promise<Versioned[]> {
      return session.all(buildPagePart('keys-', request, part));
    },
    /** As `page`, with null for long texts. */
    short(session: Session, request: ListRequest, part: Part): Promise<(Row & Versioned & Shortened)[]> {
      return session.all({ ...buildPagePart('short-', request, part) });
    },
    /** Reads rows by their ids, in any order; rows of different statements may be of different states. */
    rows: createPartReader(readRows, isEmbedded ? usualAtOnce : maxAtOnce, isEmbedded),
    walk(session: Session, request: ListRequest, offset: number, start: Key | undefined) {
      const extra = { offset, value: start?.value, id: start?.id };
      const shape = registerShape(start === undefined ? 'walk' : 'walk-seek', request);
      return session.first(walkQuery(shape, buildArguments(request, extra)));
    },
    async count(session: Session, request: ListRequest): Promise<number> {
      const row = await session.first(
        countQuery(registerShape('count', request), buildArguments(request, {})),
      );
      return row?.total ?? 0;
    },
    /** Whether more than `rows` rows match a condition on another table. */
    async hasMore(session: Session, { column, value, join }: JoinCondition, rows: number) {
      const query = sql<{ total: number }>`select cast(count(*) as integer) as total from
        (select 1 from ${sql.table(join.table)} where ${sql.ref(column)} = ${value} limit ${rows + 1}) as found`;
      return ((await session.first(query.compile(database.build)))?.total ?? 0) > rows;
    },
    async lastId(session: Session): Promise<number> {
      return (await session.first(lastIdQuery))?.id ?? 0;
    },
    async version(session: Session): Promise<number> {
      return (await session.first(versionQuery))?.version ?? 0;
    },
  };
}

function buildColumnsSql({ columns }: Pick<ListOptions, 'columns'>): RawBuilder<unknown> {
  const list = Array.isArray(columns)
    ? columns.map(column => sql.ref(column))
    : Object.entries(columns).map(([name, value]) => sql`${value} as ${sql.ref(name)}`);
  return sql.join(list);
}

function buildShown(shape: string, options: ListOptions): RawBuilder<unknown> {
  if (shape.startsWith('keys')) return sql``;
  return sql`${shape.startsWith('short') ? buildShortColumns(options) : buildColumnsSql(options)},`;
}

/**
 * Leaves out rows with long texts without reading them: octet_length does not need the text. What follows a long text in
 * its row is left out too, since SQLite finds it by way of all pages of the text.
 */
function buildShortColumns({ columns, longColumns = [] }: ListOptions): RawBuilder<unknown> {
  const names = Array.isArray(columns) ? columns : Object.keys(columns);
  const lengths = longColumns.map(name => sql`coalesce(octet_length(${sql.ref(name)}), 0)`);
  const isLong = sql`${sql.join([sql`0`, ...lengths], sql` + `)} >= ${sql.lit(longText)}`;
  const list = names.map(
    name => sql`case when not (${isLong}) then ${sql.ref(name)} end as ${sql.ref(name)}`,
  );
  return sql`${sql.join(list)}, ${isLong} as is_long`;
}

/** Selects rows strictly past a key. A row value comparison is one index seek on both databases. */
function buildSeekCondition(
  column: string,
  id: string,
  descending: boolean,
  argument: Argument,
): RawBuilder<unknown> {
  const operator = sql.raw(descending ? '<' : '>');
  if (column === 'id') return sql`${sql.ref(id)} ${operator} ${argument.id}`;
  return sql`(${sql.ref(column)}, id) ${operator} (${argument.value}, ${argument.id})`;
}

function buildOrderBy(column: string, id: string, descending: boolean): RawBuilder<unknown> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  return column === 'id'
    ? sql`order by ${sql.ref(id)} ${direction}`
    : sql`order by ${sql.ref(column)} ${direction}, id ${direction}`;
}

/**
 * @param usual the number of rows per statement
 * @param adapts whether it is reduced after long rows: the rows that are listed with them, or next, are often long too
 */
function createPartReader<Row extends object>(
  read: (session: Session, ids: readonly number[]) => Promise<Row[]>,
  usual: number,
  adapts: boolean,
) {
  let atOnce = usual;
  return async (session: Session, ids: readonly number[]): Promise<Row[]> => {
    const rows: Row[] = [];
    for (let start = 0; start < ids.length; ) {
      const next = ids.slice(start, start + atOnce);
      const some = await read(session, next);
      if (adapts) atOnce = areLong(some) ? longAtOnce : usual;
      if (next.length === ids.length) return some;
      rows.push(...some);
      start += next.length;
      await takeTurn();
    }
    return rows;
  };
}

function areLong(rows: readonly object[]): boolean {
  let characters = 0;
  for (const row of rows)
    for (const value of Object.values(row)) if (typeof value === 'string') characters += value.length;
  return characters > rows.length * longRow;
}
