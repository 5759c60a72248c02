/**
 * The queries that articles, posts, comments and reviews share: rows that somebody has written, changed one at a
 * time, each change with its event (docs/decisions/0013).
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { type Cause, changesOf, type Outbox } from '../../events/outbox.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { type Lister, lister } from '../../storage/list/index.ts';
import type { ListOptions } from '../../storage/list/request.ts';
import { momentOfChange } from '../../storage/moments.ts';
import { type Arguments, prepared, preparedByShape } from '../../storage/prepared.ts';
import { type SearchText, type SearchType, searchIndex } from '../../storage/search/index.ts';

/** Who has written something: the id, and the name at that time. */
export interface Author {
  readonly id: number;
  readonly name: string;
}

/** Columns that every such table has; both are epoch milliseconds. */
export type Dated = { readonly created_at: number; readonly updated_at: number };
export type Stored<Values> = Values & { readonly id: number };

export interface AuthoredTable<Values, Row> {
  readonly table: ListOptions['table'];
  /** The resource's name in the singular: the first half of its events' types. */
  readonly resource: string;
  /** All of them but the id. */
  readonly columns: readonly (keyof Values & string)[];
  /** The name under which its lists are cached; only where no cascade deletes rows behind our back. */
  readonly collection?: string;
  /** What is searched of it, for those that can be found. */
  readonly searched?: { readonly type: SearchType; textOf(row: Row): SearchText };
  /** What events show: the representation without links, which depend on the address it is asked at. */
  representationOf(row: Row): object;
}

export interface AuthoredStore<Values extends Dated> {
  readonly list: Lister<Stored<Values>>;
  find(session: Session, id: number): Promise<Stored<Values> | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Session, id: number): Promise<Stored<Values> | undefined>;
  insert(session: Transaction, values: Omit<Values, keyof Dated>, cause: Cause): Promise<Stored<Values>>;
  /** Writes new values over a row that is locked; gives it as it is then stored. */
  update(
    session: Transaction,
    before: Stored<Values>,
    changes: Partial<Values>,
    cause: Cause,
  ): Promise<Stored<Values>>;
  remove(session: Transaction, before: Stored<Values>, cause: Cause): Promise<void>;
  /**
   * Deletes the next rows with this value, in the order of a column, each with its event: for those that go with what
   * they belong to, before the database's cascade would delete them without a word.
   * @returns those that were deleted; none when there are no more
   */
  removeSome(
    session: Transaction,
    of: {
      readonly column: keyof Values & string;
      readonly value: number;
      readonly by?: keyof Values & string;
    },
    cause: Cause,
  ): Promise<Stored<Values>[]>;
}

/** Rows deleted with what they belong to, per statement. */
export const removedAtOnce = 200;

export function authoredStore<Values extends Arguments & Dated>(
  database: Database,
  outbox: Outbox,
  spec: AuthoredTable<Values, Stored<Values>>,
): AuthoredStore<Values> {
  type Row = Stored<Values>;
  const { build, dialect } = database;
  const { collection, columns, searched } = spec;
  const search = searchIndex(database);
  const table = sql.table(spec.table);
  const names = sql.join(columns.map(name => sql.ref(name)));

  const byId = (ending: RawBuilder<unknown>) =>
    prepared<{ id: number }, Row>(
      build,
      ({ id }) => sql`select id, ${names} from ${table} where id = ${id} ${ending}`,
    );
  const find = byId(sql``);
  const lock = byId(dialect.forUpdate);
  const insert = prepared<Arguments, Row>(
    build,
    argument =>
      sql`insert into ${table} (${names})
      values (${sql.join(columns.map(name => argument[name]))}) returning id, ${names}`,
  );
  const update = prepared<Arguments, Row>(
    build,
    argument =>
      sql`update ${table}
      set ${sql.join(columns.map(name => sql`${sql.ref(name)} = ${argument[name]}`))}
      where id = ${argument.id} returning id, ${names}`,
  );
  const remove = prepared<{ id: number }, unknown>(
    build,
    ({ id }) => sql`delete from ${table} where id = ${id}`,
  );

  const removeSome = preparedByShape<{ value: number }, Row>(build, (shape, { value }) => {
    const [column = '', by = ''] = shape.split(' ');
    return sql<Row>`delete from ${table} where id in (
        select id from ${table} where ${sql.ref(column)} = ${value}
        order by ${sql.ref(by)} limit ${sql.lit(removedAtOnce)} ${dialect.forUpdate})
      returning id, ${names}`;
  });

  async function written(session: Session, query: CompiledQuery<Row>): Promise<Row> {
    const row = await session.first(query);
    if (row === undefined) throw new Error('a statement with RETURNING gave no row');
    return row;
  }

  const changeOf = changesOf<Row>(spec.resource, row => JSON.stringify(spec.representationOf(row)));

  return {
    list: lister<Row>(database, {
      table: spec.table,
      columns,
      ...(collection === undefined ? {} : { collection: { name: collection } }),
    }),
    find: (session, id) => session.first(find({ id })),
    lock: (session, id) => session.first(lock({ id })),

    async insert(session, values, cause) {
      const row = await written(session, insert({ ...values, created_at: cause.at, updated_at: cause.at }));
      if (searched !== undefined)
        await search.add(session, searched.type, { ...searched.textOf(row), id: row.id });
      await outbox.record(session, changeOf('created', undefined, row), cause);
      return row;
    },

    async update(session, before, changes, cause) {
      const row = await written(
        session,
        update({ ...before, ...changes, updated_at: momentOfChange(cause.at, before.updated_at) }),
      );
      if (searched !== undefined) {
        const document = { ...searched.textOf(row), id: row.id };
        await search.change(session, searched.type, searched.textOf(before), document);
      }
      await outbox.record(session, changeOf('updated', before, row), cause);
      return row;
    },

    async remove(session, before, cause) {
      await session.run(remove({ id: before.id }));
      if (searched !== undefined) {
        const document = { ...searched.textOf(before), id: before.id };
        await search.remove(session, searched.type, document);
      }
      await outbox.record(session, changeOf('deleted', before, undefined), cause);
    },

    async removeSome(session, { column, value, by = 'id' }, cause) {
      const rows = await session.all(removeSome(`${column} ${by}`, { value }));
      rows.sort((a, b) => a.id - b.id);
      const changes = rows.map(row => changeOf('deleted', row, undefined));
      await outbox.recordAll(session, changes, cause);
      return rows;
    },
  };
}

/**
 * @returns a function that reads a user as an author, whose account then cannot be deleted before the transaction
 *   ends; undefined when there is no such user
 */
export function authors({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const byId = prepared<{ id: number }, Author>(
    build,
    ({ id }) => sql`select id, name from users where id = ${id} ${dialect.forKeyShare}`,
  );
  return (session: Session, userId: number): Promise<Author | undefined> =>
    session.first(byId({ id: userId }));
}
