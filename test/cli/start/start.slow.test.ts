/** The start of the service: its messages when something is missing or in the way, without loss of data. */
import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { SQL } from 'bun';
import { z } from 'zod';
import { freePort } from '../../../scripts/tests/postgresql.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { signIn } from '../../support/service/service.ts';
import { createCatalog, createPlace, type Place, type Running, waitFor } from '../program.ts';

const places: Place[] = [];
async function placeOf(...given: Parameters<typeof createPlace>): Promise<Place> {
  const place = await createPlace(...given);
  places.push(place);
  return place;
}
afterEach(() => {
  for (const place of places.splice(0)) place.remove();
});

/** @param forward where connections are forwarded to; without it, they are only accepted */
async function listening(port: number, forward?: { hostname: string; port: number }): Promise<Server> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy());
    if (forward === undefined) return;
    const onward = connect(forward.port, forward.hostname);
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  return address.port;
}

async function stop(child: Running): Promise<void> {
  child.kill('SIGTERM');
  await child.exited;
}

const local = { HOST: '127.0.0.1' };

const pageOfProducts = z.object({ data: z.array(z.unknown()) });

test.each(['nohost.invalid', '203.0.113.7', '::zz'])('HOST=%s is named, not the port', async host => {
  const place = await placeOf('sqlite', { HOST: host });
  const ended = await place.run(['serve', '--port', '0']);
  expect(ended.err).toBe(
    `catalog: setting HOST: ${host} is neither an address of this machine nor a name of one; use 0.0.0.0 for all addresses\n`,
  );
  expect([ended.out, ended.status]).toEqual(['', 1]);
});

test.each([' ', 'abc', '65536', '1.5'])('--port "%s" is refused, and PORT not used instead', async port => {
  const place = await placeOf('sqlite', { ...local, PORT: '0' });
  expect(await place.runHere(['serve', '--port', port])).toEqual({
    status: 2,
    out: '',
    err: `catalog serve: --port takes an integer from 0 to 65535, not "${port}"; see catalog serve --help\n`,
  });
});

describeOnDatabases('a start on %s while the port is taken', kind => {
  test('is reported in one line, and the next start still creates and shows the administrator', async () => {
    const account = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
    const place = await placeOf(kind, { ...local, ...(kind === 'postgresql' ? account : {}) });
    const taken = await listening(0);
    const port = portOf(taken);
    const refused = await place.run(['serve', '--sample', '--port', String(port)]);
    expect(refused).toEqual({
      status: 1,
      out: '',
      err: `catalog: setting PORT: 127.0.0.1:${port} is in use; stop the program that listens there, or choose another port\n`,
    });
    taken.close();
    const child = place.start(['serve', '--sample', '--port', '0']);
    if (kind === 'sqlite') {
      const greeting =
        /ready at (\S+)[\s\S]*sample catalog of (\d+)[\s\S]*e-mail +(\S+)\n +password +(\S+)\n/;
      const [, url = '', samples, email = '', password = ''] = await waitFor(child.stderr, greeting);
      expect(Number(samples)).toBeGreaterThan(10);
      await signIn(url, email, password);
    } else {
      const [, url = ''] = await waitFor(child.stderr, /ready at (\S+)/);
      await signIn(url, account.ADMIN_EMAIL, account.ADMIN_PASSWORD);
    }
    await stop(child);
  });
});

describeOnDatabases('a first start on %s', kind => {
  test('requests that come before it is ready wait for the administrator and the sample catalog', async () => {
    const account = { ADMIN_EMAIL: 'first@test.example', ADMIN_PASSWORD: 'correct horse battery' };
    const place = await placeOf(kind, { ...local, ...account });
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const child = place.start(['serve', '--sample', '--port', String(port)]);
    const isAlive = () =>
      fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isAlive()) && child.exitCode === null) await Bun.sleep(1);
    const token = await signIn(url, account.ADMIN_EMAIL, account.ADMIN_PASSWORD);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    const authorization = `Bearer ${token}`;
    const { data } = pageOfProducts.parse(
      await (await fetch(`${url}/v1/products`, { headers: { authorization } })).json(),
    );
    // Only an embedded database gets the sample catalog.
    expect(data.length > 10).toBe(kind === 'sqlite');
    await stop(child);
  });
});

