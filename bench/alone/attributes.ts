/**
 * What filters by attributes and facets cost, compared with a filter by category:
 * `bun bench/alone/attributes.ts [PRODUCTS] [sqlite|postgresql]`.
 * Every product has ten attributes. Filters, sorts and pages are drawn for each request, so that few requests repeat.
 */
import { join } from 'node:path';
import { exitOnSignals } from '../../scripts/command-line.ts';
import { brands, categories, colours, materials, series } from '../data/attribute-data.ts';
import { runLoad } from '../load/load.ts';
import { type Random, random } from '../load/random.ts';
import { get } from '../load/wire.ts';
import { percentile } from '../report/statistics.ts';
import { attributed, cacheFolder, postgresCopy, runFolder, sqliteCopy } from '../servers/databases.ts';
import { startPostgres } from '../servers/postgres.ts';
import { cpuSeconds } from '../servers/processes.ts';
import { signIn, startService } from '../servers/servers.ts';

const count = Number(process.argv[2] ?? 100_000);
const kind = process.argv[3] ?? 'sqlite';
const milliseconds = 2000;
const connections = 8;
const warmups = 12;
const sorts = ['id', 'price', 'name', 'createdAt'] as const;

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
  const server = await startService(settings, join(folder, 'errors.log'));
  const token = await signIn(server.port);
  console.log(
    `\n| ${kind}, ${count} products | CPU µs | p50 ms | p95 ms | p99 ms |\n| --- | ---: | ---: | ---: | ---: |`,
  );
  for (const [name, query] of Object.entries(queries)) {
    const draw = random(4711);
    const request = () => get(`/v1/products?${query(draw)}`, token);
    const load = { port: server.port, request, statuses: [200], connections };
    // The first requests load the columns, which for very many products takes longer than a load waits.
    for (let asked = 0; asked < warmups; asked++)
      await (
        await fetch(`http://127.0.0.1:${server.port}/v1/products?${query(draw)}`, {
          headers: { Authorization: `Bearer ${token}` },
        })
      ).arrayBuffer();
    // A warm-up, during which code is compiled.
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

exitOnSignals();
const folder = runFolder();
const onServer = kind === 'sqlite' ? undefined : await startPostgres(cacheFolder);
const copy = await (onServer === undefined
  ? sqliteCopy(count, attributed)
  : postgresCopy(onServer, count, attributed));
await run({ ...copy.settings, DATA_DIR: copy.settings.DATA_DIR ?? folder }, folder);
await copy.remove();
await onServer?.stop();
