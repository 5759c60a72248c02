/** Databases as older releases left them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { loadConfig } from '../../../src/config.ts';
import type { Database } from '../../../src/storage/database.ts';
import { migrations } from '../../../src/storage/migrations/index.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import { createDatabase } from './postgres.ts';

/** Runs the migrations before the named one, as an older release did. */
export async function migrateUpTo(database: Database, name: string): Promise<void> {
  const { text, moment } = database.dialect.types;
  const older = migrations.filter(migration => migration.name < name);
  await database.exclusively(async session => {
    const table = sql`create table migrations (name ${text} primary key, applied_at ${moment} not null)`;
    await session.run(table.compile(database.build));
    for (const migration of older) {
      await migration.up(session, database);
      const row = { name: migration.name, applied_at: 1 };
      await session.run(database.build.insertInto('migrations').values(row).compile());
    }
  });
}

/** A database as it was before the named migration; `run` writes to it. */
export async function olderDatabase(kind: string, name: string) {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-test-'));
  const config = loadConfig({
    DATA_DIR: folder,
    JWT_SECRET: 'a secret for tests that is long enough for HS256',
    ...(kind === 'postgresql' ? { DATABASE_URL: await createDatabase() } : {}),
  });
  const database = openDatabase(config);
  await migrateUpTo(database, name);
  return {
    database,
    run: (statement: RawBuilder<unknown>) =>
      database.write(session => session.run(statement.compile(database.build))),
    async remove() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The short form of a product as it was stored: the paths of its categories are on a line of their own. */
export const storeList = (list: readonly unknown[]): string =>
  JSON.stringify(list).replace('[null,[],', '[null,[],\n');
