/**
 * A full disk under SQLite: writes are refused as a whole, reads continue, and the same process writes again once there
 * is room. Two ways to fill a disk need no privileges, and each has its own system error: a small file system in a
 * namespace of the service's own (ENOSPC), and a limit on the size of its files (EFBIG), which SQLite reports like an
 * exhausted disk quota (EDQUOT).
 */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPlace, type Running, waitFor } from '../../cli/program.ts';
import { type Call, call, type Received } from '../../support/http/http.ts';
import { signIn } from '../../support/service/service.ts';
import { conclude, skipped } from '../outcome.ts';

const email = 'admin@test.example';
const secret = 'correct horse battery';

interface Disk {
  readonly name: string;
  /** The command that starts the service. The data folder is in DATA_DIR. */
  readonly wrapper: readonly string[];
  /** The data folder as this process sees it. */
  folder(service: Running, folder: string): string;
  /** @param folder as this process sees it */
  fill(service: Running, folder: string): void;
  makeRoom(service: Running, folder: string): void;
}

const limited: Disk = {
  name: 'a limit on the size of files',
  // With the signal of the limit ignored, the write that exceeds the limit gets an error.
  wrapper: ['sh', '-c', `trap '' XFSZ; exec "$@"`, 'sh'],
  folder: (_, folder) => folder,
  fill: ({ pid }, folder) => limit(pid, String(statSync(join(folder, 'catalog.db-wal')).size)),
  makeRoom: ({ pid }) => limit(pid, 'unlimited'),
};

const small: Disk = {
  name: 'a small file system',
  wrapper: [
    ...['unshare', '--user', '--map-root-user', '--mount'],
    ...['sh', '-c', 'mount -t tmpfs -o size=16m tmpfs "$DATA_DIR" && exec "$@"', 'sh'],
  ],
  folder: ({ pid }, folder) => join(`/proc/${pid}/root`, folder),
  fill(_, folder) {
    const page = new Uint8Array(4096);
    for (;;) {
      try {
        appendFileSync(join(folder, 'ballast'), page);
      } catch {
        return;
      }
    }
  },
  makeRoom: (_, folder) => rmSync(join(folder, 'ballast')),
};

/** Sets the soft limit of the process only, so that it can be raised again without privileges. */
function limit(pid: number, bytes: string): void {
  const { exitCode, stderr } = Bun.spawnSync(['prlimit', '--pid', String(pid), `--fsize=${bytes}:`]);
  if (exitCode !== 0) throw new Error(`prlimit: ${stderr.toString()}`);
}

/** Whether the wrapper can be run here: some systems lack the commands, and some forbid namespaces. */
function works(disk: Disk): boolean {
  if (Bun.which('prlimit') === null || Bun.which(disk.wrapper[0] ?? '') === null) return false;
  const folder = mkdtempSync(join(tmpdir(), 'catalog-disk-'));
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: folder };
  const { exitCode } = Bun.spawnSync([...disk.wrapper, 'true'], { env });
  rmSync(folder, { recursive: true });
  return exitCode === 0;
}

describe('a full disk under SQLite', () => {
  for (const disk of [limited, small]) {
    const possible = works(disk);
    if (!possible) skipped(disk.name, 'this system does not let an ordinary user make one');
    test.skipIf(!possible)(disk.name, () => fullDisk(disk));
  }
});

async function fullDisk(disk: Disk): Promise<void> {
  const place = await createPlace('sqlite', {
    ...{ ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1', RATE_LIMIT: '1000000' },
  });
  const own = place.environment.DATA_DIR ?? '';
  mkdirSync(own);
  const child = place.start(['serve', '--port', '0'], disk.wrapper);
  try {
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const folder = disk.folder(child, own);
    const token = await signIn(url, email, secret);
    const service = { url, tokens: { admin: token, editor: token, user: token } };
    const ask = (request: Call): Promise<Received> => call(service, { as: 'admin', ...request });
    const acknowledged: string[] = [];
    let sent = 0;
    /** @returns the status. When the product was created, its name counts as acknowledged */
    const create = async (fields: object = {}): Promise<number> => {
      const name = `Lamp ${++sent}`;
      const body = { name, price: 1, ...fields };
      const { status } = await ask({ method: 'POST', path: '/v1/products', body });
      if (status === 201) acknowledged.push(name);
      return status;
    };
    const stored = async (): Promise<{ names: string[]; total: number }> => {
      const { status, body } = await ask({ path: '/v1/products?perPage=100' });
      expect(status).toBe(200);
      const products: { name: string }[] = body.data;
      return { names: products.map(product => product.name).sort(), total: body.meta.total };
    };
    const asAcknowledged = () => ({ names: acknowledged.toSorted(), total: acknowledged.length });

    expect(await create()).toBe(201);
    const [first] = (await ask({ path: '/v1/products' })).body.data;
    const path = `/v1/products/${first.id}`;
    const keyBody = { name: 'Not used yet', scopes: ['products:read'] };
    const { key } = (await ask({ method: 'POST', path: '/v1/keys', body: keyBody })).body;

    disk.fill(child, folder);
    // A few pages may be free; each write makes the log grow until there are none.
    while ((await create()) === 201);
    const long = { description: 'x'.repeat(5000) };
    const group = await Promise.all(Array.from({ length: 40 }, () => create(long)));
    expect(new Set(group)).toEqual(new Set([507]));

    const once = {
      method: 'POST',
      path: '/v1/products',
      body: { name: 'Once', price: 1 },
      headers: { 'Idempotency-Key': 'once' },
    };
    const writes: readonly Call[] = [
      once,
      { method: 'PUT', path, body: { name: 'Other', price: 2, ...long } },
      {
        method: 'PATCH',
        path,
        body: { price: 3 },
        headers: { 'Content-Type': 'application/merge-patch+json' },
      },
      { method: 'DELETE', path },
      { method: 'POST', path: '/v1/auth/login', body: { email, password: secret } },
    ];
    for (const write of writes) {
      const { status, body } = await ask(write);
      expect([write.method, write.path, status, body]).toEqual([
        ...[write.method, write.path, 507],
        { error: 'STORAGE_FULL', message: expect.any(String), requestId: expect.any(String) },
      ]);
    }

    // No refused write is stored, and reading needs no room.
    expect(await stored()).toEqual(asAcknowledged());
    expect((await ask({ path })).body).toEqual(first);
    const withKey = await call(service, { path, headers: { 'X-API-Key': key } });
    expect([withKey.status, withKey.body]).toEqual([200, first]);
    for (const free of ['/health', '/ready', '/metrics'])
      expect((await ask({ path: free })).status).toBe(200);

    disk.makeRoom(child, folder);
    const repeated = await ask(once);
    expect([repeated.status, repeated.headers.get('Idempotency-Replayed')]).toEqual([201, null]);
    acknowledged.push('Once');
    expect(await create(long)).toBe(201);
    const { names, total } = await stored();
    conclude(
      {
        name: `Disk full: ${disk.name}`,
        done: 'filled under writes, then room again',
        database: 'SQLite',
        rounds: 1,
      },
      { acknowledged, found: names, broken: total === names.length ? [] : [`total ${total}`] },
    );
    // A copy, because SQLite does not open files through /proc. The service is not writing now.
    const copy = join(place.folder, 'copy.db');
    for (const suffix of ['', '-wal']) copyFileSync(join(folder, `catalog.db${suffix}`), `${copy}${suffix}`);
    using connection = new Database(copy);
    expect(connection.query('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
  } finally {
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    place.remove();
  }
}
