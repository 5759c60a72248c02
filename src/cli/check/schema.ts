/**
 * Checks the schema against the migrations. A restore that ended early, or copied rows only, may leave a database without
 * indexes, keys and references, or with sequences that give ids that rows already have.
 */
import { sql } from 'kysely';
import type { Session } from '../../storage/database.ts';
import { migrations } from '../../storage/migrations/index.ts';
import { migrate } from '../../storage/migrations/migrate.ts';
import { openSqlite } from '../../storage/sqlite/index.ts';
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

export function createSchemaCheck(database: Storage): Check {
  const { build, dialect } = database;
  const ran = sql<{ name: string }>`select name from migrations`.compile(build);
  const deferred = dialect.column('deferred_indexes', 'name').compile(build);
  const known = new Set(migrations.map(({ name }) => name));
  return {
    name: 'schema',
    async find(session) {
      // A newer release may declare other things.
      if ((await session.all(ran)).some(({ name }) => !known.has(name))) return [];
      const found = new Set(await readDeclared(session, database));
      const expected = [...(await readExpected()), ...dialect.checks.ownDeclared];
      // A load of many rows drops indexes and builds them afterwards; after a crash, the next start builds them.
      const isLoading = (await session.first(deferred)) !== undefined;
      return expected
        .filter(line => !found.has(line) && !(isLoading && line.startsWith('index ')))
        .map(line => `the ${line} is missing`);
    },
  };
}

interface Behind {
  readonly table: string;
  readonly largest: number;
}

/** @returns no check where a table's own rows give its next id */
export function createNextIdsCheck({ build, dialect }: Storage): Check[] {
  const { continueIds, checks } = dialect;
  const { sequences } = checks;
  if (sequences === undefined || continueIds === undefined) return [];
  const tables = sequences.tables.compile(build);

  const findBehind = async (session: Session): Promise<Behind[]> => {
    const behind: Behind[] = [];
    for (const { table } of await session.all(tables)) {
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
