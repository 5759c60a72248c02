/** Statements that take many rows at once: a statement for each row costs the database several times as much. */
import { type CompiledQuery, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';

export interface Bulk {
  /** The one table that is written: rows of different tables may be written in any order. */
  readonly table: string;
  /** Of a plain INSERT: what a row gives, so that PostgreSQL can take very many by COPY. */
  readonly columns?: readonly string[];
  /** The statements that write these rows, in their order. Each row has the same parameters. */
  statements(rows: readonly (readonly unknown[])[]): Generator<CompiledQuery<unknown>>;
}

/**
 * @param table the one table that is written
 * @param sizes how many rows one statement may take: largest first, the last is 1
 * @param compiled the statement for so many rows; made once for each size that is used
 * @param keyOf for one that puts rows in the place of others: what these have in common. Of several the last counts,
 * since PostgreSQL refuses to replace a row twice in one statement.
 */
export function bulk(
  table: string,
  sizes: readonly number[],
  compiled: (size: number) => CompiledQuery<unknown>,
  keyOf?: (row: readonly unknown[]) => unknown,
): Bulk {
  const made = new Map<number, CompiledQuery<unknown>>();
  const statementOf = (size: number) => {
    const statement = made.get(size) ?? compiled(size);
    made.set(size, statement);
    return statement;
  };
  return {
    table,
    *statements(given) {
      const rows = keyOf === undefined ? given : [...new Map(given.map(row => [keyOf(row), row])).values()];
      let start = 0;
      for (const size of sizes) {
        for (; rows.length - start >= size; start += size) {
          yield { ...statementOf(size), parameters: rows.slice(start, start + size).flat() };
        }
      }
    },
  };
}

/** The rows of a VALUES list, all alike. */
export const rowsOf = (row: RawBuilder<unknown>, count: number): RawBuilder<unknown> =>
  sql.join(new Array(count).fill(row));

export interface BulkInsert extends Bulk {
  readonly columns: readonly string[];
  /** The same of rows whose ids have been taken before, which come first. */
  readonly identified: Bulk;
}

/** A plain INSERT of rows into these columns. */
export function bulkInsert(
  build: QueryExecutorProvider,
  table: string,
  sizes: readonly number[],
  columns: readonly string[],
): BulkInsert {
  const into = (names: readonly string[]) => {
    const row = sql`(${sql.join(names.map(() => null))})`;
    const list = sql.join(names.map(name => sql.ref(name)));
    return bulk(table, sizes, size =>
      sql`insert into ${sql.table(table)} (${list}) values ${rowsOf(row, size)}`.compile(build),
    );
  };
  return { ...into(columns), columns, identified: into(['id', ...columns]) };
}

/** What a column holds, by the name of its type in SQL. */
export type ColumnType = 'text' | 'integer' | 'double precision';

/** Where a statement is a round trip. */
const updateSizes = [32, 16, 8, 4, 2, 1];

/** What of a transaction is needed here. */
interface Writer {
  writeMany(statement: Bulk, rows: readonly (readonly unknown[])[]): Promise<void>;
}

/** A row's columns by their names. */
type Columns = Readonly<Record<string, unknown>>;

/**
 * UPDATEs that name the columns which a change changes: SQLite writes the entries of all indexes whose columns are named,
 * whatever their values, and PostgreSQL is given less to read.
 * @param parts columns that are written together where one of them has changed; all others always are
 * @returns what writes a row by its id. @param before what its columns were, of those in the parts
 */
export function changedColumns(
  database: Parameters<typeof bulkUpdate>[0],
  table: string,
  columns: Readonly<Record<string, ColumnType>>,
  parts: readonly (readonly string[])[],
): (session: Writer, id: number, before: Columns, after: Columns) => Promise<void> {
  const inParts = new Set(parts.flat());
  const always = Object.keys(columns).filter(name => !inParts.has(name));
  const statements = new Map<number, { readonly names: readonly string[]; readonly update: Bulk }>();
  return async (session, id, before, after) => {
    let changed = 0;
    for (const [index, part] of parts.entries()) {
      if (part.some(name => before[name] !== after[name])) changed |= 1 << index;
    }
    let known = statements.get(changed);
    if (known === undefined) {
      const names = [...parts.filter((_, index) => (changed & (1 << index)) !== 0).flat(), ...always];
      const types = Object.fromEntries(names.map(name => [name, columns[name] ?? 'text']));
      known = { names, update: bulkUpdate(database, table, types) };
      statements.set(changed, known);
    }
    await session.writeMany(known.update, [[...known.names.map(name => after[name]), id]]);
  };
}

/** An UPDATE of rows by their ids: each row of the statement has the values of these columns, and then its id. */
export function bulkUpdate(
  { build, dialect }: { readonly build: QueryExecutorProvider; readonly dialect: { readonly name: string } },
  table: string,
  columns: Readonly<Record<string, ColumnType>>,
): Bulk {
  const names = Object.keys(columns);
  const one = sql.join(names.map(name => sql`${sql.ref(name)} = ${null}`));
  const single = sql`update ${sql.table(table)} set ${one} where id = ${null}`;
  const set = sql.join(names.map(name => sql`${sql.ref(name)} = given.${sql.ref(name)}`));
  const types: readonly ColumnType[] = [...Object.values(columns), 'integer'];
  const row = sql`(${sql.join(types.map(type => sql`cast(${null} as ${sql.raw(type)})`))})`;
  const given = sql.join([...names, 'id'].map(name => sql.ref(name)));
  return bulk(table, dialect.name === 'sqlite' ? [1] : updateSizes, size =>
    (size === 1
      ? single
      : sql`update ${sql.table(table)} set ${set} from (values ${rowsOf(row, size)}) as given (${given})
          where ${sql.table(table)}.id = given.id`
    ).compile(build),
  );
}
