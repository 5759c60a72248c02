/**
 * What filters by attributes and facets cost beside a filter by category: `bun bench/attributes.ts [PRODUCTS] [sqlite|postgresql]`.
 * Every product has ten attributes. Filters, sorts and pages are drawn for each request, so that few repeat themselves.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { loadConfig } from '../src/config.ts';
import { causedBy, outboxOf } from '../src/events/outbox.ts';
import { productImporter } from '../src/resources/products/import/index.ts';
import { checkRecord, recordPreparer } from '../src/resources/products/import/prepared.ts';
import { migrate } from '../src/storage/migrations/migrate.ts';
import { openDatabase } from '../src/storage/open.ts';
import { cacheFolder, runFolder } from './databases.ts';
import { runLoad } from './load.ts';
import { startPostgres } from './postgres.ts';
import { cpuSeconds } from './processes.ts';
import { type Random, random } from './random.ts';
import { get } from './scenarios.ts';
import { shipped, signIn, startService } from './servers.ts';
import { percentile } from './statistics.ts';

const count = Number(process.argv[2] ?? 100_000);
const kind = process.argv[3] ?? 'sqlite';
const rowsPerTransaction = 2000;
const milliseconds = 2500;
const connections = 8;
const warmups = 12;
const sorts = ['id', 'price', 'name', 'createdAt'] as const;

const of = (name: string, values: number): [string, ...string[]] => [
  `${name}-0`,
  ...Array.from({ length: values - 1 }, (_, index) => `${name}-${index + 1}`),
];
const [brands, categories, colours, materials, series] = [
  of('Brand', 200),
  of('category', 50),
  of('colour', 10),
  of('material', 50),
  of('series', 1000),
];

function record(number: number): Readonly<Record<string, unknown>> {
  const { integer, pick } = random(number * 7919);
  return {
    name: `Thing ${integer(1, 99_999)}`,
    price: integer(100, 100_000) / 100,
    sku: `SKU-${number}`,
    brand: pick(brands),
    category: pick(categories),
    attributes: {
      colour: pick(colours),
      materials: [...new Set([pick(materials), pick(materials)])],
      series: pick(series),
      watt: integer(0, 1000) / 10,
      height: integer(1, 3000),
      organic: integer(0, 1) === 1,
      released: new Date(Date.UTC(2020, 0, integer(1, 2000))).toISOString().slice(0, 10),
      energy: pick(['A', 'B', 'C', 'D', 'E', 'F', 'G']),
      size: pick(['XS', 'S', 'M', 'L', 'XL']),
      origin: pick(of('country', 30)),
    },
  };
}

async function fill(settings: Readonly<Record<string, string>>): Promise<void> {
  const database = openDatabase(loadConfig({ ...shipped, ...settings }));
  await migrate(database, Date.now);
  const importer = productImporter(database, outboxOf(database));
  for (let first = 1; first <= count; first += rowsPerTransaction) {
    const { prepare } = recordPreparer('EUR');
    const records = Array.from({ length: Math.min(rowsPerTransaction, count - first + 1) }, (_, index) => {
      const checked = checkRecord(record(first + index));
      if (!('name' in checked)) throw new Error(JSON.stringify(checked));
      return prepare(checked, Date.UTC(2026, 0, 1) + (first + index) * 1000);
    });
    await database.write(async session => {
      const plan = await importer.plan(session, records, 'blind');
      await importer.apply(session, plan, [], causedBy('bench', Date.now()));
    });
  }
  if (kind === 'postgresql') await database.read.all(sql`vacuum analyze`.compile(database.build));
  await database.close();
}

const place = ({ integer, pick }: Random, deepest: number) =>
  `sort=${pick(sorts)}&order=${pick(['asc', 'desc'])}&page=${integer(1, deepest)}`;
const range = ({ integer }: Random, key: string, most: number) => {
  const low = integer(0, most);
  return `attr.${key}=gte:${low}&attr.${key}=lt:${low + integer(1, Math.ceil(most / 5))}`;
};
const facets = 'facets=brand,category,attr.colour,price';
const queries: Readonly<Record<string, (draw: Random) => string>> = {
  'category (2 %)': draw => `category=${draw.pick(categories)}&${place(draw, 20)}`,
  'attribute, 2–4 %': draw => `attr.materials=${draw.pick(materials)}&${place(draw, 20)}`,
  'attribute, 10 %': draw => `attr.colour=${draw.pick(colours)}&${place(draw, 20)}`,
  'attribute, 0.1 %': draw => `attr.series=${draw.pick(series)}&${place(draw, 3)}`,
  'either of two': draw =>
    `attr.colour=${draw.pick(colours)}&attr.colour=${draw.pick(colours)}&${place(draw, 20)}`,
  'a range': draw => `${range(draw, 'height', 3000)}&${place(draw, 5)}`,
  'three attributes': draw =>
    `attr.colour=${draw.pick(colours)}&attr.size=${draw.pick(['S', 'M'])}&attr.organic=true&${place(draw, 3)}`,
  'category and a range': draw =>
    `category=${draw.pick(categories)}&${range(draw, 'watt', 100)}&${place(draw, 2)}`,
  'facets, all': draw => `${facets}&page=${draw.integer(1, 20)}&perPage=${draw.integer(1, 100)}`,
  'facets, filtered': draw =>
    `${facets}&attr.materials=${draw.pick(materials)}&attr.energy=${draw.pick(['A', 'B', 'C'])}&page=${draw.integer(1, 3)}&category=${draw.pick(categories)}`,
  'facets, own filters': draw =>
    `${facets}&attr.colour=${draw.pick(colours)}&brand=${draw.pick(brands)}&minPrice=${draw.integer(1, 900)}`,
};

async function run(settings: Readonly<Record<string, string>>, folder: string): Promise<void> {
  const started = performance.now();
  await fill(settings);
  console.log(`${count} products in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const server = await startService(settings, join(folder, 'errors.log'));
  const token = await signIn(server.port);
  console.log(
    `\n| ${kind}, ${count} products | CPU µs | p50 ms | p95 ms | p99 ms |\n| --- | ---: | ---: | ---: | ---: |`,
  );
  for (const [name, query] of Object.entries(queries)) {
    const draw = random(4711);
    const request = () => get(`/v1/products?${query(draw)}`, token);
    const load = { port: server.port, request, statuses: [200], connections };
    // Columns are read: of very many products that takes longer than a load waits.
    for (let asked = 0; asked < warmups; asked++)
      await (
        await fetch(`http://127.0.0.1:${server.port}/v1/products?${query(draw)}`, {
          headers: { Authorization: `Bearer ${token}` },
        })
      ).arrayBuffer();
    // Code is compiled.
    await runLoad({ ...load, milliseconds: 1500 });
    const before = cpuSeconds(server.pid);
    const { requests } = await runLoad({ ...load, milliseconds });
    const each = ((cpuSeconds(server.pid) - before) * 1_000_000) / requests;
    const { latencies } = await runLoad({ ...load, connections: 1, milliseconds });
    const shown = [0.5, 0.95, 0.99].map(part => percentile(latencies, part).toFixed(2));
    console.log(`| ${name} | ${each.toFixed(0)} | ${shown.join(' | ')} |`);
  }
  await server.stop();
}

const folder = runFolder();
if (kind === 'sqlite') await run({ DATA_DIR: folder }, folder);
else {
  const server = await startPostgres(cacheFolder);
  await server.drop('bench_attributes');
  await server.create('bench_attributes');
  await run({ DATABASE_URL: server.url('bench_attributes'), DATA_DIR: folder }, folder);
  await server.drop('bench_attributes');
  await server.stop();
}
rmSync(folder, { recursive: true, force: true });
