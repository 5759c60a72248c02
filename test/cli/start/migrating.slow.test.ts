/** Migrations are reported while they run, because an upgrade of a large catalog takes minutes. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import { holdLocks } from '../../support/peers/held-locks.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { migrateUpTo } from '../../support/service/older-database.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { buildRelease } from '../../support/service/release.ts';
import { createCatalog, createPlace, csv, type Place, waitFor } from '../program.ts';

const step = { name: '9001-expand-colours', statement: 'create table colours (name text)' };

describeOnDatabases('a migration of a catalog in use on %s', kind => {
  let place: Place;
  let releases: string;
  let program: string;
  beforeAll(() => {
    releases = mkdtempSync(join(tmpdir(), 'catalog-releases-'));
    program = buildRelease(releases, 'later', [step]);
  });
  afterAll(() => rmSync(releases, { recursive: true }));
  beforeEach(async () => {
    place = await createCatalog(kind, { HOST: '127.0.0.1', LOG_LEVEL: 'info' });
    const user = ['--email', 'a@shop.example', '--name', 'A', '--role', 'admin'];
    expect((await place.runHere(['users', 'create', ...user])).status).toBe(0);
  });
  afterEach(() => place.remove());

  test('is named in the log of serve as it begins', async () => {
    const child = place.start(['serve', '--port', '0'], [], program);
    await waitFor(child.stderr, /ready at (http:\S+)/);
    child.kill('SIGTERM');
    const lines = (await child.stdout.text()).split('\n');
    const named = lines.filter(line => line.includes('"migrating"'));
    expect(named.map(line => JSON.parse(line))).toMatchObject([{ level: 'info', migration: step.name }]);
    await child.exited;
  });

  test.each(['migrate', 'import'])('is named by %s on standard error', async name => {
    const child = place.start(name === 'import' ? [name, place.file('p.csv', csv)] : [name], [], program);
    expect(await child.stderr.text()).toStartWith(`catalog: migrating ${step.name}\n`);
    await child.exited;
  });
});

describeOnDatabases('a catalog that another replica has just begun to create on %s', kind => {
  test('has no line for each migration, and nothing to do afterwards', async () => {
    const fresh = await createPlace(kind);
    const database = openDatabase(loadConfig(fresh.environment));
    await migrateUpTo(database, '0033');
    await database.close();
    const { status, out, err } = await fresh.runHere(['migrate']);
    expect([status, err]).toEqual([0, '']);
    const lines = out.trim().split('\n');
    expect(lines[0]).toBe('migrated 0033-expand-parts-of-words');
    expect(lines.filter(line => !line.startsWith('migrated '))).toEqual([]);
    fresh.remove();
  });
});

test.skipIf(!hasPostgres)('a service waits while a migrated database is being filled', async () => {
  const place = await createCatalog('postgresql', { HOST: '127.0.0.1' });
  const database = openDatabase(loadConfig(place.environment));
  await using held = holdLocks(place.environment.DATABASE_URL ?? '');
  // As `catalog copy` does.
  const child = await database.exclusively(async () => {
    const started = place.start(['serve', '--port', '0']);
    await held.waiting(1);
    return started;
  });
  await waitFor(child.stderr, /ready at/);
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  await database.close();
  place.remove();
});

test('a new catalog has no log line for each migration', async () => {
  const fresh = await createPlace('sqlite');
  expect(await fresh.runHere(['migrate'])).toMatchObject({ status: 0, err: '' });
  fresh.remove();
});
