/**
 * `bun bench/alone/variants.ts [DATABASE_URL]`: the cost of requests for a variant of a product with ten variants, and
 * of one with ten thousand. On SQLite, or on an empty PostgreSQL database. Requests alternate between the products, so
 * that other load on the machine affects both alike.
 */

import { loadConfig } from '../../src/config.ts';
import { createCause, createCommandOutbox } from '../../src/events/outbox.ts';
import { completeFields } from '../../src/resources/products/schema.ts';
import { createProductStore } from '../../src/resources/products/store.ts';
import { replaceVariant } from '../../src/resources/variants/schema.ts';
import { createVariantStore } from '../../src/resources/variants/store.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { openDatabase } from '../../src/storage/open.ts';
import { markdownTable, spread, summary } from '../report/statistics.ts';
import { runFolder } from '../servers/databases.ts';
import { shipped, signIn, startService } from '../servers/servers.ts';

const counts = [10, 10_000] as const;
const perOption = 100;
const atOnce = 500;
const rounds = 300;
const url = process.argv[2];
const folder = runFolder();
const settings = { DATA_DIR: folder, ...(url === undefined ? {} : { DATABASE_URL: url }) };

/** Creates a product with `count` variants. @returns the ids of both */
async function fill(count: number): Promise<{ id: number; variants: number[] }> {
  const database = openDatabase(loadConfig({ ...shipped, ...settings }));
  try {
    await migrate(database, Date.now);
    const outbox = createCommandOutbox(database);
    const products = createProductStore(database, outbox);
    const store = createVariantStore(database, outbox, products);
    const cause = createCause('bench', Date.now());
    const values = Array.from({ length: perOption }, (_, n) => String(n));
    const options = [
      { name: 'Width', values },
      { name: 'Height', values: [...values, 'other'] },
    ];
    const product = completeFields({ name: `${count} variants`, price: 10, options });
    const { id } = await database.write(session => products.insert(session, product, cause));
    const variants: number[] = [];
    for (let start = 0; start < count; start += atOnce) {
      await database.write(async session => {
        const locked = await products.lock(session, id);
        if (locked === undefined) throw new Error('the product is gone');
        const some = Array.from({ length: Math.min(atOnce, count - start) }, (_, n) => {
          const number = start + n;
          const chosen = {
            Width: String(number % perOption),
            Height: String(Math.floor(number / perOption)),
          };
          const price = number % 3 === 0 ? null : 5 + (number % 100);
          return replaceVariant.parse({
            options: chosen,
            sku: `${count}-${number}`,
            price,
            stock: { onHand: 1 },
          });
        });
        for (const row of await store.insert(session, locked, some, cause)) variants.push(row.id);
      });
    }
    return { id, variants };
  } finally {
    await database.close();
  }
}

const filled = [];
for (const count of counts) filled.push(await fill(count));
const server = await startService(settings, `${folder}/errors`);
try {
  const token = await signIn(server.port);
  const base = `http://127.0.0.1:${server.port}/v1/products`;
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const request = async (method: string, path: string, body?: object) => {
    const began = performance.now();
    const response = await fetch(`${base}${path}`, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const made = response.status === 204 ? undefined : await response.json();
    const milliseconds = performance.now() - began;
    if (response.status >= 300)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(made)}`);
    return { milliseconds, made };
  };
  type Place = { id: number; variants: number[] };
  const one = ({ id, variants }: Place, round: number) =>
    `/${id}/variants/${variants[(round * 7919) % variants.length]}`;
  const works: readonly [string, (place: Place, round: number) => Promise<number>][] = [
    ['read one', async (place, round) => (await request('GET', one(place, round))).milliseconds],
    ['first page', async ({ id }) => (await request('GET', `/${id}/variants?perPage=10`)).milliseconds],
    ['page by cursor', async ({ id }) => (await request('GET', `/${id}/variants?limit=10`)).milliseconds],
    ['read the product', async ({ id }) => (await request('GET', `/${id}`)).milliseconds],
    [
      'write one: its weight',
      async (place, round) => {
        const weight = { value: 1 + round, unit: 'g' };
        return (await request('PATCH', one(place, round), { weight })).milliseconds;
      },
    ],
    [
      'write one: the lowest price, and the product with it',
      async (place, round) =>
        (await request('PATCH', one(place, 1), { price: 4 - (round % 2) })).milliseconds,
    ],
    [
      'create and delete one',
      async ({ id }, round) => {
        const options = { Width: String(round % perOption), Height: 'other' };
        const { milliseconds, made } = await request('POST', `/${id}/variants`, { options });
        const gone = await request('DELETE', `/${id}/variants/${(made as { id: number }).id}`);
        return milliseconds + gone.milliseconds;
      },
    ],
  ];
  const rows = [['request', ...counts.map(count => `ms, ${count} variants`), 'ratio']];
  for (const [name, work] of works) {
    const times: number[][] = filled.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [index, place] of filled.entries()) times[index]?.push(await work(place, round));
    }
    const found = times.map(list => summary(list.slice(rounds / 10)));
    const [few, many] = found.map(({ median }) => median);
    rows.push([name, ...found.map(each => spread(each, 2)), ((many ?? 0) / (few ?? 1)).toFixed(2)]);
  }
  console.log(markdownTable(rows));
} finally {
  await server.stop();
}
