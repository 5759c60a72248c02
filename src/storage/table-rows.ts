/**
 * Reads and writes rows of a table one at a time by their ids, with statements that are compiled once; and deletes very
 * many rows in parts.
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { takeTurn } from '../turns/index.ts';
import type { Database, Session, Transaction } from './database.ts';
import { type Arguments, type Placeholders, prepareByShape, prepareQuery } from './prepared.ts';
import type { Tables } from './tables.ts';

/** Maximum number of rows that a statement of `all` reads. */
const rowsAtOnce = 20;

/** @param columns all columns except the id */
export function createTableRows<Row extends Arguments & { readonly id: number }>(
  { build, dialect }: Pick<Database, 'build' | 'dialect'>,
  name: keyof Tables & string,
  columns: readonly string[],
) {
  const table = sql.table(name);
  const names = sql.join(columns.map(column => sql.ref(column)));

  function prepareById(ending: RawBuilder<unknown>) {
    const query = prepareQuery<{ id: number }, Row>(
      build,
      ({ id }) => sql`select id, ${names} from ${table} where id = ${id} ${ending}`,
    );
    return (session: Session, id: number) => session.first(query({ id }));
  }
  const buildInsert = (argument: Placeholders<Arguments>) =>
    sql`insert into ${table} (${names}) values (${sql.join(columns.map(column => argument[column]))})`;
  const insert = prepareQuery<Arguments, unknown>(build, buildInsert);
  const insertReturning = prepareQuery<Arguments, Row>(
    build,
    argument => sql`${buildInsert(argument)} returning id, ${names}`,
  );
  const update = prepareByShape<Arguments, unknown>(build, (changed, argument) => {
    const set = changed.split(' ').map(column => sql`${sql.ref(column)} = ${argument[column]}`);
    return sql`update ${table} set ${sql.join(set)} where id = ${argument.id}`;
  });
  const remove = prepareQuery<{ id: number }, unknown>(
    build,
    ({ id }) => sql`delete from ${table} where id = ${id}`,
  );
  const count = prepareQuery<Arguments, { total: number }>(
    build,
    () => sql`select cast(count(*) as integer) as total from ${table}`,
  );
  const someAfter = prepareQuery<{ after: number }, Row>(
    build,
    ({ after }) =>
      sql`select id, ${names} from ${table} where id > ${after} order by id limit ${sql.lit(rowsAtOnce)}`,
  );

  return {
    find: prepareById(sql``),
    /** As `find`, and locks the row against changes by others until the transaction ends. */
    lock: prepareById(dialect.forUpdate),
    /** As `find`, and prevents deletion of the row until the transaction ends; others may take the same lock. */
    keep: prepareById(dialect.forKeyShare),
    /** @returns its id @throws StorageError `unique` */
    insert: (session: Transaction, values: Omit<Row, 'id'>) => session.insert(insert(values)),
    /** @returns the row. Ignores values that have no column. @throws StorageError `unique` */
    async insertReturning(session: Transaction, values: Arguments): Promise<Row> {
      const row = await session.first(insertReturning(values));
      if (row === undefined) throw new Error('INSERT … RETURNING gave no row');
      return row;
    },
    /** @throws StorageError `unique` */
    async update(session: Session, id: number, changes: Partial<Omit<Row, 'id'>>): Promise<void> {
      const changed = columns.filter(column => column in changes);
      await session.run(update(changed.join(' '), { ...changes, id }));
    },
    async remove(session: Session, id: number): Promise<void> {
      await session.run(remove({ id }));
    },
    count: async (session: Session) => (await session.first(count({})))?.total ?? 0,
    /** Reads all rows by id, in parts: only in a snapshot do all parts show the same state. */
    async all(session: Session): Promise<Row[]> {
      const rows: Row[] = [];
      for (;;) {
        const part = await session.all(someAfter({ after: rows.at(-1)?.id ?? 0 }));
        rows.push(...part);
        if (part.length < rowsAtOnce) return rows;
        await takeTurn();
      }
    },
  };
}

/** As `createTableRows`, for rows that belong to one user each: finding one requires that user's id. */
export function createOwnedRows<Row extends Arguments & { readonly id: number; readonly user_id: number }>(
  database: Pick<Database, 'build' | 'dialect'>,
  name: keyof Tables & string,
  columns: readonly string[],
) {
  const rows = createTableRows<Row>(database, name, columns);
  const keepOwned = (userId: number, row: Row | undefined) => (row?.user_id === userId ? row : undefined);
  return {
    ...rows,
    find: async (session: Session, userId: number, id: number) =>
      keepOwned(userId, await rows.find(session, id)),
    /** As `find`, and locks the row until the transaction ends. */
    lock: async (session: Session, userId: number, id: number) =>
      keepOwned(userId, await rows.lock(session, id)),
  };
}