test('settings of the first administrator that come too late are reported once', async () => {
  const account = { ADMIN_EMAIL: 'late@test.example', ADMIN_PASSWORD: 'correct horse battery' };
  const place = await placeOf('sqlite', { ...local, ...account });
  const logOf = async () => {
    const child = place.start(['serve', '--port', '0']);
    await waitFor(child.stderr, /ready at/);
    await stop(child);
    return child.stdout.text();
  };
  expect(await logOf()).not.toContain('ADMIN_EMAIL');
  const lines = (await logOf()).split('\n').filter(line => line.includes('ADMIN_EMAIL'));
  expect(lines.map(line => JSON.parse(line))).toEqual([
    {
      time: expect.any(String),
      level: 'info',
      message: 'ADMIN_EMAIL and ADMIN_PASSWORD are ignored: users already exist',
    },
  ]);
});

test.skipIf(!hasPostgres)('a starting service is not ready, which is not logged as an error', async () => {
  const account = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
  const place = await createCatalog('postgresql', { ...local, ...account });
  places.push(place);
  // No user can be created until this transaction has ended.
  const other = new SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
  await other.unsafe('begin; lock table users in share mode');
  const port = await freePort();
  const child = place.start(['serve', '--port', String(port)]);
  const statuses = new Set<number>();
  while (!statuses.has(200)) {
    const response = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined);
    if (response?.status === 503 && !statuses.has(503)) await other.unsafe('commit');
    if (response !== undefined) statuses.add(response.status);
  }
  await other.close();
  await stop(child);
  expect([...statuses]).toEqual([503, 200]);
  const lines = (await child.stdout.text())
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'info', message: 'request', target: '/ready', status: 503 }),
  );
});

describe('PostgreSQL that cannot be reached', () => {
  test.each([
    [['users', 'list'], 'users'],
    [['export'], 'export'],
  ])('%j names the server and not the password', async (args, name) => {
    const place = await placeOf('sqlite', { DATABASE_URL: 'postgres://shop:geheim@127.0.0.1:1/goods' });
    expect(await place.runHere(args)).toEqual({
      status: 1,
      out: '',
      err: `catalog ${name}: PostgreSQL at 127.0.0.1:1 (database goods): no server accepts connections there, or its name cannot be resolved\n`,
    });
  });

  test.skipIf(!hasPostgres)('is waited for at the start', async () => {
    const url = new URL(await createDatabase());
    const server = { hostname: url.hostname, port: Number(url.port || 5432) };
    const free = await listening(0);
    const port = portOf(free);
    await new Promise(resolve => free.close(resolve));
    url.hostname = '127.0.0.1';
    url.port = String(port);
    const place = await placeOf('sqlite', { ...local, DATABASE_URL: url.href });
    const child = place.start(['serve', '--port', '0']);
    const [said] = await waitFor(child.stderr, /^catalog: .*\n/);
    expect(said).toMatch(
      new RegExp(`PostgreSQL at 127\\.0\\.0\\.1:${port} \\(database \\S+\\): .*; retrying for 30 seconds\n`),
    );
    const gateway = await listening(port, server);
    await waitFor(child.stderr, /ready at/);
    await stop(child);
    gateway.close();
  });

  test.skipIf(!hasPostgres)('a wrong password is reported at once, with the server', async () => {
    const url = new URL(await createDatabase());
    url.username = 'nobody-of-this-name';
    const place = await placeOf('sqlite', { DATABASE_URL: url.href });
    const ended = await place.run(['serve', '--port', '0']);
    expect(ended).toMatchObject({ status: 1, out: '' });
    expect(ended.err).toMatch(
      /^catalog serve: PostgreSQL at \S+ \(database \S+\): .*nobody-of-this-name.*\n$/,
    );
  });
});

