/** The statements of a list, each prepared once per shape of filter, order and direction. */
import { type RawBuilder, sql } from 'kysely';
import { versionOf } from '../changes/versions.ts';
import type { Database, Session } from '../database.ts';
import { type Arguments, preparedByShape } from '../prepared.ts';
import type {
  Comparison,
  Condition,
  Key,
  ListOptions,
  ListRequest,
  Positioned,
  ThroughCondition,
} from './request.ts';

/** Rows per statement that reads them by their ids; the last is one more than the largest page. */
const rowSizes = [1, 4, 20, 101] as const;

/** Which rows of a list make a page. */
export interface Part {
  readonly limit: number;
  /** The row that they follow, or precede; undefined for the first. */
  readonly start?: Key | undefined;
  readonly backwards?: boolean;
}

/** Where a row is in the list, and the collection's version when it was there. */
export type Versioned = Positioned & { readonly version: number };

export type ListQueries<Row> = ReturnType<typeof listQueries<Row>>;

export function listQueries<Row>(database: Database, options: ListOptions<Row>) {
  const version = versionOf(database.dialect, options.collection?.name ?? '');

  const shapes = new Map<string, ListRequest>();
  const requestOf = (shape: string): ListRequest => {
    const request = shapes.get(shape);
    if (request === undefined) throw new Error(`no list has the shape ${shape}`);
    return request;
  };
  const shapeOf = (kind: string, request: ListRequest): string => {
    const probed = request.through?.probed === true ? ' probed' : '';
    const shape = `${kind}${probed} ${request.order.column} ${request.order.descending} ${request.conditions
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

  const columns = sql.join(options.columns.map(column => sql.ref(column)));
  const versionColumn = options.collection === undefined ? sql`` : sql`, ${version} as version`;

  /** Of shapes that begin with `keys`, only where the rows are: indexes tell that without the table. */
  const pageQuery = preparedByShape<Arguments, Row & Versioned>((shape, argument) => {
    const { order, ...request } = requestOf(shape);
    const { from, conditions, id } = sourceOf(options.table, request, argument);
    const shown = shape.startsWith('keys') ? sql`` : sql`${columns},`;
    const descending = shape.includes('backwards') ? !order.descending : order.descending;
    const seek = shape.includes('-seek ') ? [seekCondition(order.column, id, descending, argument)] : [];
    return compilable(sql<Row & Versioned>`
      select ${shown} id, ${sql.ref(order.column)} as sort_value${versionColumn} from ${from}
      ${where([...conditions, ...seek])}
      ${orderBy(order.column, id, descending)} limit ${argument.limit}`);
  });

  const rowsQuery = preparedByShape<Arguments, Row & Omit<Versioned, 'sort_value'>>(size =>
    compilable(sql<Row & Omit<Versioned, 'sort_value'>>`select ${columns}, id${versionColumn}
      from ${sql.table(options.table)} where id in (${sql.join(new Array(Number(size)).fill(null))})`),
  );

  const walkQuery = preparedByShape<Arguments, Key>((shape, argument) => {
    const { order, ...request } = requestOf(shape);
    const { from, conditions, id } = sourceOf(options.table, request, argument);
    const { column, descending } = order;
    const seek = shape.includes('-seek ') ? [seekCondition(column, id, descending, argument)] : [];
    return compilable(sql<Key>`
      select ${sql.ref(column)} as value, id from ${from}
      ${where([...conditions, ...seek])}
      ${orderBy(column, id, descending)} limit 1 offset ${argument.offset}`);
  });

  const countQuery = preparedByShape<Arguments, { total: number }>((shape, argument) => {
    const { from, conditions } = countedIn(options.table, requestOf(shape), argument);
    return compilable(
      sql<{ total: number }>`select cast(count(*) as integer) as total from ${from} ${where(conditions)}`,
    );
  });

  function pagePart(kind: string, request: ListRequest, { limit, start, backwards = false }: Part) {
    const shape = `${kind}${backwards ? 'backwards' : 'forwards'}${start === undefined ? '' : '-seek'}`;
    const extra = { limit, value: start?.value, id: start?.id };
    return pageQuery(shapeOf(shape, request), argumentsOf(request, extra));
  }

  function compilable<R>(query: RawBuilder<R>) {
    return { compile: () => query.compile(database.build) };
  }
  const versionQuery = compilable(sql<{ version: number }>`select ${version} as version`).compile();

  const lastIdQuery = compilable(
    sql<{ id: number | null }>`select max(id) as id from ${sql.table(options.table)}`,
  ).compile();

  return {
    page(session: Session, request: ListRequest, part: Part): Promise<(Row & Versioned)[]> {
      return session.all(pagePart('', request, part));
    },
    /** The same without the rows' own columns. */
    keys(session: Session, request: ListRequest, part: Part): Promise<Versioned[]> {
      return session.all(pagePart('keys-', request, part));
    },
    /** Rows by their ids, in any order. */
    rows(session: Session, ids: readonly number[]): Promise<(Row & Omit<Versioned, 'sort_value'>)[]> {
      // Shorter lists are filled up, so that there are few statements to prepare.
      const size = rowSizes.find(size => size >= ids.length) ?? ids.length;
      const parameters = [...ids, ...new Array(size - ids.length).fill(ids[0])];
      return session.all({ ...rowsQuery(String(size), {}), parameters });
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

type Argument = Readonly<Record<string, RawBuilder<unknown>>>;

interface Source {
  readonly from: RawBuilder<unknown>;
  readonly conditions: RawBuilder<unknown>[];
  /** The column that holds the rows' ids. */
  readonly id: string;
}

/**
 * Where the rows of a list come from. A cross join is carried out from left to right on SQLite, and as its
 * statistics tell on PostgreSQL; neither moves a look-up for each row anywhere else.
 */
function sourceOf(
  name: string,
  request: Pick<ListRequest, 'conditions' | 'through'>,
  argument: Argument,
): Source {
  const table = sql.table(name);
  const found = request.conditions.findIndex(condition => 'through' in condition);
  const conditions = request.conditions.flatMap((condition, index) =>
    index === found ? [] : [conditionSql(condition, index, argument)],
  );
  const chosen = request.conditions[found];
  if (chosen === undefined || chosen.operator === 'is null' || chosen.through === undefined) {
    return { from: table, conditions, id: 'id' };
  }
  const { key, table: other } = chosen.through;
  const meets = comparisonSql(chosen, found, argument);
  if (request.through?.probed === true) {
    const lookUp = sql`(select true from ${sql.table(other)} where ${meets}
      and ${sql.ref(key)} = ${sql.ref(`${name}.id`)})`;
    return { from: table, conditions: [...conditions, lookUp], id: 'id' };
  }
  const isOne = sql`${sql.ref(key)} = id`;
  return {
    from: sql`${sql.table(other)} cross join ${table}`,
    conditions: [meets, isOne, ...conditions],
    id: key,
  };
}

/** The same for counting: what another table decides alone is counted there, and nothing is counted row by row. */
function countedIn(
  name: string,
  request: ListRequest,
  argument: Argument,
): Pick<Source, 'from' | 'conditions'> {
  const [only, ...others] = request.conditions;
  if (
    only !== undefined &&
    others.length === 0 &&
    only.operator !== 'is null' &&
    only.through !== undefined
  ) {
    return { from: sql.table(only.through.table), conditions: [comparisonSql(only, 0, argument)] };
  }
  return sourceOf(name, { conditions: request.conditions }, argument);
}

function comparisonSql(condition: Comparison, index: number, argument: Argument): RawBuilder<unknown> {
  const value = condition.literal === true ? sql.lit(condition.value) : argument[`c${index}`];
  return sql`${sql.ref(condition.column)} ${sql.raw(condition.operator)} ${value}`;
}

function conditionSql(condition: Condition, index: number, argument: Argument): RawBuilder<unknown> {
  if (condition.operator === 'is null') return sql`${sql.ref(condition.column)} is null`;
  return comparisonSql(condition, index, argument);
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

function where(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
}

function orderBy(column: string, id: string, descending: boolean): RawBuilder<unknown> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  return column === 'id'
    ? sql`order by ${sql.ref(id)} ${direction}`
    : sql`order by ${sql.ref(column)} ${direction}, id ${direction}`;
}
