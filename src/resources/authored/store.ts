/**
 * The queries that articles, posts, comments and reviews share: rows with an author, changed one at a time, with an
 * event for each change (docs/decisions/0013).
 */
import { sql } from 'kysely';
import { type Cause, createChangeBuilder, type Outbox } from '../../events/outbox.ts';
import { maxAtOnce, prepareByKeys } from '../../storage/batched-lookups.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import type { ListOptions } from '../../storage/list/request.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
import { type Arguments, prepareByShape, prepareQuery } from '../../storage/prepared.ts';
import { createSearchIndex, type SearchText, type SearchType } from '../../storage/search/index.ts';
import { createTableRows } from '../../storage/table-rows.ts';
import { mapInSlices, splitIntoParts } from '../../turns/slices.ts';

/** The author of a text: the id, and the name at the time of writing. */
export interface Author {
  readonly id: number;
  readonly name: string;
}

/** The columns that all these tables have; times are epoch milliseconds. */
export type Written = {
  readonly id: number;
  readonly author_name: string;
  /** The author's account; null once it is deleted. */
  readonly user_id: number | null;
  readonly created_at: number;
  readonly updated_at: number;
};

interface AuthoredTable<Row> {
  readonly table: ListOptions['table'];
  /** The name of the resource in the singular: the first half of its event types. */
  readonly resource: string;
  /** The columns specific to this table; `author_id` keeps the author's id even after the account is deleted. */
  readonly columns: readonly (keyof Row & string)[];
  /** The name under which lists are cached; only for tables where no cascade deletes rows without events. */
  readonly collection?: string;
  /** The text in the search index, for resources that can be searched. */
  readonly searched?: { readonly type: SearchType; textOf(row: Row): SearchText };
  /** The representation in events: without links, which depend on the address of the request. */
  representationOf(row: Row): object;
}

export type AuthoredStore<Row extends Written> = ReturnType<typeof createAuthoredStore<Row>>;

/** The number of rows of a deleted parent whose events are written together. */
export const removedAtOnce = 200;

export function createAuthoredStore<Row extends Arguments & Written>(
  database: Database,
  outbox: Outbox,
  spec: AuthoredTable<Row>,
) {
  const { build, dialect } = database;
  const { collection, searched } = spec;
  const columns = [...spec.columns, 'author_name', 'user_id', 'created_at', 'updated_at'];
  const rows = createTableRows<Row>(database, spec.table, columns);
  const search = createSearchIndex(database);
  const table = sql.table(spec.table);
  const names = sql.join(columns.map(name => sql.ref(name)));

  const idsOf = prepareByShape<{ value: number }, { id: number }>(
    build,
    (column, { value }) => sql`select id from ${table} where ${sql.ref(column)} = ${value} order by id`,
  );
  // Locked in order of id, so that other transactions that delete some of them cannot cause a deadlock.
  const removeByIds = prepareByKeys<Row>(size =>
    sql<Row>`delete from ${table} where id in (
        select id from ${table} where id in (${sql.join(new Array(size).fill(null))}) order by id ${dialect.forUpdate})
      returning id, ${names}`.compile(build),
  );

  /**
   * Deletes rows by id, each with its event, before the cascade of a deleted parent would delete them without one.
   * @returns the rows that still existed, in order of id
   */
  async function removeSome(session: Transaction, ids: readonly number[], cause: Cause): Promise<Row[]> {
    const rows: Row[] = [];
    for (const some of splitIntoParts(ids, maxAtOnce)) rows.push(...(await session.all(removeByIds(some))));
    rows.sort((a, b) => a.id - b.id);
    const changes = await mapInSlices(rows, row => changeOf('deleted', row, undefined));
    await outbox.recordAll(session, changes, cause);
    return rows;
  }

  const changeOf = createChangeBuilder<Row>(spec.resource, row => JSON.stringify(spec.representationOf(row)));

  return {
    list: createLister<Row>(database, {
      table: spec.table,
      columns,
      longColumns: ['body'],
      ...(collection === undefined ? {} : { collection: { name: collection } }),
    }),
    find: rows.find,
    lock: rows.lock,

    async insert(
      session: Transaction,
      author: Author,
      fields: Omit<Row, keyof Written | 'author_id'>,
      cause: Cause,
    ): Promise<Row> {
      const by = { author_id: author.id, author_name: author.name, user_id: author.id };
      const row = await rows.insertReturning(session, {
        ...fields,
        ...by,
        created_at: cause.at,
        updated_at: cause.at,
      });
      if (searched !== undefined)
        await search.add(session, searched.type, { ...searched.textOf(row), id: row.id });
      await outbox.record(session, changeOf('created', undefined, row), cause);
      return row;
    },

    /** Writes new values to a locked row; returns the row as stored. */
    async update(session: Transaction, before: Row, changes: Partial<Row>, cause: Cause): Promise<Row> {
      const changed = { ...changes, updated_at: computeChangeMoment(cause.at, before.updated_at) };
      await rows.update(session, before.id, changed);
      const row = { ...before, ...changed };
      if (searched !== undefined) {
        const document = { ...searched.textOf(row), id: row.id };
        await search.change(session, searched.type, searched.textOf(before), document);
      }
      await outbox.record(session, changeOf('updated', before, row), cause);
      return row;
    },

    async remove(session: Transaction, before: Row, cause: Cause): Promise<void> {
      await rows.remove(session, before.id);
      if (searched !== undefined) {
        const document = { ...searched.textOf(before), id: before.id };
        await search.remove(session, searched.type, document);
      }
      await outbox.record(session, changeOf('deleted', before, undefined), cause);
    },

    removeSome,
    /**
     * Deletes all rows with this value, in order of id. Their parent is locked and about to be deleted: none are added.
     */
    // The ids are read once: otherwise PostgreSQL would step over all deleted rows on each search for the next ones.
    async removeAll(
      session: Transaction,
      { column, value }: { readonly column: keyof Row & string; readonly value: number },
      cause: Cause,
    ): Promise<void> {
      const ids = (await session.all(idsOf(column, { value }))).map(({ id }) => id);
      for (const some of splitIntoParts(ids, removedAtOnce)) await removeSome(session, some, cause);
    },
  };
}

/**
 * @returns a function that reads a user as an author, and keeps the account from being deleted until the transaction
 *   ends; undefined if there is no such user
 */
export function createAuthorReader({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  const byId = prepareQuery<{ id: number }, Author & { readonly session_generation: number }>(
    build,
    ({ id }) => sql`select id, name, session_generation from users where id = ${id} ${dialect.forKeyShare}`,
  );
  return (session: Session, userId: number) => session.first(byId({ id: userId }));
}
