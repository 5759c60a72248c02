/**
 * `bun bench/alone/categories.ts [products] [DATABASE_URL]`: how long readers wait while a category of all products is
 * repeatedly renamed, and while the search index is updated afterwards; and what a page of a category with
 * subcategories costs, compared with one without. On SQLite, or on an empty PostgreSQL database.
 */

import { loadConfig } from '../../src/config.ts';
import { createCause, createCommandOutbox } from '../../src/events/outbox.ts';
import { createQueue } from '../../src/events/queue.ts';
import { createDefinitionStore } from '../../src/resources/attributes/store.ts';
import { createCategoryStore } from '../../src/resources/categories/store.ts';
import { createProductStore } from '../../src/resources/products/store.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Condition } from '../../src/storage/list/request.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { openDatabase } from '../../src/storage/open.ts';
import { categories, fill } from '../data/catalog-data.ts';
import { random } from '../load/random.ts';
import { markdownTable, percentile } from '../report/statistics.ts';
import { runFolder } from '../servers/databases.ts';
import { shipped, signIn, startService } from '../servers/servers.ts';

const products = Number(process.argv[2] ?? 100_000);
const url = process.argv[3];
const folder = runFolder();
const settings = { DATA_DIR: folder, ...(url === undefined ? {} : { DATABASE_URL: url }) };
const pages = 400;
const readers = 4;
const secondsEach = 5;
const renameEveryMs = 1000;
/** Everything > Group 1..7 > the categories of the catalog. */
const groups = 7;

const database = openDatabase(loadConfig({ ...shipped, ...settings }));
await migrate(database, Date.now);
await fill(database, products);
const rootId = await plantTree(database);
console.log(
  markdownTable([['page of 20 by price, from anywhere', 'ms', '× one category'], ...(await listCosts())]),
);
await database.close();
console.log(markdownTable(await waits()));

/** Puts the flat categories of the catalog into a tree of three levels. @returns the id of the root */
async function plantTree(into: Database): Promise<number> {
  const outbox = createCommandOutbox(into);
  const store = createCategoryStore(into, outbox, createQueue(into), createDefinitionStore(into, outbox));
  const cause = createCause('bench', Date.now());
  const plain = { slug: null, position: null, description: null, imageId: null };
  return into.write(async session => {
    const root = await store.insert(session, { ...plain, name: 'Everything', parentId: null }, cause);
    const ids: number[] = [];
    for (let group = 1; group <= groups; group++) {
      const fields = { ...plain, name: `Group ${group}`, parentId: root.id };
      ids.push((await store.insert(session, fields, cause)).id);
    }
    for (const [index, name] of categories.entries()) {
      const row = await store.find(session, index + 1);
      if (row === undefined) throw new Error(`${name} is not there`);
      const parentId = ids[index % groups] ?? root.id;
      await store.update(session, row, { ...plain, name: row.name, parentId }, cause);
    }
    return root.id;
  });
}

async function listCosts(): Promise<string[][]> {
  const store = createProductStore(database, createCommandOutbox(database));
  const leaf = `Everything > Group 1 > ${categories[0]}`;
  const shapes: readonly (readonly [name: string, paths: readonly string[]])[] = [
    ['one category', [leaf]],
    ['two categories', [leaf, `Everything > Group 2 > ${categories[1]}`]],
    ['a group: eight categories', ['Everything > Group 1']],
    ['three groups: 24 categories', [1, 2, 3].map(group => `Everything > Group ${group}`)],
    ['everything: 58 categories', ['Everything']],
  ];
  const times = new Map(shapes.map(([name]) => [name, [] as number[]]));
  const { integer } = random(17);
  for (let page = 0; page < pages; page++) {
    for (const [name, paths] of shapes) {
      const [first = ''] = paths;
      const condition: Condition =
        paths.length === 1
          ? { column: 'category', operator: '=', value: first }
          : { column: 'category', operator: 'in', values: paths, value: JSON.stringify(paths) };
      const after = { value: integer(100, 100_000) / 100, id: 1 };
      const asked = { kind: 'key', limit: 20, after, count: false } as const;
      const began = performance.now();
      await store.list({
        conditions: [condition],
        order: { column: 'price', descending: false },
        page: asked,
      });
      times.get(name)?.push(performance.now() - began);
    }
  }
  const medianOf = (name: string) =>
    percentile(
      (times.get(name) ?? []).sort((a, b) => a - b),
      0.5,
    );
  return shapes.map(([name]) => {
    const median = medianOf(name);
    return [name, median.toFixed(3), (median / medianOf('one category')).toFixed(1)];
  });
}

async function waits(): Promise<string[][]> {
  const server = await startService(settings, `${folder}/errors`);
  try {
    const token = await signIn(server.port);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const base = `http://127.0.0.1:${server.port}/v1`;
    const request = async (path: string, body?: object) => {
      const began = performance.now();
      const sent = body === undefined ? {} : { method: 'PATCH', body: JSON.stringify(body) };
      const response = await fetch(`${base}${path}`, { headers, ...sent });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
      return performance.now() - began;
    };
    const rename = (name: string) => request(`/categories/${rootId}`, { name });
    const { integer, pick } = random(4711);
    const read = () =>
      integer(1, 3) === 1
        ? request(`/products?sort=${pick(['price', 'name', 'id'])}&page=${integer(1, 40)}`)
        : request(`/products/${integer(1, products)}`);
    /** Reads for some seconds while `work` runs. */
    const during = async (name: string, work: (until: number) => Promise<readonly number[]>) => {
      const until = performance.now() + secondsEach * 1000;
      const times: number[] = [];
      const loop = async () => {
        while (performance.now() < until) times.push(await read());
      };
      const [done] = await Promise.all([work(until), ...Array.from({ length: readers }, loop)]);
      const [reads, works] = [times.sort((a, b) => a - b), [...done].sort((a, b) => a - b)];
      const shown = (sorted: readonly number[], share: number) =>
        sorted.length === 0 ? '–' : percentile(sorted, share).toFixed(1);
      return [
        name,
        ...[`${times.length}`, shown(reads, 0.5), shown(reads, 0.99), shown(reads, 1)],
        ...[`${works.length}`, shown(works, 0.5), shown(works, 1)],
      ];
    };
    const renaming = async (until: number) => {
      const times: number[] = [];
      while (performance.now() < until) {
        times.push(await rename(`Everything ${pick(['here', 'there', 'new'])} ${times.length}`));
        await Bun.sleep(renameEveryMs);
      }
      return times;
    };
    const nothing = async () => [];
    return [
      ['readers while', 'reads', 'ms p50', 'ms p99', 'ms longest', 'renames', 'ms p50', 'ms longest'],
      await during('nothing else is done', nothing),
      await during(`${products} products’ category is renamed`, renaming),
      await during('the search is brought up to date', nothing),
    ];
  } finally {
    await server.stop();
  }
}