describe('unusable settings', () => {
  test.each([
    ['CORS_ORIGINS', '*', '* is not an origin: leave the setting unset to allow any'],
    ['CORS_ORIGINS', 'https://a.example,example.com', 'must be only a scheme and a host'],
    ['CORS_ORIGINS', 'https://a.example/shop', 'must be only a scheme and a host'],
    ['BASE_URL', 'https://shop.example/x?y', 'must be an address without credentials'],
    ['BASE_URL', 'https://u:p@shop.example', 'must be an address without credentials'],
    ['BASE_URL', 'https://shop.example/v1/', 'must be an address without credentials'],
  ])('%s=%s is refused', async (name, value, reason) => {
    const ended = await (await placeOf('sqlite', { [name]: value })).runHere(['serve', '--port', '0']);
    expect(ended.status).toBe(78);
    expect(ended.err).toStartWith(`catalog: setting ${name}`);
    expect(ended.err).toContain(reason);
    expect(ended.err.trim().split('\n')).toHaveLength(1);
  });

  test.each(['mysql://shop:geheim@db/goods', 'db.internal:5432/goods', 'goods.db'])(
    'DATABASE_URL=%s is refused',
    async address => {
      const ended = await (await placeOf('sqlite', { DATABASE_URL: address })).runHere(['users', 'list']);
      expect(ended.err).toMatch(
        /^catalog: setting DATABASE_URL: must be a postgres:\/\/ or postgresql:\/\/ .*\n$/,
      );
      expect(ended.err).not.toContain('geheim');
      expect(ended.status).toBe(78);
    },
  );

  test.each([
    ['serve', ['serve', '--port', '0']],
    ['migrate', ['migrate']],
    ['import', ['import', '-']],
    ['users', ['users', 'list']],
  ])('DATA_DIR that is a file is refused by %s', async (_, args) => {
    const place = await placeOf('sqlite');
    const file = place.file('a-file', 'not a folder');
    const there = await placeOf('sqlite', { DATA_DIR: file });
    // Commands that read standard input need a process of their own.
    const ended = await (args.includes('-') ? there.run(args, '') : there.runHere(args));
    expect(ended.err).toBe(
      `catalog: setting DATA_DIR: ${file} is not a folder, or lies below a file; name a folder\n`,
    );
    expect(ended.status).toBe(1);
    expect(readFileSync(file, 'utf8')).toBe('not a folder');
  });

  test('DATA_DIR that cannot be created, and a folder in place of the database, are refused', async () => {
    const nowhere = await placeOf('sqlite', { DATA_DIR: '/proc/catalog' });
    const unmade = await nowhere.runHere(['serve', '--port', '0']);
    expect(unmade.err).toMatch(
      /^catalog: setting DATA_DIR: the folder \/proc\/catalog cannot be created .*\n$/,
    );
    const place = await placeOf('sqlite');
    const inTheWay = join(place.folder, 'data', 'catalog.db');
    mkdirSync(inTheWay, { recursive: true });
    const ended = await place.run(['serve', '--port', '0']);
    expect(ended.err).toBe(
      `catalog: setting DATA_DIR: ${inTheWay} is not a file; move it away, or name another folder\n`,
    );
  });

  test('commands that need a catalog create none', async () => {
    const place = await placeOf('sqlite');
    const folder = join(place.folder, 'data');
    const create = ['users', 'create', '--email', 'a@b.example', '--name', 'A', '--role', 'user'];
    const key = ['keys', 'create', '--name', 'x', '--scopes', 'data:read'];
    const others = [['users', 'list'], create, ['keys', 'list'], key, ['keys', 'revoke', '1'], ['export']];
    for (const args of [...others, ['backup', join(place.folder, 'copy.db')]]) {
      const ended = await place.runHere(args);
      expect([ended.status, ended.out]).toEqual([1, '']);
      expect(ended.err).toMatch(/^catalog \w+: there is no database .*\n$/);
    }
    expect(existsSync(folder)).toBe(false);
  });
});
