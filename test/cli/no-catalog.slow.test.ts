/**
 * What no command may take for its catalog: a database of another release, which only a deliberate upgrade may
 * migrate, and a file that is not a catalog.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { commands } from '../../src/cli/index.ts';
import { migrations } from '../../src/storage/migrations/index.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { buildRelease } from '../support/service/release.ts';
import { runHere } from './here.ts';
import {
  createCatalog,
  createPlace,
  csv,
  type Place,
  productsOf,
  waitFor,
  withDatabaseOf,
} from './program.ts';

/** A command line for each command that works with an existing catalog. */
const working: readonly (readonly string[])[] = [
  ['users', 'list'],
  ['users', 'create', '--email', 'a@shop.example', '--name', 'A', '--role', 'admin'],
  ['users', 'set-password', 'a@shop.example'],
  ['users', 'set-role', 'a@shop.example', 'user'],
  ['keys', 'list'],
  ['keys', 'create', '--name', 'x', '--scopes', 'data:read'],
  ['keys', 'revoke', '1'],
  ['export', '--output', 'FOLDER/export.csv'],
  ['check'],
  ['check', '--repair'],
  ['media', 'check'],
];
const runIn = (place: Place, args: readonly string[]) =>
  place.runHere(args.map(argument => argument.replace('FOLDER', place.folder)));

test('this file covers every command', () => {
  const others = ['serve', 'migrate', 'import', 'restore', 'backup', 'copy'];
  const known = [...others, ...working.map(([name]) => name)];
  expect(commands.map(({ name }) => name).filter(name => !known.includes(name))).toEqual([]);
});

test('every command reports a DATA_DIR below a file', async () => {
  const place = await createPlace('sqlite');
  const DATA_DIR = join(place.file('a file', ''), 'data');
  const others = [['migrate'], ['serve', '--port', '0'], ['backup', join(place.folder, 'b.db')]];
  const file = place.file('p.csv', csv);
  for (const args of [
    ...working,
    ...others,
    ['import', file],
    ['import', file, '--dry-run'],
    ['restore', file],
  ])
    expect([args, await runHere(args, { ...place.environment, DATA_DIR })]).toEqual([
      args,
      {
        status: 1,
        out: '',
        err: `catalog: setting DATA_DIR: ${DATA_DIR} is not a folder, or lies below a file; name a folder\n`,
      },
    ]);
  place.remove();
});

const last = migrations.at(-1)?.name ?? '';

const readApplied = (place: Place) =>
  withDatabaseOf(place, async ({ read, build }) =>
    (await read.all(build.selectFrom('migrations').select('name').orderBy('name').compile())).map(
      ({ name }) => name,
    ),
  );

const change = (place: Place, statement: string) =>
  withDatabaseOf(place, ({ write, build }) =>
    write(session => session.run(sql.raw(statement).compile(build))),
  );

