/** Durable creates on SQLite: with a commit (and fsync) for each, compared with creates that arrive together. */
import { join } from 'node:path';
import { createCause, createCommandOutbox } from '../src/events/outbox.ts';
import { createProductStore } from '../src/resources/products/store.ts';
import { openSqlite } from '../src/storage/sqlite/index.ts';
import { productNumber } from './data/catalog-data.ts';
import { markdownTable, spread, summary, thousands } from './report/statistics.ts';
import { sqliteCopy } from './servers/databases.ts';

const concurrencies = [1, 64] as const;

/** Creates per second through the store, without HTTP, on a copy of the catalog of this size. */
export async function measureFsync(size: number, rounds: number, milliseconds: number): Promise<string> {
  const copy = await sqliteCopy(size);
  const database = openSqlite(join(copy.settings.DATA_DIR ?? '', 'catalog.db'));
  const store = createProductStore(database, createCommandOutbox(database));
  let created = 0;

  async function createUntil(end: number): Promise<void> {
    while (performance.now() < end) {
      const { fields } = productNumber(++created);
      const product = { ...fields, sku: `NEW-${created}` };
      await database.write(session => store.insert(session, product, createCause('bench', Date.now())));
    }
  }
  async function rate(concurrency: number): Promise<number> {
    const before = created;
    const start = performance.now();
    await Promise.all(Array.from({ length: concurrency }, () => createUntil(start + milliseconds)));
    return ((created - before) * 1000) / (performance.now() - start);
  }

  try {
    const rates = new Map<number, number[]>(concurrencies.map(concurrency => [concurrency, []]));
    for (let round = 0; round <= rounds; round++) {
      for (const concurrency of concurrencies) {
        const measured = await rate(concurrency);
        if (round > 0) rates.get(concurrency)?.push(measured);
      }
    }
    const alone = summary(rates.get(1) ?? []).median;
    const rows = [...rates].map(([concurrency, values]) => {
      const found = summary(values);
      return [String(concurrency), spread(found, 0), `${(found.median / alone).toFixed(1)} ×`];
    });
    return markdownTable([['creates at once', `creates/s at ${thousands(size)} products`, 'ratio'], ...rows]);
  } finally {
    await database.close();
    await copy.remove();
  }
}
