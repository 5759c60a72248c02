/** SQLite's write-ahead log: bounded under sustained writing, and gone after a stop, with every write kept. */
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createCause, createCommandOutbox } from '../../src/events/outbox.ts';
import { completeFields, type ProductFields } from '../../src/resources/products/schema.ts';
import { createProductStore } from '../../src/resources/products/store.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { connect } from '../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';
import { createCheckpoints } from '../../src/storage/sqlite/threads/checkpoint.ts';

const mebibyte = 1024 * 1024;
const logBound = 64 * mebibyte;
const atOnce = 64;

function product(number: number, description: string | null = null): ProductFields {
  const sku = `A-${number}`;
  const category = `category ${number % 20}`;
  const price = (number * 104_729) % 1000;
  return completeFields({ name: sku, price, currency: 'EUR', description, sku, category });
}

async function withDatabase(work: (database: Database, file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-storage-'));
  const file = join(folder, 'catalog.db');
  const database = openSqlite(file);
  try {
    await migrate(database, Date.now);
    await work(database, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The number of stored products, and the number that the totals count. */
async function numbersOf(database: Database) {
  const counted = sql<{ products: number; total: number }>`select
    (select count(*) from products) as products,
    (select sum(total) from product_totals) as total`;
  return database.read.first(counted.compile(database.build));
}

test('the log stays bounded under sustained creates and is gone after the end', async () => {
  await withDatabase(async (database, file) => {
    const store = createProductStore(database, createCommandOutbox(database));
    // Together, several times the size that the log may have.
    const description = 'x'.repeat(9000);
    const creates = 20_000;
    let [started, longest] = [0, 0];
    const createAll = async () => {
      while (started < creates) {
        const number = started++;
        await database.write(session =>
          store.insert(session, product(number, description), createCause('test', number)),
        );
        if (number % atOnce === 0) longest = Math.max(longest, database.size()?.walBytes ?? 0);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, createAll));
    expect(longest).toBeLessThan(logBound);
    // More was copied into the database than the log ever held.
    expect(database.size()?.bytes).toBeGreaterThan(2 * logBound);
    expect(await numbersOf(database)).toEqual({ products: creates, total: creates });
    await database.close();
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(existsSync(`${file}-shm`)).toBe(false);
  });
}, 120_000);

test('the connection that writes copies and flushes nothing itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-storage-'));
  const file = join(folder, 'catalog.db');
  const connected = connect(file);
  const executed: string[] = [];
  const execute = (text: string) => {
    executed.push(text);
    connected.execute(text);
  };
  const checkpoints = createCheckpoints({ ...connected, execute }, file);
  connected.execute('create table written (text)');
  const insert = connected.connection.prepare('insert into written values (?)');
  let longest = 0;
  for (let transaction = 0; transaction < 600; transaction++) {
    await checkpoints.before();
    connected.execute('BEGIN IMMEDIATE');
    for (let row = 0; row < 50; row++) insert.run('x'.repeat(8000));
    connected.execute('COMMIT');
    checkpoints.after();
    // The thread's messages arrive in a turn of the event loop.
    await new Promise(resolve => setImmediate(resolve));
    longest = Math.max(longest, statSync(`${file}-wal`).size);
  }
  expect(longest).toBeLessThan(logBound);
  expect(statSync(file).size).toBeGreaterThan(2 * logBound);
  expect(executed.filter(text => text.includes('checkpoint('))).toEqual([]);
  insert.finalize();
  await checkpoints.close();
  connected.close();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

test('the log may grow during a long read, and is bounded again afterwards', async () => {
  await withDatabase(async database => {
    const store = createProductStore(database, createCommandOutbox(database));
    const description = 'x'.repeat(9000);
    let number = 0;
    const createMany = async (count: number) => {
      const end = number + count;
      while (number < end) {
        const numbers = Array.from({ length: atOnce }, () => number++);
        await Promise.all(
          numbers.map(one =>
            database.write(session =>
              store.insert(session, product(one, description), createCause('test', one)),
            ),
          ),
        );
      }
    };
    await database.snapshot(async session => {
      await session.all(sql`select count(*) from products`.compile(database.build));
      await createMany(8000);
    });
    await createMany(8000);
    expect(database.size()?.walBytes).toBeLessThanOrEqual(logBound);
    expect((await numbersOf(database))?.products).toBe(number);
    await database.close();
  });
}, 120_000);

test('a refused transaction of a group does not count', async () => {
  await withDatabase(async database => {
    const store = createProductStore(database, createCommandOutbox(database));
    const results = await Promise.allSettled(
      Array.from({ length: atOnce }, (_, number) =>
        database.write(async session => {
          await store.insert(session, product(number), createCause('test', number));
          // In one of four transactions the second product has a taken sku, so neither product is kept.
          if (number % 4 === 0) await store.insert(session, product(number), createCause('test', number));
        }),
      ),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(atOnce / 4);
    const kept = (atOnce * 3) / 4;
    expect(await numbersOf(database)).toEqual({ products: kept, total: kept });
    await database.close();
  });
});
