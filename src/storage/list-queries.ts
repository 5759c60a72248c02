/** The statements of a list, each prepared once per shape of filter, order and direction. */
import { type RawBuilder, sql } from 'kysely';
import type { Database, Session } from './database.ts';
import type { Condition, Key, ListOptions, ListRequest, Positioned } from './list.ts';
import { type Arguments, preparedByShape } from './prepared.ts';

export type ListQueries<Row> = ReturnType<typeof listQueries<Row>>;

export function listQueries<Row>(database: Database, options: ListOptions) {
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
