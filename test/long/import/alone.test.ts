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

/** The journal mode in the header of the database: https://sqlite.org/fileformat2.html, offset 18. */
async function journalOf(place: Place): Promise<'rollback' | 'log'> {
  // Read by another process: closing the file here would cancel the locks of this process's connections.
  const header = await Bun.$`od -An -tu1 -j18 -N1 ${fileOf(place)}`.text();
  return header.trim() === '2' ? 'log' : 'rollback';
}

/** An import that reads what the test writes to it, and has the database to itself. */
async function importing(place: Place) {
  await place.runHere(['migrate']);
  const child = place.start(['import', '-', '--format', 'ndjson', '--batch', '100']);
  const give = async (from: number, count: number) => {
    child.stdin.write(records(from, count));
    await child.stdin.flush();
  };
  // Enough records to make it leave indexes out.
  await give(0, 8000);
  await untilThereAre(7000, place);
  return { child, give };
}

test('a service started during the import serves and writes, and the import continues beside it', async () => {
  const settings = { ...administrator, PORT: '0', HOST: '127.0.0.1', RATE_LIMIT: '1000000' };
  const place = await createPlace('sqlite', settings);
  const { child, give } = await importing(place);
  expect(await journalOf(place)).toBe('rollback');
  await give(8000, 20_000);
  const server = place.start(['serve']);
  try {
    const [, url = ''] = await waitFor(server.stdout, /"address":"([^"]+)"/);
    expect(await journalOf(place)).toBe('log');
    const token = await signIn(url, administrator.ADMIN_EMAIL, administrator.ADMIN_PASSWORD);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const post = async (number: number) => {
      const body = JSON.stringify({ name: `Posted ${number}`, price: 1 });
      const response = await fetch(`${url}/v1/products`, { method: 'POST', headers, body });
      expect(response.status).toBe(201);
      await response.text();
    };
    for (let number = 0; number < 20; number++) await post(number);
    await give(28_000, 2000);
    await child.stdin.end();
    expect(await child.exited).toBe(0);
    const list = await fetch(`${url}/v1/products?perPage=1`, { headers });
    expect(await list.json()).toMatchObject({ meta: { total: 30_020 } });
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

/** Whether a new reader in another process is refused. (Connections of one process share their locks.) */
async function isKeptOut(place: Place): Promise<boolean> {
  const program = `
    import { Database } from 'bun:sqlite';
    try {
      new Database(process.argv[1], { readonly: true }).query('select 1 from products').get();
      console.log('let in');
    } catch (error) {
      console.log(error.code);
    }`;
  const said = (await Bun.$`${process.execPath} -e ${program} ${fileOf(place)}`.text()).trim();
  expect(['let in', 'SQLITE_BUSY']).toContain(said);
  return said === 'SQLITE_BUSY';
}

test('the import waits for other readers of the file, which see no partial transaction', async () => {
  const place = await createPlace('sqlite');
  const { child, give } = await importing(place);
  const reader = new Database(fileOf(place), { readonly: true });
  // The import may still be writing the last of its first records.
  reader.run('PRAGMA busy_timeout = 10000');
  const products = reader.query<{ count: number }, []>('select count(*) as count from products');
  const count = () => products.get()?.count ?? 0;
  reader.run('BEGIN');
  const before = count();
  expect(before % 100).toBe(0);
  await give(8000, 1000);
  // A process that waits to write to the file lets no new reader begin.
  while (!(await isKeptOut(place)));
  expect(count()).toBe(before);
  reader.run('COMMIT');
  await child.stdin.end();
  expect(await child.exited).toBe(0);
  reader.close();
  expect((await totalsOf(place)).counted).toMatchObject([{ total: 9000 }]);
  place.remove();
});

test('after the import the database keeps a log again, whether indexes were left out or not', async () => {
  const place = await createPlace('sqlite');
  for (const count of [10, 12_000]) {
    const ended = await place.runHere(['import', place.file('p.ndjson', records(0, count))]);
    expect(ended.status).toBe(0);
    expect(await journalOf(place)).toBe('log');
  }
  place.remove();
});
