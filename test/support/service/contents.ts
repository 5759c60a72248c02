/** The whole content of a database, so that a test can assert that nothing was written. */
import { expect } from 'bun:test';
import { type RawBuilder, sql } from 'kysely';
import type { TestService } from './service.ts';

/** Even a refused request may write to these: they count requests. */
const bookkeeping = ['quotas', 'failed_attempts'];

type Observed = Pick<TestService, 'database' | 'kind' | 'settle' | 'clock'>;
type Read<T> = () => Promise<T>;

/** A fingerprint of a table's rows. */
interface Mark {
  readonly name: string;
  readonly rows: number;
  readonly mark: string | null;
}

interface Readers {
  /** Every row of every table, as sorted JSON lines. */
  readonly lines: Read<string[]>;
  /** A value that changes with every commit. */
  readonly state: Read<unknown>;
}

const readersOf = {
  async sqlite(database: TestService['database']): Promise<Readers> {
    const { read, build } = database;
    const catalog = sql<{
      name: string;
    }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and sql not like 'create virtual%'`;
    const tables = (await read.all(catalog.compile(build)))
      .filter(({ name }) => !bookkeeping.includes(name))
      .map(({ name }) => ({ name, query: sql`select * from ${sql.table(name)}`.compile(build) }));
    return {
      async lines() {
        const lines: string[] = [];
        for (const { name, query } of tables)
          for (const row of await read.all(query)) lines.push(`${name} ${JSON.stringify(row)}`);
        return lines.sort();
      },
      state: async () => ({ commits: database.state() }),
    };
  },
  /**
   * One statement for all tables: one for each would cost many times as much. It has a parameter, because a statement
   * without parameters is not prepared: it would be planned each time, which is nine tenths of its work.
   */
  async postgresql({ read, build }: TestService['database']): Promise<Readers> {
    const catalog = sql<{
      name: string;
    }>`select tablename as name from pg_tables where schemaname = 'public'`;
    const names = (await read.all(catalog.compile(build)))
      .map(({ name }) => name)
      .filter(name => !bookkeeping.includes(name));
    const ofEach = <Row>(select: (name: string) => RawBuilder<unknown>) =>
      sql<Row>`select * from (${sql.join(names.map(select), sql` union all `)}) as t where ${true}`.compile(
        build,
      );
    const lines = ofEach<{ readonly line: string }>(
      name => sql`select ${sql.lit(`${name} `)} || row_to_json(t)::text as line from ${sql.table(name)} t`,
    );
    // The position of each row version and the transaction that wrote it: a tenth of the work of reading the rows.
    const marks = ofEach<Mark>(
      name => sql`select ${sql.lit(name)} as name, cast(count(*) as integer) as rows,
        cast(sum(hash_record_extended(row(ctid, xmin), 0)) as text) as mark from ${sql.table(name)}`,
    );
    return {
      lines: async () => (await read.all(lines)).map(({ line }) => line).sort(),
      state: () => read.all(marks),
    };
  },
};

const known = new WeakMap<TestService['database'], Promise<Readers>>();

function readers({ database, kind }: Observed): Promise<Readers> {
  const made = known.get(database) ?? readersOf[kind](database);
  known.set(database, made);
  return made;
}

/** The time and the database's state when work was last settled. */
const settled = new WeakMap<TestService['database'], { readonly at: number; readonly state: string }>();

/** @param read returns a value that changes with every write */
async function whenSettled<T>(observed: Observed, read: Read<T>): Promise<T> {
  const { database, clock, settle } = observed;
  const found = await read();
  const last = settled.get(database);
  if (last?.at === clock.now() && last.state === JSON.stringify(found)) return found;
  // Pending work of earlier requests must not count as a write of the next request.
  await settle();
  const state = await read();
  settled.set(database, { at: clock.now(), state: JSON.stringify(state) });
  return state;
}

/** Every row of every table, as sorted JSON lines. */
export async function contentsOf(service: Observed): Promise<string[]> {
  await service.settle();
  return (await readers(service)).lines();
}

/**
 * Records the state of the database.
 * @returns a function that asserts that nothing has been committed since
 */
export async function unchanged(service: Observed): Promise<() => Promise<void>> {
  const { state } = await readers(service);
  const before = await whenSettled(service, state);
  return async () => expect(await whenSettled(service, state)).toEqual(before);
}

/** Runs `work` and asserts that the database holds the same before and after. */
export async function writesNothing<T>(service: TestService, work: () => Promise<T>): Promise<T> {
  const check = await unchanged(service);
  const result = await work();
  await check();
  return result;
}
