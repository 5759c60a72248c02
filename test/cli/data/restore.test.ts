/** Restoring a backup: its data is served again, and a faulty backup changes nothing. */
import { Database } from 'bun:sqlite';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { checkRestorable, putInPlace } from '../../../src/storage/sqlite/files/restore.ts';
import { runHere } from '../here.ts';
import { createCatalog, createPlace, type Place, productsOf, waitFor } from '../program.ts';

// Each test starts several processes.
setDefaultTimeout(60_000);

describe('catalog restore', () => {
  let place: Place;
  let data: string;
  let copy: string;
  const names = async () => (await productsOf(place)).map(({ name }) => name);
  const importOne = (name: string) =>
    place.runHere(['import', place.file('one.csv', `name,price\n${name},1\n`)]);
  const restore = (file: string) => place.runHere(['restore', file]);
  const former = () => readdirSync(data).filter(name => name.includes('before-restore'));

  const use = (next: Place) => {
    place = next;
    data = place.environment.DATA_DIR ?? '';
    copy = join(place.folder, 'copy.db');
  };

  let original: Place;
  beforeAll(async () => {
    original = await createCatalog('sqlite', { HOST: '127.0.0.1' });
    use(original);
    expect(await importOne('Kept')).toMatchObject({ status: 0 });
    expect(await place.runHere(['backup', copy])).toMatchObject({ status: 0 });
    expect(await importOne('Later')).toMatchObject({ status: 0 });
  });
  afterAll(() => original.remove());

  // Each test changes the database or the backup in its own way.
  beforeEach(async () => {
    use(await createPlace('sqlite', { HOST: '127.0.0.1' }));
    cpSync(original.folder, place.folder, { recursive: true });
  });
  afterEach(() => place.remove());

  test.skipIf(process.getuid?.() !== 0)('what root restores belongs to the owner of the folder', async () => {
    const [user, group] = [1234, 2345];
    chownSync(data, user, group);
    chmodSync(copy, 0o644);
    expect(await restore(copy)).toMatchObject({ status: 0 });
    const { uid, gid, mode } = statSync(join(data, 'catalog.db'));
    expect([uid, gid, mode & 0o777]).toEqual([user, group, 0o600]);
  });

  test('twice within a second keeps both former databases', async () => {
    for (let count = 1; count <= 3; count++) expect(await restore(copy)).toMatchObject({ status: 0 });
    expect(await names()).toEqual(['Kept']);
    expect(former().filter(name => /before-restore-[^-]*(-\d)?$|Z(-\d)?$/.test(name)).length).toBe(3);
  });

  const copyOf = (name: string, change: (file: string) => void): string => {
    const file = place.file(name, readFileSync(copy));
    change(file);
    return file;
  };
  const sqlOn = (statement: string) => (file: string) => {
    using connection = new Database(file);
    connection.run(statement);
  };
  test.each<[string, () => string, RegExp]>([
    ['no file', () => join(place.folder, 'none.db'), /there is no file .*none\.db\n$/],
    ['the database itself', () => join(data, 'catalog.db'), /is the database itself; name a backup\n$/],
    [
      'no database',
      () => place.file('text.db', 'name,price\n'.repeat(100)),
      /it is not an SQLite database; decompress a compressed copy first\n$/,
    ],
    [
      'an empty file',
      () => place.file('empty.db', ''),
      /not a Catalog database: it has no table of migrations\n$/,
    ],
    [
      'half a database',
      () => copyOf('half.db', file => truncateSync(file, statSync(file).size / 2)),
      /was not restored: it is damaged or cut off \(.*\n$/,
    ],
    [
      'a copy with a damaged index',
      () =>
        copyOf('index.db', file => {
          const bytes = readFileSync(file);
          // An entry of an index: the name and the status.
          const at = bytes.indexOf('Keptactive');
          expect(at).toBeGreaterThan(0);
          writeFileSync(file, bytes.fill('/', at, at + 1));
        }),
      /was not restored: the copy is damaged: .*missing from index/,
    ],
    [
      'a backup of a newer release',
      () => copyOf('newer.db', sqlOn("insert into migrations values ('9999-later', 0)")),
      /newer than this program, .*9999-later/,
    ],
  ])('refuses %s', async (_, file, reason) => {
    const { status, out, err } = await restore(file());
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/^catalog restore: [^\n]*\n$/);
    expect(err).toMatch(reason);
    expect(await names()).toEqual(['Kept', 'Later']);
    expect(readdirSync(data).filter(name => /restore/.test(name))).toEqual([]);
  });

  test('refuses while a service runs, even with an unreadable database; then restores the copy without the former log', async () => {
    const service = place.start(['serve', '--port', '0']);
    try {
      await waitFor(service.stdout, /"address"/);
      const refused = {
        status: 1,
        err: expect.stringMatching(/in use by process \d+; stop the service first/),
      };
      expect(await restore(copy)).toMatchObject(refused);
      // Before the copy is made, and again after it.
      expect(() => checkRestorable(copy, join(data, 'catalog.db'))).toThrow(/in use by process/);
      expect(() => putInPlace(copy, join(data, 'catalog.db'), 'now')).toThrow(/in use by process/);
      writeFileSync(join(data, 'catalog.db'), 'x'.repeat(100), { flag: 'r+' });
      expect(await restore(copy)).toMatchObject(refused);
      expect(former()).toEqual([]);
    } finally {
      service.kill('SIGKILL');
      await service.exited;
    }
    expect(existsSync(join(data, 'catalog.db-wal'))).toBe(true);
    const bytes = readFileSync(copy);
    const ended = await restore(copy);
    expect(ended).toMatchObject({ status: 0, err: '', out: expect.stringContaining(': 1 product, ') });
    expect(former().filter(name => /Z$/.test(name))).toHaveLength(1);
    expect(readdirSync(data).filter(name => /^catalog\.db-/.test(name))).toEqual([]);
    expect(statSync(join(data, 'catalog.db')).mode & 0o777).toBe(0o600);
    expect(readFileSync(copy)).toEqual(bytes);
    expect(await names()).toEqual(['Kept']);
  });

  test('creates a database where there was none, from a copy with its log', async () => {
    const writer = new Database(copy);
    writer.run('PRAGMA journal_mode = WAL');
    writer.run("update products set document = replace(document, 'Kept', 'In the log')");
    const raw = place.file('raw.db', readFileSync(copy));
    place.file('raw.db-wal', readFileSync(`${copy}-wal`));
    writer.close();
    rmSync(data, { recursive: true });
    expect(await restore(raw)).toMatchObject({ status: 0, err: '' });
    expect(readdirSync(data)).toEqual(['catalog.db']);
    expect(await names()).toEqual(['In the log']);
  });

  test('a copy of a database during an import that had it to itself is restored as it was before the import', async () => {
    const writer = new Database(copy);
    // Changed pages are written to the file before the commit.
    writer.run('PRAGMA cache_size = 1');
    writer.run('begin');
    writer.run("update products set document = replace(document, 'Kept', 'Half written')");
    writer.run(
      'create table filler as with recursive n(i) as (select 1 union all select i + 1 from n where i < 100) select randomblob(5000) from n',
    );
    const raw = place.file('raw.db', readFileSync(copy));
    place.file('raw.db-journal', readFileSync(`${copy}-journal`));
    writer.run('rollback');
    writer.close();
    expect(readFileSync(raw)).not.toEqual(readFileSync(copy));
    expect(await restore(raw)).toMatchObject({ status: 0, err: '' });
    expect(await names()).toEqual(['Kept']);
    expect(readdirSync(data).filter(name => /^catalog\.db-/.test(name))).toEqual([]);
  });

  test('refuses while a connection holds the database, whose process is not known', async () => {
    using held = new Database(join(data, 'catalog.db'));
    held.run('PRAGMA journal_mode = WAL');
    expect(await restore(copy)).toMatchObject({
      status: 1,
      err: expect.stringContaining('is in use by another process; stop the service first'),
    });
    expect(former()).toEqual([]);
  });

  test('leaves no folder behind when there is nothing to restore', async () => {
    rmSync(data, { recursive: true });
    const noCatalog = place.file('notes.db', 'these are notes');
    for (const file of [join(place.folder, 'nowhere.db'), noCatalog]) {
      expect(await restore(file)).toMatchObject({ status: 1, out: '' });
      expect([file, existsSync(data)]).toEqual([file, false]);
      const below = join(data, 'below');
      expect(await runHere(['restore', file], { ...place.environment, DATA_DIR: below })).toMatchObject({
        status: 1,
      });
      expect([file, existsSync(data)]).toEqual([file, false]);
    }
  });

  test('on PostgreSQL names the tool for it', async () => {
    const elsewhere = await createPlace('sqlite', { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    const ended = await elsewhere.runHere(['restore', copy]);
    elsewhere.remove();
    expect(ended).toMatchObject({
      status: 1,
      err: expect.stringMatching(/^catalog restore: .*pg_restore or psql\n$/),
    });
  });
});
