/** The statements of a list, each prepared once per shape of filter, order and direction. */
import { type RawBuilder, sql } from 'kysely';
import { boundedMap } from '../../bounded-map.ts';
import { slices } from '../../slices.ts';
import { versionOf } from '../changes/versions.ts';
import type { Database, Session } from '../database.ts';
import { type Arguments, keptShapes, preparedByShape } from '../prepared.ts';
import { mostAtOnce } from '../together.ts';
import type { Condition, Key, ListOptions, ListRequest, Positioned, ThroughCondition } from './request.ts';
import {
  type Argument,
  conditionArguments,
  conditionShape,
  countOf,
  mergedSource,
  sourceOf,
  where,
} from './sources.ts';

/** Rows per statement that reads them by their ids. */
const rowSizes = [1, 4, 20, mostAtOnce] as const;
/** The same where a statement holds up the event loop to its end: each row may be a megabyte. */
const embeddedAtOnce = 20;

/** Which rows of a list make a page. */
export interface Part {
  readonly limit: number;
  /** The row that they follow, or precede; undefined for the first. */
  readonly start?: Key | undefined;
  readonly backwards?: boolean;
}

/** Where a row is in the list, and the collection's version when it was there. */
export type Versioned = Positioned & { readonly version: number };

const conditionsOf = ({ conditions, resolved }: ListRequest): readonly Condition[] => resolved ?? conditions;
const isThrough = ({ conditions }: Pick<ListRequest, 'conditions'>): boolean =>
  conditions.some(condition => 'through' in condition);

export type ListQueries<Row> = ReturnType<typeof listQueries<Row>>;

