/** The thread that reads an SQLite database in the background: another one takes its place when it has ended. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createSqliteBuilder } from '../../../src/storage/builder.ts';
import { createBackgroundReader } from '../../../src/storage/sqlite/threads/reader.ts';
import { expectRejection } from '../../support/http/rejection.ts';

test('a read works again after one whose thread could not open the database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-background-'));
  const file = join(folder, 'catalog.db');
  const reader = createBackgroundReader(file);
  const build = createSqliteBuilder();
  const read = () => reader.snapshot(session => session.all(sql`select 1 as one`.compile(build)));
  await expectRejection(read(), 'the next read starts another');
  new Database(file).close();
  expect(await read()).toEqual([{ one: 1 }]);
  await reader.close();
  rmSync(folder, { recursive: true });
});
