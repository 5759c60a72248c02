/** Files that only the service's user may read: the database, its secret, mails with tokens, backups and exports. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signIn } from '../../support/service/service.ts';
import { createPlace, type Place, runtime, waitFor } from '../program.ts';

const email = 'admin@test.example';
const secret = 'correct horse battery';
/** Runs a program with a umask that removes no permissions. */
const permissive = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];
const open = 0o077;

const modeOf = (path: string) => statSync(path).mode & 0o777;
const everythingIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name));
/** Path and mode of the files and folders that other users may read, write or enter. */
const openIn = (folder: string) =>
  [folder, ...everythingIn(folder)]
    .filter(path => (modeOf(path) & open) !== 0)
    .map(path => `${path} ${modeOf(path).toString(8)}`);

describe('the modes of files', () => {
  let place: Place;
  let data: string;
  beforeAll(async () => {
    place = await createPlace('sqlite', {
      JWT_SECRET: '',
      ADMIN_EMAIL: email,
      ADMIN_PASSWORD: secret,
      HOST: '127.0.0.1',
    });
    data = join(place.folder, 'data');
  });
  afterAll(() => place.remove());

  const run = async (...args: string[]) => {
    const child = place.start(args, permissive);
    await child.stdin.end();
    await child.exited;
  };

  async function serveWith<T>(work: (url: string) => Promise<T>): Promise<{ log: string; worked: T }> {
    const child = place.start(['serve', '--port', '0'], permissive);
    const log = child.stdout.text();
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const worked = await work(url);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    return { log: await log, worked };
  }

  // Every test, including the first, finds a database and the files beside it.
  beforeAll(() => serveWith(async () => undefined));

  test('are private for every written file, under any umask', async () => {
    await serveWith(async url => {
      const token = await signIn(url, email, secret);
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ name: 'Ada', email: 'ada@test.example', role: 'user' });
      expect((await fetch(`${url}/v1/users`, { method: 'POST', headers, body })).status).toBe(201);
      const outbox = join(data, 'outbox');
      while (!existsSync(outbox) || !readdirSync(outbox).some(name => name.endsWith('.eml')))
        await new Promise(resolve => setImmediate(resolve));
      expect(openIn(data)).toEqual([]);
      // Commands in processes of their own, while the service runs and the log lies beside the database.
      expect(existsSync(join(data, 'catalog.db-wal'))).toBe(true);
      mkdirSync(join(place.folder, 'made'), { mode: 0o700 });
      await run(
        'import',
        place.file('in.csv', 'name,price\nLamp,1\n,x\n'),
        '--rejects',
        join(place.folder, 'made', 'r.csv'),
      );
      await run('export', '--output', join(place.folder, 'made', 'out.csv'));
      await run('backup', join(place.folder, 'made', 'copy.db'));
    });
    expect(readdirSync(join(place.folder, 'made')).sort()).toEqual(['copy.db', 'out.csv', 'r.csv']);
    expect([...openIn(data), ...openIn(join(place.folder, 'made'))]).toEqual([]);
    expect(readdirSync(data)).toContain('jwt-secret');
  });

  test('become private at the start, which one log line reports', async () => {
    const paths = [data, ...everythingIn(data)];
    for (const path of paths) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
    const lines = (log: string) =>
      log.split('\n').filter(line => line.includes('"warn"') && line.includes('readable by other users'));
    const { log } = await serveWith(async () => expect(openIn(data)).toEqual([]));
    expect(lines(log).map(line => JSON.parse(line).count)).toEqual([paths.length]);
    expect(lines((await serveWith(async () => undefined)).log)).toEqual([]);
  });

  test('stay unchanged for a folder with other files and for those files; the catalog’s own files become private', async () => {
    writeFileSync(join(data, 'notes.txt'), 'not ours', { mode: 0o644 });
    chmodSync(data, 0o755);
    chmodSync(join(data, 'catalog.db'), 0o644);
    const { log } = await serveWith(async () =>
      expect(openIn(data).map(line => line.slice(data.length))).toEqual([' 755', '/notes.txt 644']),
    );
    expect(log).toContain('chmod go-rwx');
    expect(log).toContain('it also holds notes.txt');
    rmSync(join(data, 'notes.txt'));
    chmodSync(data, 0o700);
  });
});

test('a secret that does not fit on the disk leaves no empty file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-secret-'));
  const create = (limit: string) =>
    Bun.spawnSync(
      [
        ...['sh', '-c', `trap "" XFSZ; ulimit -f ${limit}; exec "$@"`, 'sh', process.execPath, '-e'],
        `require(process.argv[1]).loadSecrets({ DATA_DIR: process.argv[2], JWT_PREVIOUS_SECRETS: [] })`,
        ...[join(import.meta.dir, '../../../src/secrets/index.ts'), folder],
      ],
      { env: { ...runtime, PATH: process.env.PATH } },
    );
  expect(create('0').stderr.toString()).toContain('cannot write');
  expect(readdirSync(folder)).toEqual([]);
  expect([create('unlimited').exitCode, readdirSync(folder)]).toEqual([0, ['jwt-secret']]);
  rmSync(folder, { recursive: true });
});
