/**
 * The cost of SQLite alone in an import: `bun bench/alone/import-floor.ts [PRODUCTS] [BATCH,…]`. Writes the same
 * rows, events, tags and words, from texts already in memory, with the same statements; then builds the indexes.
 */
import { Database as Connection } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { prepareRecord } from '../../src/resources/products/import/prepared.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { toPosition } from '../../src/storage/search/index.ts';
import { deferIndexes, prepareLoad, restoreIndexes } from '../../src/storage/sqlite/deferred-indexes.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';
import { productNumber } from '../data/catalog-data.ts';
import { markdownTable } from '../report/statistics.ts';
import { runFolder } from '../servers/databases.ts';

type Value = string | number | null;
interface Rows {
  readonly products: readonly Value[];
  readonly words: string;
  readonly tags: readonly string[];
}

const events = `insert into events
  (type, resource, resource_id, actor, request_id, old_document, new_document, created_at, mark)
  select 'product.created', 'product', id, 'import', null, null, document, updated_at, 1
  from products where id >= ? and id <= ? order by id`;
const columns = 'name, price, status, sku, created_at, updated_at, document';

function prepared(products: number): Rows[] {
  return Array.from({ length: products }, (_, index) => {
    const { row, words, tags } = prepareRecord(productNumber(index + 1).fields, 'EUR', Date.now());
    const { name, price, status, sku, created_at, updated_at, document } = row;
    return { products: [name, price, status, sku, created_at, updated_at, document], words, tags };
  });
}

/** Writes rows in statements of several sizes, as an import does. */
function writer(connection: Connection, into: string, width: number) {
  const places = `(${new Array(width).fill('?').join()})`;
  const statements = [500, 128, 32, 8, 4, 2, 1].map(size => ({
    size,
    statement: connection.prepare(`${into} values ${new Array(size).fill(places).join()}`),
  }));
  return (rows: readonly (readonly Value[])[]): void => {
    let start = 0;
    for (const { size, statement } of statements) {
      for (; rows.length - start >= size; start += size)
        statement.run(...rows.slice(start, start + size).flat());
    }
  };
}

function writeAll(connection: Connection, rows: readonly Rows[], batch: number, timed: Timed): void {
  const writeProducts = writer(connection, `insert into products (${columns})`, 7);
  const writeTags = writer(connection, 'insert into product_tags (tag, product_id)', 2);
  const writeWords = writer(connection, 'insert or replace into search_index (rowid, words)', 2);
  const writeEvents = connection.prepare(events);
  for (let start = 0; start < rows.length; start += batch) {
    const part = rows.slice(start, start + batch);
    const tags = part.flatMap((row, index) =>
      row.tags.map((tag): [string, number] => [tag, start + index + 1]),
    );
    tags.sort(([one, id], [other, otherId]) => (one < other ? -1 : one > other ? 1 : id - otherId));
    connection.run('begin immediate');
    timed('rows', () => writeProducts(part.map(({ products }) => products)));
    timed('events', () => writeEvents.run(start + 1, start + part.length));
    timed('tags', () => writeTags(tags));
    timed('words', () =>
      writeWords(part.map(({ words }, index) => [toPosition('product', start + index + 1), words])),
    );
    timed('commit', () => connection.run('commit'));
  }
}

type Timed = (what: string, work: () => unknown) => void;

/** @returns the CPU and elapsed µs per product of each kind of work */
async function measure(rows: readonly Rows[], batch: number): Promise<string[]> {
  const folder = runFolder();
  const file = join(folder, 'catalog.db');
  const database = openSqlite(file);
  await migrate(database, Date.now);
  await database.close();
  prepareLoad(file);
  deferIndexes(file, ['products', 'events']);
  const spent = new Map<string, number>();
  const began = performance.now();
  const timed: Timed = (what, work) => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    spent.set(what, (spent.get(what) ?? 0) + user + system);
  };
  const connection = new Connection(file, { readwrite: true, strict: true });
  for (const pragma of ['synchronous = NORMAL', 'temp_store = MEMORY', 'cache_size = -8000'])
    connection.run(`PRAGMA ${pragma}`);
  writeAll(connection, rows, batch, timed);
  connection.close(true);
  timed('indexes', () => restoreIndexes(file));
  const total = (performance.now() - began) * 1000;
  rmSync(folder, { recursive: true, force: true });
  const all = [...spent.values()];
  const sum = all.reduce((one, other) => one + other, 0);
  return [String(batch), ...[...all, sum, total].map(micros => (micros / rows.length).toFixed(1))];
}

const [products = '200000', batches = '3000,6000'] = process.argv.slice(2);
const rows = prepared(Number(products));
const table = [['batch', 'rows', 'events', 'tags', 'words', 'commit', 'indexes', 'CPU µs', 'time µs']];
for (const batch of batches.split(',')) table.push(await measure(rows, Number(batch)));
console.log(markdownTable(table));
