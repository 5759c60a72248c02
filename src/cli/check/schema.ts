/**
 * Checks the schema against the migrations. A restore that ended early, or copied rows only, may leave a database without
 * indexes, keys and references, or with sequences that give ids that rows already have.
 */
import { sql } from 'kysely';
import type { Session } from '../../storage/database.ts';
import { migrations } from '../../storage/migrations/index.ts';
import { migrate } from '../../storage/migrations/migrate.ts';
import { openSqlite } from '../../storage/sqlite/index.ts';
import { succeedOnce } from '../../turns/once.ts';
import type { Check, Storage } from './check.ts';

/** What the migrations declare on both databases, read from a new database in memory. */
async function readExpected(): Promise<string[]> {
  const empty = openSqlite(':memory:');
  try {
    await migrate(empty, Date.now);
    return await empty.write(session => readDeclared(session, empty));
  } finally {
    await empty.close();
  }
}

async function readDeclared(session: Session, { build, dialect }: Storage): Promise<string[]> {
  const rows = await session.all(dialect.checks.declared.compile(build));
  return rows.map(({ line }) => line);
}

type GetExpected = () => Promise<readonly string[]>;

export function createSchemaChecks(database: Storage): Check[] {
  const getExpected = succeedOnce(readExpected);
  return [createDeclaredCheck(database, getExpected), ...createNextIdsCheck(database, getExpected)];
}

function createDeclaredCheck(database: Storage, getExpected: GetExpected): Check {
  const { build, dialect } = database;
  const ran = sql<{ name: string }>`select name from migrations`.compile(build);
  const known = new Set(migrations.map(({ name }) => name));
  return {
    name: 'schema',
    async find(session) {
      // A newer release may declare other things.
      if ((await session.all(ran)).some(({ name }) => !known.has(name))) return [];
      const found = new Set([
        ...(await readDeclared(session, database)),
        ...(await readDeferred(session, database)),
      ]);
      const expected = [...(await getExpected()), ...dialect.checks.ownDeclared];
      return expected.filter(line => !found.has(line)).map(line => `the ${line} is missing`);
    },
  };
}

/** Indexes that a load of many rows has dropped, and builds afterwards; after a crash, the next start builds them. */
async function readDeferred(session: Session, { build, dialect }: Storage): Promise<string[]> {
  const table = 'deferred_indexes';
  if ((await session.first(dialect.column(table, 'name').compile(build))) === undefined) return [];
  const rows = await session.all(sql<{ name: string }>`select name from ${sql.table(table)}`.compile(build));
  return rows.map(({ name }) => `index ${name}`);
}

interface Behind {
  readonly table: string;
  readonly largest: number;
}

/** @returns no check where a table's own rows give its next id */
function createNextIdsCheck({ build, dialect }: Storage, getExpected: GetExpected): Check[] {
  const { continueIds, checks } = dialect;
  const { sequences } = checks;
  if (sequences === undefined || continueIds === undefined) return [];
  const tables = sequences.tables.compile(build);

  const findBehind = async (session: Session): Promise<Behind[]> => {
    const behind: Behind[] = [];
    const expected = await getExpected();
    // Other programs may have tables in the same schema.
    const own = (await session.all(tables)).filter(({ table }) =>
      expected.includes(`primary key (id) of ${table}`),
    );
    for (const { table } of own) {
      const ids = await session.first(sequences.lastIds(table).compile(build));
      if (ids !== undefined && ids.given < ids.largest) behind.push({ table, largest: ids.largest });
    }
    return behind;
  };
  return [
    {
      name: 'next ids',
      find: async session =>
        (await findBehind(session)).map(
          ({ table, largest }) => `the sequence of ${table} is behind its largest id, ${largest}`,
        ),
      async repair(session) {
        for (const { table, largest } of await findBehind(session))
          await session.all(continueIds(table, largest).compile(build));
      },
    },
  ];
}
