/** A data folder that is full, read-only or not a folder: one line says what is wrong, and where. */
import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalog, csv, main, runtime } from '../program.ts';

/** Gives the service a file system of its own, in a namespace that needs no privileges. */
const namespace = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'];
const hasNamespaces = Bun.which('unshare') !== null && Bun.spawnSync([...namespace, 'true']).exitCode === 0;

/** @param prepare shell commands that set up DATA_DIR */
function run(
  folder: string,
  prepare: string,
  args: readonly string[],
): { readonly status: number; readonly lines: string[] } {
  const start = [process.execPath, main, ...args];
  const command = prepare === '' ? start : [...namespace, `${prepare} && exec "$@"`, 'sh', ...start];
  const { exitCode, stderr } = Bun.spawnSync(command, {
    env: {
      ...runtime,
      PATH: process.env.PATH,
      DATA_DIR: folder,
      PORT: '0',
      JWT_SECRET: 'a secret that is long enough for HS256',
      LOG_LEVEL: 'silent',
    },
    timeout: 30_000,
  });
  return { status: exitCode, lines: stderr.toString().trim().split('\n') };
}

const disks: [name: string, prepare: string, below: string, message: (folder: string) => string][] = [
  [
    'a full disk',
    'mount -t tmpfs -o size=64k,mode=700 tmpfs "$DATA_DIR"',
    '',
    folder => `catalog serve: The disk of ${folder}/catalog.db is full.`,
  ],
  [
    'a read-only disk',
    'mount -t tmpfs -o ro,mode=700 tmpfs "$DATA_DIR"',
    '',
    folder =>
      `catalog: setting DATA_DIR: ${folder} is on a file system that is read-only (EROFS); mount it for writing, or name another folder`,
  ],
  [
    'a folder below a file',
    '',
    'file/data',
    folder => `catalog: setting DATA_DIR: ${folder} is not a folder, or lies below a file; name a folder`,
  ],
];

for (const [name, prepare, below, message] of disks) {
  test.skipIf(prepare !== '' && !hasNamespaces)(`serve reports ${name} as DATA_DIR`, () => {
    const place = mkdtempSync(join(tmpdir(), 'catalog-disk-'));
    writeFileSync(join(place, 'file'), '');
    const folder = join(place, below);
    const { status, lines } = run(folder, prepare, ['serve']);
    expect([status > 0, lines]).toEqual([true, [message(folder)]]);
    rmSync(place, { recursive: true });
  });
}

test.skipIf(!hasNamespaces)('import reports a full disk', async () => {
  const place = await createCatalog('sqlite');
  const folder = join(place.folder, 'mounted');
  mkdirSync(folder);
  renameSync(join(place.folder, 'data', 'catalog.db'), join(place.folder, 'catalog.db'));
  const mount =
    'mount -t tmpfs -o size=3m,mode=700 tmpfs "$DATA_DIR" && cp "$DATA_DIR/../catalog.db" "$DATA_DIR"';
  const fill = '{ cat /dev/zero > "$DATA_DIR/rest" || true; }';
  const { status, lines } = run(folder, `${mount} && ${fill}`, ['import', place.file('p.csv', csv)]);
  expect([status, lines.at(-1)]).toEqual([1, `catalog import: The disk of ${folder}/catalog.db is full.`]);
  place.remove();
});