/** Maximum number of rows in a removal statement, so that it does not block the event loop or lock many rows. */
export const maxRemoved = 250;
/** The same for long rows: an embedded database visits every page of a row that it removes, or updates as a whole. */
export const longRowsAtOnce = 10;

/**
 * @param key the columns of the table's primary key
 * @param locking `forUpdate` to delete all rows in the end, `skipLocked` to skip rows that others are changing
 * @returns the statement that deletes some of the rows that match the condition: see `removeInParts`
 */
export function prepareRemoval<A extends Arguments>(
  { build, dialect }: Pick<Database, 'build' | 'dialect'>,
  { table, key, locking, atOnce = maxRemoved }: Removal,
  condition: (argument: Placeholders<A>) => RawBuilder<unknown>,
): (values: A) => CompiledQuery<unknown> {
  const [rows, columns] = [sql.table(table), sql.join(key.map(column => sql.ref(column)))];
  // A materialized CTE, which PostgreSQL runs once: a subselect might run, and lock other rows, for each row.
  return prepareQuery(
    build,
    argument => sql`with removed as materialized (
        select ${columns} from ${rows} where ${condition(argument)}
        limit ${sql.lit(atOnce)} ${dialect[locking]})
      delete from ${rows} where (${columns}) in (select ${columns} from removed)`,
  );
}

interface Removal {
  readonly table: keyof Tables & string;
  readonly key: readonly string[];
  readonly locking: 'forUpdate' | 'skipLocked';
  /** Maximum number of rows in a statement; fewer if they are long. */
  readonly atOnce?: number;
}

/** @returns a function that deletes all rows of a user, in parts */
export function createOwnedRemover(
  database: Pick<Database, 'build' | 'dialect'>,
  rows: Omit<Removal, 'locking'>,
): (session: Session, userId: number) => Promise<number> {
  const some = prepareRemoval<{ userId: number }>(
    database,
    { ...rows, locking: 'forUpdate' },
    ({ userId }) => sql`user_id = ${userId}`,
  );
  return (session, userId) => removeInParts(() => session.run(some({ userId })));
}

/**
 * @param rows the table, and the columns of its primary key
 * @returns a function that deletes some rows whose value in a column is at most `last`, skipping those that others are
 * changing, and returns how many: see `removeInParts`
 */
export function createSweep(
  database: Pick<Database, 'build' | 'dialect'>,
  rows: Omit<Removal, 'locking'>,
  column: string,
): (session: Session, last: number) => Promise<number> {
  const some = prepareRemoval<{ last: number }>(
    database,
    { ...rows, locking: 'skipLocked' },
    ({ last }) => sql`${sql.ref(column)} <= ${last}`,
  );
  return (session, last) => runForSome(() => session.run(some({ last })));
}

/** Runs a statement for as many rows as one removal of short rows; of long rows, several are needed. */
export async function runForSome(run: () => Promise<number>): Promise<number> {
  let rows = 0;
  for (let count = 1; count > 0 && rows < maxRemoved; rows += count) count = await run();
  return rows;
}

/**
 * @param removeSome removes some rows, in a transaction of its own or with the others
 * @param isStopping checked after each part
 * @param least fewer rows than this are the last part; 1 if parts differ in size. Where rows expire all the time, each
 * part finds a few, and would never be the last
 * @returns how many rows were removed
 */
export async function removeInParts(
  removeSome: () => Promise<number>,
  isStopping = () => false,
  least = 1,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const some = await removeSome();
    removed += some;
    if (some < least || isStopping()) return removed;
    await takeTurn();
  }
}

/**
 * Deletes the rows that refer to a row, or sets their references to null, without events: in parts, where the database
 * would otherwise do all of that in one statement that blocks the event loop.
 * @returns a function that does this for the row with an id; the caller locks that row first and deletes it afterwards
 */
export function createDependentsRemover(
  { build, dialect }: Pick<Database, 'build' | 'dialect'>,
  table: string,
): (session: Session, id: number) => Promise<void> {
  const dependents = dialect.dependents?.(table).compile(build);

  return async (session, id) => {
    for (const { child, column, action } of dependents === undefined ? [] : await session.all(dependents)) {
      const [rows, reference] = [sql.table(child), sql.ref(column)];
      const [change, atOnce] =
        action === 'CASCADE'
          ? [sql`delete from ${rows}`, maxRemoved]
          : [sql`update ${rows} set ${reference} = null`, longRowsAtOnce];
      const some = sql`${change} where rowid in (
        select rowid from ${rows} where ${reference} = ${id} limit ${sql.lit(atOnce)})`.compile(build);
      await removeInParts(() => session.run(some));
    }
  };
}
