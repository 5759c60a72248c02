/** Migrations of a database that is in use: what is there is carried over. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { loadConfig } from '../src/config.ts';
import { productOf, type StoredProduct } from '../src/resources/products/row.ts';
import { searchStore } from '../src/resources/search/store.ts';
import type { Database } from '../src/storage/database.ts';
import { migrate } from '../src/storage/migrate.ts';
import { migrations } from '../src/storage/migrations/index.ts';
import { openDatabase } from '../src/storage/open.ts';
import { searchTypes } from '../src/storage/search-index.ts';
import { createDatabase } from './support/postgres.ts';
import { databaseKinds } from './support/service.ts';

/** Runs the migrations before the one of this name, as an older release has. */
async function migrateUpTo(database: Database, name: string): Promise<void> {
  const { text, moment } = database.dialect.types;
  const older = migrations.filter(migration => migration.name < name);
  await database.exclusively(async session => {
    const table = sql`create table migrations (name ${text} primary key, applied_at ${moment} not null)`;
    await session.run(table.compile(database.build));
    for (const migration of older) {
      await migration.up(session, database);
      const row = { name: migration.name, applied_at: 1 };
      await session.run(database.build.insertInto('migrations').values(row).compile());
    }
  });
}

/** A database as it was before the migration of this name; `run` writes to it. */
async function olderDatabase(kind: string, name: string) {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-test-'));
  const config = loadConfig({
    DATA_DIR: folder,
    JWT_SECRET: 'a secret for tests that is long enough for HS256',
    ...(kind === 'postgresql' ? { DATABASE_URL: await createDatabase() } : {}),
  });
  const database = openDatabase(config);
  await migrateUpTo(database, name);
  return {
    database,
    run: (statement: RawBuilder<unknown>) =>
      database.write(session => session.run(statement.compile(database.build))),
    async remove() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe.each([...databaseKinds])('migrations on %s', kind => {
  test('products get the rating that their reviews give', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0006');
    const fields = { name: 'Lämp "L" 💡', price: 1, description: null, sku: null, category: null, tags: [] };
    const members = { ...fields, createdAt: 'c', updatedAt: 'u' };
    const document = JSON.stringify(members).slice(1);
    await run(sql`insert into users (name, email, email_key, role, tags, version, created_at, updated_at)
      values ('a', 'a', 'a', 'user', '[]', 1, 1, 1), ('b', 'b', 'b', 'user', '[]', 1, 1, 1),
        ('c', 'c', 'c', 'user', '[]', 1, 1, 1)`);
    for (let id = 1; id <= 2; id++) {
      await run(sql`insert into products (name, price, status, created_at, updated_at, document)
        values ('Lamp', 1, 'active', 1, 1, ${document})`);
    }
    await run(sql`insert into reviews (product_id, user_id, author_name, rating, created_at, updated_at)
      values (2, 1, 'a', 5, 1, 1), (2, 2, 'b', 5, 1, 1), (2, 3, 'c', 4, 1, 1)`);
    const ran = await migrate(database, () => 2);
    expect(ran[0]).toBe('0006-content');
    const rows = await database.read.all(
      sql<StoredProduct & { rating_sum: number; rating_count: number }>`
        select id, document, updated_at, rating_sum, rating_count from products order by id`.compile(
        database.build,
      ),
    );
    expect(rows.map(row => ({ ...productOf(row), sums: [row.rating_sum, row.rating_count] }))).toMatchObject([
      { ...members, id: 1, rating: { average: null, count: 0 }, sums: [0, 0] },
      { ...members, id: 2, rating: { average: 4.67, count: 3 }, sums: [14, 3] },
    ]);
    expect(await migrate(database, () => 3)).toEqual([]);
    await remove();
  });

  test('what is there can be found', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0007');
    const fields = { description: 'Of teak.', category: 'seats', tags: ['garden'], sku: 'T-1' };
    const document = JSON.stringify({ name: 'Bench', price: 1, ...fields }).slice(1);
    await run(sql`insert into products (name, price, status, created_at, updated_at, document)
      values ('Bench', 1, 'active', 1, 1, ${document})`);
    await run(sql`insert into users (name, email, email_key, role, tags, version, created_at, updated_at)
      values ('Tom Teak', 'tom@shop.example', 'tom@shop.example', 'user', '[]', 1, 1, 1)`);
    await run(sql`insert into orders (customer_id, customer_name, customer_email, status, currency, total, version,
      created_at, updated_at) values (1, 'Tom Teak', 'tom@shop.example', 'PENDING', 'EUR', 1, 1, 1, 1)`);
    await run(sql`insert into articles (title, body, tags, author_id, author_name, created_at, updated_at)
      values ('Upkeep', 'Oil it.', '["teak"]', 1, 'a', 1, 1)`);
    await run(sql`insert into posts (title, body, author_id, author_name, created_at, updated_at)
      values ('Teak again', 'A note.', 1, 'a', 1, 1)`);
    await migrate(database, () => 2);
    const store = searchStore(database);
    const page = { kind: 'offset', page: 1, perPage: 20, sort: 'rank', order: 'asc' } as const;
    const found = async (query: string) => {
      const { rows } = await store.search({ query, visible: searchTypes, types: searchTypes, page });
      return rows.map(({ hit }) => `${hit.type} ${hit.document.title}`);
    };
    expect((await found('teak')).sort()).toEqual([
      'article Upkeep',
      'order Order 1',
      'post Teak again',
      'product Bench',
      'user Tom Teak',
    ]);
    expect(await found('garden seats bench')).toEqual(['product Bench']);
    expect(await found('upkep')).toEqual(['article Upkeep']);
    await remove();
  });
});
