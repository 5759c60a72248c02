/** The output of a command never replaces its input, or files that the service keeps in DATA_DIR. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createCatalog, csv, main, onCatalog, type Place, productsOf } from '../program.ts';

let place: Place;
let data: string;
beforeAll(async () => {
  place = await createCatalog('sqlite');
  data = join(place.folder, 'data');
  await place.runHere(['import', place.file('first.csv', csv)]);
});
afterAll(() => place.remove());

const names = ['the same path', 'another spelling', 'a symbolic link', 'a hard link'] as const;

/** Another name for the file, of the given kind. */
function otherName(kind: (typeof names)[number], file: string): string {
  if (kind === 'the same path') return file;
  if (kind === 'another spelling') return `${place.folder}/./${relative(place.folder, file)}`;
  const other = join(place.folder, `link-${crypto.randomUUID()}`);
  (kind === 'a hard link' ? linkSync : symlinkSync)(file, other);
  return other;
}

test.each(names)('an import refuses to write its rejects into its own file, by %s', async kind => {
  const text = 'sku,name,price\nN-1,Lamp,x\nN-2,Cup,5\n';
  for (const options of [[], ['--dry-run'], ['--skip', '1']]) {
    const file = place.file('own.csv', text);
    const rejects = otherName(kind, file);
    const ended = await place.runHere(['import', file, '--rejects', rejects, ...options]);
    expect(ended).toEqual({
      status: 1,
      out: '',
      err: `catalog import: --rejects ${rejects} is the file being read; name another file\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  expect((await productsOf(place)).map(({ sku }) => sku)).toEqual(['A-1', 'A-2', 'A-3']);
});

test('an import refuses to write its rejects into the file that is its standard input', async () => {
  const file = place.file('input.csv', csv);
  const child = Bun.spawn([process.execPath, main, 'import', '-', '--rejects', file], {
    env: { PATH: process.env.PATH ?? '', ...place.environment },
    stdin: Bun.file(file),
    stderr: 'pipe',
  });
  expect(await child.stderr.text()).toEndWith('is the file being read; name another file\n');
  expect([await child.exited, readFileSync(file, 'utf8')]).toEqual([1, csv]);
});

const files = ['catalog.db', 'catalog.db-wal', 'catalog.db-shm', 'jwt-secret', 'outbox/mail', 'media/image'];

test.each(files)('no command overwrites %s in DATA_DIR', async name => {
  const target = join(data, name);
  for (const folder of ['outbox', 'media']) mkdirSync(join(data, folder), { recursive: true });
  const before = readdirSync(data, { recursive: true }).sort();
  const source = place.file('second.csv', 'sku,name,price\nS-1,,x\n');
  for (const args of [
    ['export', '--output', target],
    ['backup', target],
    ['import', source, '--rejects', target],
    ['import', source, '--rejects', target, '--dry-run'],
  ]) {
    const ended = await place.runHere(args);
    expect(ended.err).toEndWith(`${target} belongs to the database in DATA_DIR; name another file\n`);
    expect([ended.status, ended.out]).toEqual([1, '']);
  }
  expect(readdirSync(data, { recursive: true }).sort()).toEqual(before);
  expect(await productsOf(place)).toHaveLength(3);
});

test.each(names)('no command overwrites the database, named by %s', async kind => {
  const target = otherName(kind, join(data, 'catalog.db'));
  for (const args of [
    ['export', '--output', target],
    ['import', place.file('s.csv', 'name,price\n,x\n'), '--rejects', target],
  ])
    expect((await place.runHere(args)).err).toContain('belongs to the database in DATA_DIR');
  expect(await productsOf(place)).toHaveLength(3);
});

test('other files beside the database may be written', async () => {
  for (const name of ['products.csv', 'catalog.db.csv']) {
    expect((await place.runHere(['export', '--output', join(data, name)])).status).toBe(0);
    expect(existsSync(join(data, name))).toBe(true);
  }
  expect((await place.runHere(['backup', join(data, 'catalog.db.copy')])).status).toBe(0);
});

test('a folder or a device as output is refused', async () => {
  const folder = join(place.folder, 'folder');
  mkdirSync(folder);
  for (const args of [
    ['export', '--output', folder],
    ['backup', folder],
  ]) {
    const ended = await place.runHere(args);
    expect(ended).toEqual({
      status: 1,
      out: '',
      err: `catalog ${args[0]}: ${folder} is a folder; name a file\n`,
    });
  }
  const rejects = await place.runHere(['import', place.file('t.csv', csv), '--rejects', folder]);
  expect(rejects.err).toBe(`catalog import: --rejects ${folder} is a folder; name a file\n`);
  const nowhere = join(place.folder, 'missing', 'r.ndjson');
  const missing = await place.runHere(['import', place.file('t.csv', csv), '--rejects', nowhere]);
  expect(missing.err).toContain(`cannot write ${nowhere}: there is no folder`);
  const pipe = join(place.folder, 'pipe');
  Bun.spawnSync(['mkfifo', pipe]);
  const device = await place.runHere(['export', '--output', pipe]);
  expect(device.err).toBe(
    `catalog export: ${pipe} is not a regular file; name one, or use - and redirect standard output\n`,
  );
  expect(readdirSync(place.folder).filter(name => name.endsWith('.partial'))).toEqual([]);
});

/** Runs the program with a limit of 200 KiB for the files that it writes. */
const onSmallDisk = ['sh', '-c', 'ulimit -f 200; exec "$@"', 'sh'];

test('an error names the file that does not fit on the disk', async () => {
  const columns = 'sku,name,price,description';
  const rowsOf = (price: string) =>
    [1, 2, 3, 4, 5].map(number => `L-${number},Long,${price},${'x'.repeat(90_000)}`);
  await onCatalog(async ({ folder, file, runHere, start }) => {
    await runHere(['import', file('long.csv', [columns, ...rowsOf('1')].join('\n'))]);
    const refused = file('refused.csv', [columns, ...rowsOf('none')].join('\n'));
    const written = join(folder, 'large.ndjson');
    for (const args of [
      ['export', '--output', written],
      ['import', refused, '--dry-run', '--rejects', written],
    ]) {
      const running = start(args, onSmallDisk);
      expect([args, await running.exited]).toEqual([args, 1]);
      expect((await running.stderr.text()).split('\n').at(-2)).toBe(
        `catalog ${args[0]}: cannot write ${written}: EFBIG: file too large, write`,
      );
    }
  });
});
