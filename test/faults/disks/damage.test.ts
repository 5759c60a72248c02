/** Damaged pages of the database file: requests that need them fail with a specific code, and the log reports it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createPlace, type Place, type Running, waitFor } from '../../cli/program.ts';
import { type Call, call } from '../../support/http/http.ts';
import { signIn } from '../../support/service/service.ts';

setDefaultTimeout(60_000);

const email = 'admin@test.example';
const secret = 'correct horse battery';
const products = 2000;
const pageBytes = 2048;

describe('a damaged database', () => {
  let place: Place;
  let file: string;
  beforeAll(async () => {
    place = await createPlace('sqlite', {
      ...{ ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1' },
    });
    file = join(place.environment.DATA_DIR ?? '', 'catalog.db');
    const lines = Array.from(
      { length: products },
      (_, index) => `Lamp ${index + 1},1,Marker ${index + 1} of a text`,
    );
    const csv = place.file('in.csv', ['name,price,description', ...lines].join('\n'));
    expect(await place.run(['import', csv])).toMatchObject({ status: 0 });
  });
  afterAll(() => place.remove());

  function write(at: number, bytes: Uint8Array): void {
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, bytes, 0, bytes.length, at);
    closeSync(descriptor);
  }

  /** The offset in the file of the description in a product's document. */
  function placeOf(id: number): number {
    const at = readFileSync(file).indexOf(`"Marker ${id} of`);
    expect(at).toBeGreaterThan(0);
    return at;
  }

  function zero(id: number, bytes: (at: number) => readonly [from: number, length: number]): void {
    const [from, length] = bytes(placeOf(id));
    write(from, new Uint8Array(length));
  }

  /** Writes a text over a part of the document, so that no byte pattern reveals the damage. */
  function overwrite(id: number, offset: number, text: string): void {
    write(placeOf(id) + offset, Buffer.from(text));
  }

  async function served<T>(
    work: (ask: (request: Call) => ReturnType<typeof call>, child: Running) => Promise<T>,
  ) {
    const child = place.start(['serve', '--port', '0']);
    try {
      const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
      const token = await signIn(url, email, secret);
      const service = { url, tokens: { admin: token, editor: token, user: token } };
      return await work(request => call(service, { as: 'admin', ...request }), child);
    } finally {
      child.kill('SIGKILL');
      await child.exited;
    }
  }

  /** An index with a wrong entry is found and rebuilt. */
  async function rebuildIndex(): Promise<void> {
    // An entry of an index: the name, the id and the status.
    const entry = Buffer.from('Lamp 700\x02\xbcactive', 'latin1');
    const at = readFileSync(file).indexOf(entry);
    expect(at).toBeGreaterThan(0);
    write(at + 'Lamp 70'.length, Buffer.from('/'));
    const { status, out } = await place.run(['check']);
    expect(status).toBe(1);
    expect(out).toMatch(/^integrity: row \d+ missing from index products_by\w+$/m);
    expect(await place.run(['check', '--repair'])).toMatchObject({ status: 0, err: '' });
    expect(await place.run(['check'])).toMatchObject({ status: 0 });
  }

  /** Damage causes a 500 with its own code, a log line and a count in the metrics; undamaged rows are served. */
  async function serveWhatIsWhole(): Promise<void> {
    const [torn, scribbled, quoted, whole] = [500, 1500, 1000, 1];
    zero(torn, at => [at - (at % pageBytes), pageBytes]);
    zero(scribbled, at => [at + 5, 20]);
    overwrite(quoted, '"Mar'.length, '"');
    const lines = await served(async (ask, child) => {
      const damaged = {
        status: 500,
        body: { error: 'DATABASE_DAMAGED', message: expect.any(String), requestId: expect.any(String) },
      };
      const requests: readonly Call[] = [
        { path: `/v1/products/${torn}` },
        { path: `/v1/products/${scribbled}` },
        { path: `/v1/products/${quoted}` },
        { path: '/v1/products?perPage=100&page=10' },
        { path: '/v1/products?perPage=100&page=10', headers: { Accept: 'application/hal+json' } },
        { path: '/v1/products?perPage=100&page=5' },
        { path: '/v1/products?perPage=100&page=15' },
        { method: 'PATCH', path: `/v1/products/${torn}`, body: { price: 2 } },
      ];
      for (const request of requests) expect(await ask(request)).toMatchObject(damaged);
      expect((await ask({ path: `/v1/products/${whole}` })).status).toBe(200);
      expect((await ask({ path: '/v1/products?perPage=100' })).body.data).toHaveLength(100);
      expect((await ask({ path: '/metrics' })).text).toContain(
        `catalog_database_damage_total ${requests.length}\n`,
      );
      // Leaves something in the write-ahead log for the next start.
      expect((await ask({ method: 'POST', path: '/v1/todos', body: { title: 'Restore' } })).status).toBe(201);
      child.kill('SIGKILL');
      return (await child.stdout.text()).split('\n');
    });
    // A start after a clean stop checks nothing.
    expect(lines.filter(line => line.includes('not closed cleanly'))).toEqual([]);
    expect(
      lines.filter(line => line.includes('"request failed"') && line.includes('catalog check')).length,
    ).toBeGreaterThan(0);
  }

  /** The start after a kill and `catalog check` find the damage; neither fixes it. */
  async function findAfterKill(): Promise<void> {
    await served(async (_, child) => {
      await waitFor(
        child.stdout,
        /"the database was not closed cleanly[\s\S]*"level":"error","message":"the database is damaged/,
      );
    });
    const { status, out } = await place.run(['check']);
    expect(status).toBe(1);
    expect(out).toMatch(/^integrity: /m);
    const repair = await place.run(['check', '--repair']);
    expect([repair.status, repair.err]).toEqual([
      1,
      expect.stringMatching(/nothing was repaired: .*catalog restore/),
    ]);
  }

  // One test, because each step depends on the one before.
  test('has its index rebuilt; is a 500 for the damaged rows only; is found by the next start and by check', async () => {
    await rebuildIndex();
    await serveWhatIsWhole();
    await findAfterKill();
  });
});

test('a start after a kill reports that the database is intact', async () => {
  const place = await createPlace('sqlite', { HOST: '127.0.0.1' });
  const start = () => place.start(['serve', '--port', '0', '--sample']);
  const killed = start();
  await waitFor(killed.stderr, /ready at/);
  killed.kill('SIGKILL');
  await killed.exited;
  const again = start();
  await waitFor(again.stdout, /not closed cleanly[\s\S]*"the database is intact"/);
  again.kill('SIGTERM');
  expect(await again.exited).toBe(0);
  place.remove();
});