describeOnDatabases('a catalog of another release on %s', kind => {
  let place: Place;
  beforeAll(async () => {
    place = await createCatalog(kind, { HOST: '127.0.0.1' });
  });
  afterAll(() => place.remove());

  test('the command line leaves migrations of an earlier release to serve, migrate and import', async () => {
    await change(place, `delete from migrations where name = '${last}'`);
    const before = await readApplied(place);
    const line = `The database lacks the migration ${last}; upgrade it with catalog migrate first.\n`;
    for (const args of [...working, ['import', place.file('p.csv', csv), '--dry-run']]) {
      const err = `catalog ${args[0]}: ${line}`;
      expect([args, await runIn(place, args)]).toEqual([args, { status: 1, out: '', err }]);
    }
    expect(await readApplied(place)).toEqual(before);
    await change(place, `insert into migrations (name, applied_at) values ('${last}', 0)`);
    expect((await place.runHere(['users', 'list'])).status).toBe(0);
  });

  test('the command line refuses a later release with an unknown migration', async () => {
    await change(place, `insert into migrations (name, applied_at) values ('9999-without-names', 0)`);
    for (const args of working) {
      const ended = await runIn(place, args);
      expect([args, ended.status, ended.out]).toEqual([args, 1, '']);
      expect(ended.err).toContain('does not know its migration 9999-without-names');
    }
    await change(place, `delete from migrations where name = '9999-without-names'`);
    // A migration that only adds is not a reason to refuse.
    await change(place, `insert into migrations (name, applied_at) values ('9999-expand-names', 0)`);
    expect((await place.runHere(['users', 'list'])).status).toBe(0);
    await change(place, `delete from migrations where name = '9999-expand-names'`);
  });

  test('a service stays ready while the command line of a later release is used beside it', async () => {
    const later = { name: '9001-without-colours', statement: 'create table colours (name text)' };
    const own = await createCatalog(kind, { HOST: '127.0.0.1' });
    const program = buildRelease(own.folder, 'later', [later]);
    const child = own.start(['serve', '--port', '0']);
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    for (const args of [
      ['users', 'list'],
      ['keys', 'create', '--name', 'x', '--scopes', 'data:read'],
    ]) {
      const command = own.start(args, [], program);
      expect(await command.stderr.text()).toContain(`lacks the migration ${later.name}; upgrade it`);
      expect(await command.exited).toBe(1);
    }
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    const migrated = own.start(['migrate'], [], program);
    expect([await migrated.stdout.text(), await migrated.exited]).toEqual([`migrated ${later.name}\n`, 0]);
    expect((await fetch(`${url}/ready`)).status).toBe(503);
    child.kill('SIGTERM');
    await child.exited;
    own.remove();
  });
});

test('backup copies a catalog of an earlier release without migrating it', async () => {
  const place = await createCatalog('sqlite');
  await change(place, `delete from migrations where name = '${last}'`);
  const before = await readApplied(place);
  expect((await runIn(place, ['backup', 'FOLDER/copy.db'])).status).toBe(0);
  expect(await readApplied(place)).toEqual(before);
  place.remove();
});