export function listQueries<Row>(database: Database, options: ListOptions<Row>) {
  const version = versionOf(database.dialect, options.collection?.name ?? '');

  type ReadRow = Row & Omit<Versioned, 'sort_value'>;
  const readAtOnce = database.dialect.name === 'sqlite' ? embeddedAtOnce : mostAtOnce;

  /** What shapes stand for, for the statements that are made of them: those of the last ones. */
  const shapes = boundedMap<string, ListRequest>(keptShapes);
  const requestOf = (shape: string): ListRequest => {
    const request = shapes.get(shape);
    if (request === undefined) throw new Error(`no list has the shape ${shape}`);
    return request;
  };
  const shapeOf = (kind: string, request: ListRequest): string => {
    const probed = request.through?.probed === true ? ' probed' : '';
    const { within, order, value = order.column } = request;
    const tree =
      within === undefined ? '' : ` ${within.kind} ${within.ids.length} ${within.besides} ${within.isWide}`;
    const conditions = conditionsOf(request);
    const filter = conditions.map(conditionShape).join(' ');
    const shape = `${kind}${probed}${tree} ${value} ${order.column} ${order.descending} ${filter}`;
    if (shapes.get(shape) === undefined) shapes.set(shape, { ...request, conditions });
    return shape;
  };
  const argumentsOf = (request: ListRequest, extra: Arguments): Arguments => {
    const values: Record<string, unknown> = { ...extra, ...conditionArguments(conditionsOf(request)) };
    for (const [number, id] of (request.within?.ids ?? []).entries()) values[`w${number}`] = id;
    return values;
  };

  const columns = columnsSql(options);
  const versionColumn = options.collection === undefined ? sql`` : sql`, ${version} as version`;

  /** Of shapes that begin with `keys`, only where the rows are: indexes say that without the table. */
  const pageQuery = preparedByShape<Arguments, Row & Versioned>(database.build, (shape, argument) => {
    const { order, value = order.column, ...request } = requestOf(shape);
    const shown = shape.startsWith('keys') ? sql`` : sql`${columns},`;
    const descending = shape.includes('backwards') ? !order.descending : order.descending;
    const seekBy = (id: string) =>
      shape.includes('-seek ') ? [seekCondition(order.column, id, descending, argument)] : [];
    if (request.within?.kind === 'merged' && !isThrough(request)) {
      const source = mergedSource(request, [order.column, value], argument, seekBy('id'));
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
    const { from, conditions, id } = sourceOf(options.table, request, argument);
    const seek = seekBy(id);
    return sql<Row & Versioned>`
      select ${shown} id, ${sql.ref(value)} as sort_value${versionColumn} from ${from}
      ${where([...conditions, ...seek])}
      ${orderBy(order.column, id, descending)} limit ${argument.limit}`;
  });

  const rowsQuery = preparedByShape<Arguments, ReadRow>(
    database.build,
    size =>
      sql`select ${columns}, id${versionColumn}
      from ${sql.table(options.table)} where id in (${sql.join(new Array(Number(size)).fill(null))})`,
  );

  function rowsOf(session: Session, ids: readonly number[]): Promise<ReadRow[]> {
    if (options.rowsById !== undefined) return options.rowsById(session, ids);
    // Shorter lists are filled up, so that there are few statements to prepare.
    const size = rowSizes.find(size => size >= ids.length) ?? ids.length;
    const parameters = [...ids, ...new Array(size - ids.length).fill(ids[0])];
    return session.all({ ...rowsQuery(String(size), {}), parameters });
  }

  const walkQuery = preparedByShape<Arguments, Key>(database.build, (shape, argument) => {
    const { order, ...request } = requestOf(shape);
    const { from, conditions, id } = sourceOf(options.table, request, argument);
    const { column, descending } = order;
    const seek = shape.includes('-seek ') ? [seekCondition(column, id, descending, argument)] : [];
    return sql<Key>`
      select ${sql.ref(column)} as value, id from ${from}
      ${where([...conditions, ...seek])}
      ${orderBy(column, id, descending)} limit 1 offset ${argument.offset}`;
  });

  const countQuery = preparedByShape<Arguments, { total: number }>(database.build, (shape, argument) => {
    return countOf(options.table, requestOf(shape), argument);
  });

  function pagePart(kind: string, request: ListRequest, { limit, start, backwards = false }: Part) {
    const shape = `${kind}${backwards ? 'backwards' : 'forwards'}${start === undefined ? '' : '-seek'}`;
    const extra = { limit, value: start?.value, id: start?.id };
    return pageQuery(shapeOf(shape, request), argumentsOf(request, extra));
  }
  const versionQuery = sql<{ version: number }>`select ${version} as version`.compile(database.build);

  const lastIdQuery = sql<{
    id: number | null;
  }>`select max(id) as id from ${sql.table(options.table)}`.compile(database.build);

  return {
    page(session: Session, request: ListRequest, part: Part): Promise<(Row & Versioned)[]> {
      return session.all(pagePart('', request, part));
    },
    /** The same without the rows' own columns. */
    keys(session: Session, request: ListRequest, part: Part): Promise<Versioned[]> {
      return session.all(pagePart('keys-', request, part));
    },
    /** Rows by their ids, in any order; those read by different statements may be of different states. */
    async rows(session: Session, ids: readonly number[]): Promise<ReadRow[]> {
      if (ids.length <= readAtOnce) return rowsOf(session, ids);
      const { turn } = slices();
      const rows: ReadRow[] = [];
      for (let start = 0; start < ids.length; start += readAtOnce) {
        rows.push(...(await rowsOf(session, ids.slice(start, start + readAtOnce))));
        await turn();
      }
      return rows;
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
    /** Whether more than so many rows meet a condition that another table decides. */
    async hasMore(session: Session, { column, value, through }: ThroughCondition, rows: number) {
      const query = sql<{ total: number }>`select cast(count(*) as integer) as total from
        (select 1 from ${sql.table(through.table)} where ${sql.ref(column)} = ${value} limit ${rows + 1}) as found`;
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

function columnsSql({ columns }: Pick<ListOptions, 'columns'>): RawBuilder<unknown> {
  const list = Array.isArray(columns)
    ? columns.map(column => sql.ref(column))
    : Object.entries(columns).map(([name, value]) => sql`${value} as ${sql.ref(name)}`);
  return sql.join(list);
}

/** Rows strictly past a key. A row value comparison is one index seek on both databases. */
function seekCondition(
  column: string,
  id: string,
  descending: boolean,
  argument: Argument,
): RawBuilder<unknown> {
  const operator = sql.raw(descending ? '<' : '>');
  if (column === 'id') return sql`${sql.ref(id)} ${operator} ${argument.id}`;
  return sql`(${sql.ref(column)}, id) ${operator} (${argument.value}, ${argument.id})`;
}

function orderBy(column: string, id: string, descending: boolean): RawBuilder<unknown> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  return column === 'id'
    ? sql`order by ${sql.ref(id)} ${direction}`
    : sql`order by ${sql.ref(column)} ${direction}, id ${direction}`;
}
