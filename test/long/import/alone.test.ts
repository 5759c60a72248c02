/** An import that has the embedded database to itself, and other processes that need the database. */

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { createPlace, type Place, totalsOf, untilThereAre, waitFor } from '../../cli/program.ts';
import { signIn } from '../../support/service/service.ts';

// Each test starts several processes.

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };

const fileOf = (place: Place) => join(place.folder, 'data', 'catalog.db');

function records(from: number, count: number): string {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ sku: `S-${from + index}`, name: `Product ${from + index}`, price: index % 97 }),
  );
  return `${lines.join('\n')}\n`;
}

/** The secondary indexes of products, as another process sees them. */
function indexesOf(place: Place): readonly string[] {
  using connection = new Database(fileOf(place), { readonly: true });
  const query = "select name from sqlite_master where type = 'index' and tbl_name = 'products' order by name";
  return connection
    .query<{ name: string }, []>(query)
    .all()
    .map(({ name }) => name);
}

/**
 * An import that reads what the test writes to it, and has the database to itself.
 * @param count how many records it gets at once; from 5,000 on it leaves indexes out
 */
async function importing(place: Place, count = 8000) {
  await place.runHere(['migrate']);
  const all = indexesOf(place);
  const child = place.start(['import', '-', '--format', 'ndjson', '--batch', '100']);
  const give = async (from: number, count: number) => {
    child.stdin.write(records(from, count));
    await child.stdin.flush();
  };
  await give(0, count);
  // Before that, a reader of the file would be in its way.
  await waitFor(child.stderr, /records done/);
  await untilThereAre(count - 1000, place);
  return { child, give, all };
}

test.each([
  ['that has left out indexes', 8000],
  ['that may still leave out indexes', 2000],
])('a service started during an import %s serves and writes with all indexes', async (_, first) => {
  const settings = { ...administrator, PORT: '0', HOST: '127.0.0.1', RATE_LIMIT: '1000000' };
  const place = await createPlace('sqlite', settings);
  const { child, give, all } = await importing(place, first);
  expect(indexesOf(place).length < all.length).toBe(first === 8000);
  await give(first, 2000);
  const server = place.start(['serve']);
  try {
    const [, url = ''] = await waitFor(server.stdout, /"address":"([^"]+)"/);
    expect(indexesOf(place)).toEqual(all);
    const token = await signIn(url, administrator.ADMIN_EMAIL, administrator.ADMIN_PASSWORD);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const post = async (number: number) => {
      const body = JSON.stringify({ name: `Posted ${number}`, price: 1 });
      const response = await fetch(`${url}/v1/products`, { method: 'POST', headers, body });
      expect(response.status).toBe(201);
      await response.text();
    };
    for (let number = 0; number < 20; number++) await post(number);
    await give(first + 2000, 20_000);
    await untilThereAre(first + 20_000, place);
    expect(indexesOf(place)).toEqual(all);
    await child.stdin.end();
    expect(await child.exited).toBe(0);
    const list = await fetch(`${url}/v1/products?perPage=1`, { headers });
    expect(await list.json()).toMatchObject({ meta: { total: first + 22_020 } });
  } finally {
    server.kill('SIGTERM');
    await server.exited;
  }
  const { kept, counted } = await totalsOf(place);
  expect(kept).toEqual(counted);
  place.remove();
});

test('a backup during the import is complete, and the import ends undisturbed', async () => {
  const place = await createPlace('sqlite');
  const { child, give } = await importing(place);
  const copy = join(place.folder, 'copy.db');
  await give(8000, 20_000);
  expect(await place.run(['backup', copy])).toMatchObject({ status: 0, err: '' });
  await child.stdin.end();
  expect(await child.exited).toBe(0);
  using connection = new Database(copy, { readonly: true });
  const copied = connection.query<{ count: number }, []>('select count(*) as count from products').get();
  expect(copied?.count).toBeGreaterThanOrEqual(6000);
  expect((await totalsOf(place)).counted).toMatchObject([{ total: 28_000 }]);
  place.remove();
});

test('another large import beside it creates each of its products once', async () => {
  const place = await createPlace('sqlite');
  const { child, all } = await importing(place);
  const lines = Array.from({ length: 9000 }, (_, index) => `{"name":"Other ${index}","price":1}\n`);
  const other = await place.run(['import', place.file('other.ndjson', lines.join(''))]);
  expect(other).toMatchObject({ status: 0, out: expect.stringContaining('9,000 created, ') });
  await child.stdin.end();
  expect(await child.exited).toBe(0);
  expect((await totalsOf(place)).counted).toMatchObject([{ total: 17_000 }]);
  expect(indexesOf(place)).toEqual(all);
  place.remove();
});

test('the import says who builds the indexes that it cannot build at its end, as on a full disk', async () => {
  const place = await createPlace('sqlite');
  const { child } = await importing(place);
  {
    using connection = new Database(fileOf(place));
    connection.run("insert into deferred_indexes values ('', 'create index of_none on none (id)')");
  }
  await child.stdin.end();
  await waitFor(
    child.stderr,
    /could not be built \(no such table: main\.none\): the next start .* builds them/,
  );
  expect(await child.exited).toBe(0);
  place.remove();
});

test('a signal ends the import at once while it builds indexes, which the next import builds', async () => {
  const place = await createPlace('sqlite');
  const { child, all } = await importing(place);
  await untilThereAre(8000, place);
  {
    using other = new Database(fileOf(place));
    other.run('begin immediate');
    await child.stdin.end();
    await waitFor(child.stderr, /read 8,000 rows/);
    await waitFor(child.stdout, /8,000 created/);
    // The first one may arrive just before the import stops listening.
    const signals = setInterval(() => child.kill('SIGINT'), 100);
    await child.exited;
    clearInterval(signals);
    other.run('rollback');
  }
  expect(child.signalCode).toBe('SIGINT');
  expect(indexesOf(place).length).toBeLessThan(all.length);
  expect(await place.run(['import', place.file('more.ndjson', records(8000, 10))])).toMatchObject({
    status: 0,
  });
  expect(indexesOf(place)).toEqual(all);
  place.remove();
});

test('the import does not wait for other readers of the file, which see no partial transaction', async () => {
  const place = await createPlace('sqlite');
  const { child, give } = await importing(place);
  const reader = new Database(fileOf(place), { readonly: true });
  const products = reader.query<{ count: number }, []>('select count(*) as count from products');
  const count = () => products.get()?.count ?? 0;
  reader.run('BEGIN');
  const before = count();
  expect(before % 100).toBe(0);
  await give(8000, 1000);
  await child.stdin.end();
  expect(await child.exited).toBe(0);
  expect(count()).toBe(before);
  reader.run('COMMIT');
  expect(count()).toBe(9000);
  reader.close();
  expect((await totalsOf(place)).counted).toMatchObject([{ total: 9000 }]);
  place.remove();
});
