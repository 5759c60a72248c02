/** Statements that write many rows at once: a statement per row costs the database several times as much. */
import { type CompiledQuery, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';

export interface Bulk {
  /** The one table that is written: rows of different tables may be written in any order. */
  readonly table: string;
  /** For a plain INSERT: the columns of a row, so that PostgreSQL can write very many rows by COPY. */
  readonly columns?: readonly string[];
  /** Sorts rows that are written at the end of a transaction; without it they keep their order. */
  readonly compare?: CompareRows;
  /** The statements that write these rows, in the order of the rows. All rows have the same columns. */
  statements(rows: Rows): Generator<CompiledQuery<unknown>>;
}

type CompareRows = (one: readonly unknown[], other: readonly unknown[]) => number;

/** What a column holds, by the name of its type in SQL. */
export type ColumnType = 'text' | 'integer' | 'double precision';
export type ColumnTypes = Readonly<Record<string, ColumnType>>;

/** The parts of a Database that are needed here. */
interface Compiler {
  readonly build: QueryExecutorProvider;
  readonly dialect: { readonly name: string };
}

interface BulkOptions {
  /** Possible numbers of rows in a statement on SQLite, which limit its parameters: largest first, the last is 1. */
  readonly sizes?: readonly number[];
  /** Rows are sorted by this many leading columns, so that neighbours in the index are written one after another. */
  readonly sortedBy?: number;
}

/** With 10 parameters a row, far below the number that SQLite allows. */
const usualSizes = [500, 128, 32, 8, 4, 2, 1];
/** Maximum number of rows in a statement on PostgreSQL. */
const maxRows = 1000;
/** Maximum number of characters in a statement, except for a single row: a statement blocks the event loop. */
const maxTextLength = 200_000;

/**
 * On SQLite a statement has a placeholder for each value, and therefore one text for each number of rows. On
 * PostgreSQL, where the server parses and plans each statement with all indexes of the table, one text takes any number
 * of rows: an array for each column.
 * @param table the one table that is written
 * @param columns the columns of the rows, in their order
 * @param statementOf builds the statement around `rows`, a query that returns the rows
 */
export function createBulk(
  { build, dialect }: Compiler,
  table: string,
  columns: ColumnTypes,
  statementOf: (rows: RawBuilder<unknown>) => RawBuilder<unknown>,
  { sizes = usualSizes, sortedBy }: BulkOptions = {},
): Bulk {
  const types = Object.values(columns);
  const order = sortedBy === undefined ? {} : { compare: createComparison(sortedBy) };
  const made = new Map<number, CompiledQuery<unknown>>();
  const getStatement = (size: number, rows: () => RawBuilder<unknown>) =>
    made.getOrInsertComputed(size, () => statementOf(rows()).compile(build));

  function* buildPlaceStatements(rows: Rows): Generator<CompiledQuery<unknown>> {
    for (let start = 0; start < rows.length; ) {
      const fitting = countFitting(rows, start, sizes[0] ?? 1);
      const size = sizes.find(one => one <= fitting) ?? 1;
      const buildPlaces = () => buildPlaceRows(types.length, size);
      yield { ...getStatement(size, buildPlaces), parameters: rows.slice(start, start + size).flat() };
      start += size;
    }
  }

  function* buildArrayStatements(rows: Rows): Generator<CompiledQuery<unknown>> {
    for (let start = 0; start < rows.length; ) {
      const some = rows.slice(start, start + countFitting(rows, start, maxRows));
      start += some.length;
      yield {
        ...getStatement(0, () => buildArrayRows(types)),
        parameters: types.map((_, index) => toArrayText(some, index)),
      };
    }
  }

  const statements = dialect.name === 'sqlite' ? buildPlaceStatements : buildArrayStatements;
  return { table, statements, ...order };
}

function createComparison(columns: number): CompareRows {
  return (one, other) => {
    for (let index = 0; index < columns; index++) {
      const [a, b] = [one[index], other[index]];
      if (a === b) continue;
      if (typeof a === 'number' && typeof b === 'number') return a - b;
      return String(a) < String(b) ? -1 : 1;
    }
    return 0;
  };
}

type Rows = readonly (readonly unknown[])[];

/** How many rows, beginning with `start`, fit into one statement: at least one, at most `max`. */
function countFitting(rows: Rows, start: number, max: number): number {
  const end = Math.min(rows.length, start + max);
  let text = 0;
  for (let index = start; index < end; index++) {
    for (const value of rows[index] ?? []) if (typeof value === 'string') text += value.length;
    if (text > maxTextLength) return Math.max(1, index - start);
  }
  return end - start;
}

/** As raw text: building thousands of placeholders as query nodes takes longer than running the statement. */
function buildPlaceRows(columns: number, rows: number): RawBuilder<unknown> {
  const row = `(${new Array(columns).fill('?').join(', ')})`;
  return sql.raw(`values ${new Array(rows).fill(row).join(', ')}`);
}

/** Arrays as texts that the server casts, so that the driver does not convert them. */
function buildArrayRows(types: readonly ColumnType[]): RawBuilder<unknown> {
  const arrays = types.map(type => sql`cast(cast(${null} as text) as ${sql.raw(type)}[])`);
  return sql`select * from unnest(${sql.join(arrays)})`;
}

/** The values of one column as the text of a PostgreSQL array. */
function toArrayText(rows: Rows, index: number): string {
  let text = '{';
  for (const row of rows) {
    const value = row[index];
    if (text !== '{') text += ',';
    if (typeof value === 'string') text += `"${value.replace(/["\\]/g, '\\$&')}"`;
    else text += value === null ? 'NULL' : String(value);
  }
  return `${text}}`;
}

export interface BulkInsert extends Bulk {
  readonly columns: readonly string[];
  /** The same INSERT for rows whose ids are already known; the id is the first column. */
  readonly identified: Bulk;
}

/** A plain INSERT of rows with these columns. */
export function createBulkInsert(
  database: Compiler,
  table: string,
  columns: ColumnTypes,
  options: BulkOptions = {},
): BulkInsert {
  const { sizes } = options;
  const createInsert = (types: ColumnTypes, own: BulkOptions) => {
    const buildNames = () => sql.join(Object.keys(types).map(name => sql.ref(name)));
    const buildInsert = (rows: RawBuilder<unknown>) =>
      sql`insert into ${sql.table(table)} (${buildNames()}) ${rows}`;
    return createBulk(database, table, types, buildInsert, own);
  };
  return {
    ...createInsert(columns, options),
    columns: Object.keys(columns),
    identified: createInsert({ id: 'integer', ...columns }, sizes === undefined ? {} : { sizes }),
  };
}

/** A DELETE of the rows that have these values in these columns. */
export function createBulkDelete(
  database: Compiler,
  table: string,
  columns: ColumnTypes,
  options: BulkOptions = {},
): Bulk {
  const names = sql.join(Object.keys(columns).map(name => sql.ref(name)));
  return createBulk(
    database,
    table,
    columns,
    rows => sql`delete from ${sql.table(table)} where (${names}) in (${rows})`,
    options,
  );
}

/** The part of a Transaction that is needed here. */
interface Writer {
  writeMany(statement: Bulk, rows: Rows): Promise<void>;
}

/** The values of a row by the names of its columns. */
type Columns = Readonly<Record<string, unknown>>;

interface ChangedRow {
  readonly id: number;
  /** The former values of at least the columns in `parts`. */
  readonly before: Columns;
  readonly after: Columns;
}

/**
 * UPDATEs that name only the columns that change: SQLite writes the entries of all indexes whose columns are named,
 * even if their values stay the same, and PostgreSQL has less to read.
 * @param parts groups of columns, each written only if one of its columns has changed; all other columns always are
 * @returns a function that writes rows by their ids; on PostgreSQL, rows whose same parts change share a statement
 */
export function createPartialUpdate(
  database: Compiler,
  table: string,
  columns: ColumnTypes,
  parts: readonly (readonly string[])[],
): (session: Writer, rows: readonly ChangedRow[]) => Promise<void> {
  const inParts = new Set(parts.flat());
  const always = Object.keys(columns).filter(name => !inParts.has(name));
  const statements = new Map<number, { readonly names: readonly string[]; readonly update: Bulk }>();
  const detectChangedParts = ({ before, after }: ChangedRow): number => {
    let changed = 0;
    for (const [index, part] of parts.entries()) {
      if (part.some(name => before[name] !== after[name])) changed |= 1 << index;
    }
    return changed;
  };
  const buildUpdate = (changed: number) => {
    const names = [...parts.filter((_, index) => (changed & (1 << index)) !== 0).flat(), ...always];
    const types = Object.fromEntries(names.map(name => [name, columns[name] ?? 'text']));
    return { names, update: createBulkUpdate(database, table, types) };
  };
  return async (session, rows) => {
    for (const [changed, alike] of Map.groupBy(rows, detectChangedParts)) {
      const { names, update } = statements.getOrInsertComputed(changed, buildUpdate);
      const values = alike.map(({ id, after }) => [...names.map(name => after[name]), id]);
      await session.writeMany(update, values);
    }
  };
}

/** An UPDATE of rows by their ids: each row has the values of these columns, followed by its id. */
function createBulkUpdate(database: Compiler, table: string, columns: ColumnTypes): Bulk {
  const names = Object.keys(columns);
  const all: ColumnTypes = { ...columns, id: 'integer' };
  if (database.dialect.name === 'sqlite') {
    const set = sql.join(names.map(name => sql`${sql.ref(name)} = ${null}`));
    const update = sql`update ${sql.table(table)} set ${set} where id = ${null}`;
    return createBulk(database, table, all, () => update, { sizes: [1] });
  }
  const set = sql.join(names.map(name => sql`${sql.ref(name)} = given.${sql.ref(name)}`));
  const given = sql.join(Object.keys(all).map(name => sql.ref(name)));
  const buildUpdate = (rows: RawBuilder<unknown>) =>
    sql`update ${sql.table(table)} set ${set} from (${rows}) as given (${given})
      where ${sql.table(table)}.id = given.id`;
  return createBulk(database, table, all, buildUpdate);
}