/** On PostgreSQL there is no file that could be mistaken for a catalog, only a database without tables. */
describeOnDatabases('a database without a catalog on %s', kind => {
  test('no command treats it as an empty catalog', async () => {
    const place = await createPlace(kind);
    const file = join(place.environment.DATA_DIR ?? '', 'catalog.db');
    if (kind === 'sqlite') await withDatabaseOf(place, async () => undefined);
    const where = kind === 'sqlite' ? file : 'the database of DATABASE_URL';
    const line = new RegExp(
      `^catalog \\w+: ${where} is not a Catalog database: it has no table of migrations; (restore a backup|restore a dump).* catalog migrate\n$`,
    );
    for (const args of kind === 'sqlite' ? [...working, ['backup', 'FOLDER/copy.db']] : working) {
      const ended = await runIn(place, args);
      expect([args, ended.status, ended.out]).toEqual([args, 1, '']);
      expect(ended.err).toMatch(line);
    }
    expect(await place.runHere(['import', place.file('p.csv', csv), '--dry-run'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('3 created'),
    });
    expect((await place.runHere(['migrate'])).status).toBe(0);
    expect((await place.runHere(['users', 'list'])).status).toBe(0);
    place.remove();
  });
});

describe('a file that is no catalog', () => {
  let place: Place;
  let file: string;
  const put = async (content: string) => {
    place = await createPlace('sqlite', { HOST: '127.0.0.1' });
    file = join(place.environment.DATA_DIR ?? '', 'catalog.db');
    mkdirSync(place.environment.DATA_DIR ?? '', { mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600 });
  };

  test('if empty, is refused by other commands, and stays unchanged with the files beside it', async () => {
    await put('');
    writeFileSync(`${file}-wal`, 'of a database that was cut off', { mode: 0o600 });
    for (const args of [...working, ['backup', 'FOLDER/copy.db']]) {
      const err = `catalog ${args[0]}: ${file} is not a Catalog database: it is an empty file; restore a backup with catalog restore, or create a new catalog in it with catalog migrate\n`;
      expect([args, await runIn(place, args)]).toEqual([args, { status: 1, out: '', err }]);
    }
    const products = place.file('p.csv', csv);
    expect((await place.runHere(['import', products, '--dry-run'])).out).toContain('3 created');
    expect([statSync(file).size, readFileSync(`${file}-wal`, 'utf8')]).toEqual([
      0,
      'of a database that was cut off',
    ]);
    place.remove();
  });

  test.each([[['migrate']], [['import', 'FOLDER/p.csv']]])('if empty, is a new catalog: %j', async args => {
    await put('');
    place.file('p.csv', csv);
    expect((await runIn(place, args)).status).toBe(0);
    expect(await productsOf(place)).toHaveLength(args[0] === 'import' ? 3 : 0);
    place.remove();
  });

  test('if empty, is a new catalog for serve', async () => {
    await put('');
    const child = place.start(['serve', '--port', '0']);
    await waitFor(child.stderr, /not shown again/);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    place.remove();
  });

  test('is named when it is no database, with advice that leads to a restore', async () => {
    await put('these are notes, and no database\n'.repeat(100));
    const says = `${file}: file is not a database`;
    for (const args of [['migrate'], ['users', 'list'], ['backup', 'FOLDER/copy.db']]) {
      const err = `catalog ${args[0]}: ${says}; run catalog check, or restore a backup\n`;
      expect([args, await runIn(place, args)]).toEqual([args, { status: 1, out: '', err }]);
    }
    const err = `catalog check: ${says}; restore a backup\n`;
    expect(await place.runHere(['check'])).toEqual({ status: 1, out: '', err });
    place.remove();
  });

  test('check reports damage without the advice to run check', async () => {
    place = await createCatalog('sqlite');
    const data = place.environment.DATA_DIR ?? '';
    file = join(data, 'catalog.db');
    expect((await place.runHere(['import', place.file('p.csv', csv)])).status).toBe(0);
    const bytes = readFileSync(file);
    // Spares the first pages, which hold the schema and the migrations.
    bytes.fill(0x5a, Math.floor(bytes.length / 2));
    writeFileSync(file, bytes);
    const { status, out, err } = await place.runHere(['check']);
    expect([status, out + err]).toEqual([1, expect.stringMatching(/malformed|cannot be read/)]);
    expect(out + err).not.toContain('run catalog check');
    place.remove();
  });
});

const refusedFiles: readonly (readonly [
  name: string,
  content: string | undefined,
  options: readonly string[],
  reason: string,
])[] = [
  ['none.csv', undefined, [], 'there is no file FOLDER/none.csv'],
  ['.', undefined, [], 'FOLDER/. is a folder'],
  ['x.pdf', '%PDF-1.7', [], 'FOLDER/x.pdf is a PDF file: export the data as CSV, NDJSON or JSON'],
  ['empty.csv', '', [], 'FOLDER/empty.csv has no records: it is empty'],
  [
    'e.csv',
    'a,price\nx,1\n',
    [],
    'there is no column "name": name it with --map name=COLUMN, one of a, price',
  ],
  [
    'm.csv',
    csv,
    ['--map', 'name=titel'],
    'the first record has no column "titel" for name; it has sku, name',
  ],
  ['p.json', '{"a":1}', ['--path', 'b'], 'FOLDER/p.json has no array at "b"; name the member'],
  ['shop.csv', csv, ['--preset', 'shopify'], 'FOLDER/shop.csv is not a product export of Shopify'],
  ['r.csv', csv, ['--rejects', 'FOLDER/missing/r'], '--rejects cannot write FOLDER/missing/r'],
];

test.each(refusedFiles)(
  'an import that is refused makes no database: of %s',
  async (name, content, options, reason) => {
    const place = await createPlace('sqlite');
    if (content !== undefined) place.file(name, content);
    const ended = await runIn(place, ['import', `FOLDER/${name}`, ...options]);
    expect([ended.status, ended.out]).toEqual([1, '']);
    expect(ended.err).toStartWith(`catalog import: ${reason.replace('FOLDER', place.folder)}`);
    expect(existsSync(place.environment.DATA_DIR ?? '')).toBe(false);
    place.remove();
  },
);

test('an import of a missing file does not migrate a catalog of an earlier release', async () => {
  const place = await createCatalog('sqlite');
  await change(place, `delete from migrations where name = '${last}'`);
  const before = await readApplied(place);
  expect((await runIn(place, ['import', 'FOLDER/none.csv'])).err).toContain('there is no file');
  expect(await readApplied(place)).toEqual(before);
  place.remove();
});
