/**
 * The file of the embedded database, or its folder, is removed or replaced under the running program. From then on no
 * write that could be lost is acknowledged, and readiness and log give the reason.
 */
import { describe, expect, test } from 'bun:test';
import { copyFileSync, existsSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createPlace, type Running, waitFor } from '../../cli/program.ts';
import { type Call, call } from '../../support/http/http.ts';
import { signIn } from '../../support/service/service.ts';
import { conclude } from '../outcome.ts';

const email = 'admin@test.example';
const secret = 'correct horse battery';

interface Scenario {
  readonly name: string;
  happens(folder: string): void;
  /** Puts everything back; undefined where that is impossible. */
  readonly undo?: (folder: string) => void;
  /** DATABASE_MOVED by default. */
  readonly error?: string;
}

const database = (folder: string, suffix = ''): string => join(folder, `catalog.db${suffix}`);

const scenarios: readonly Scenario[] = [
  { name: 'the folder is removed', happens: folder => rmSync(folder, { recursive: true }) },
  { name: 'the file is removed', happens: folder => rmSync(database(folder)) },
  {
    name: 'the file is replaced by a copy of it',
    happens(folder) {
      copyFileSync(database(folder), database(folder, '.copy'));
      renameSync(database(folder, '.copy'), database(folder));
    },
  },
  {
    name: 'the folder is moved away, and back',
    happens: folder => renameSync(folder, `${folder}.away`),
    undo: folder => renameSync(`${folder}.away`, folder),
  },
  {
    // Like a folder whose permissions are taken away, which stops no administrator.
    name: 'the folder cannot be reached, and can be again',
    happens(folder) {
      renameSync(folder, `${folder}.away`);
      symlinkSync(folder, folder);
    },
    undo(folder) {
      rmSync(folder);
      renameSync(`${folder}.away`, folder);
    },
    error: 'DATABASE_UNAVAILABLE',
  },
  { name: 'the log is removed', happens: folder => rmSync(database(folder, '-wal')) },
];

describe('the database file under a running service', () => {
  test.each(scenarios)('$name', scenario => moved(scenario));
});

async function moved({ name, happens, undo, error = 'DATABASE_MOVED' }: Scenario): Promise<void> {
  const place = await createPlace('sqlite', {
    ...{ ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1' },
  });
  const child = place.start(['serve', '--port', '0']);
  try {
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const token = await signIn(url, email, secret);
    const service = { url, tokens: { admin: token, editor: token, user: token } };
    const ask = (request: Call) => call(service, { as: 'admin', ...request });
    const create = (name: string) => ask({ method: 'POST', path: '/v1/products', body: { name, price: 1 } });
    expect((await create('Before')).status).toBe(201);

    const folder = place.environment.DATA_DIR ?? '';
    happens(folder);
    // The log is checked once a second, the file before each commit.
    const isLog = existsSync(database(folder)) && !existsSync(database(folder, '-wal'));
    const end = Date.now() + 5000;
    while (isLog && (await create('Between')).status === 201 && Date.now() < end);

    const refused = {
      status: 503,
      body: { error, message: expect.any(String), requestId: expect.any(String) },
    };
    const group = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`After ${index}`)));
    for (const { status, body, headers } of group) {
      expect({ status, body }).toEqual(refused);
      expect(headers.get('Retry-After')).toMatch(/^\d+$/);
    }
    for (let times = 0; times < 2; times++) expect(await ask({ path: '/ready' })).toMatchObject(refused);
    expect((await ask({ path: '/health' })).status).toBe(200);
    // A list needs a new connection, and none is opened to another file.
    expect([200, 503]).toContain((await ask({ path: '/v1/products?sort=name' })).status);
    expect(existsSync(database(folder))).toBe(isLog || happens === scenarios[2]?.happens);

    undo?.(folder);
    if (undo !== undefined) {
      expect((await ask({ path: '/ready' })).status).toBe(200);
      expect((await create('Back')).status).toBe(201);
      const names = (await ask({ path: '/v1/products' })).body.data.map(({ name }: { name: string }) => name);
      expect(names).toEqual(['Before', 'Back']);
      conclude(
        { name: 'Data folder', done: name, database: 'SQLite', rounds: 1 },
        { acknowledged: ['Before', 'Back'], found: names },
      );
    }
    child.kill('SIGTERM');
    const lines = await logged(child);
    expect(
      lines.filter(line => line.includes('was removed or replaced while the service was running')),
    ).toHaveLength(error === 'DATABASE_MOVED' ? 1 : 0);
    expect(lines.filter(line => line.includes('the database file is back'))).toHaveLength(
      undo === undefined || error !== 'DATABASE_MOVED' ? 0 : 1,
    );
    expect(await child.exited).toBe(0);
  } finally {
    child.kill('SIGKILL');
    await child.exited;
    rmSync(`${place.environment.DATA_DIR}.away`, { recursive: true, force: true });
    place.remove();
  }
}

/** The messages of the log; lines of requests have the error's own message as `reason`. */
async function logged(child: Running): Promise<string[]> {
  const lines = (await child.stdout.text()).trim().split('\n');
  return lines.map(line => String(JSON.parse(line).message));
}
