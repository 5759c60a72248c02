/** Migrations of a database that is in use: its data is carried over. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createCommandOutbox } from '../src/events/outbox.ts';
import { createOrderStore, toOrder } from '../src/resources/orders/store.ts';
import {
  buildStoredColumns,
  productOf,
  products,
  type StoredProduct,
} from '../src/resources/products/row.ts';
import { createProductReader } from '../src/resources/search/reader.ts';
import { createSearchStore } from '../src/resources/search/store.ts';
import { noSynonyms } from '../src/resources/synonyms/store.ts';
import { createColumns } from '../src/storage/columns/index.ts';
import type { Database } from '../src/storage/database.ts';
import { migrate } from '../src/storage/migrations/migrate.ts';
import { createSearchIndex, searchTypes } from '../src/storage/search/index.ts';
import { createStems } from '../src/storage/search/text/stems.ts';
import { expectRejection } from './support/http/rejection.ts';
import { describeOnDatabases } from './support/service/databases.ts';
import { olderDatabase } from './support/service/older-database.ts';

const searchIn = (database: Database) =>
  createSearchStore(
    database,
    createColumns(database, products),
    createStems(['en', 'de']),
    { synonyms: { current: async () => noSynonyms }, definitions: { current: async () => new Map() } },
    createProductReader(database),
  );

describeOnDatabases('migrations on %s', kind => {
  test('products get the rating of their reviews', async () => {
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

  test('a program older than its database is refused and writes nothing, unless the newer migrations only expand', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0013');
    await run(sql`insert into migrations (name, applied_at) values ('9998-expand-later', 1)`);
    await run(sql`insert into migrations (name, applied_at) values ('9999-later', 1)`);
    await expectRejection(
      migrate(database, () => 2),
      /newer than this program, .* migration 9999-later: /,
    );
    const names = sql<{ name: string }>`select name from migrations`;
    const applied = (await database.read.all(names.compile(database.build))).map(({ name }) => name);
    expect(applied).toContain('9999-later');
    expect(applied).not.toContain('0013-random-versions');
    await run(sql`delete from migrations where name = '9999-later'`);
    expect(await migrate(database, () => 2)).toContain('0013-random-versions');
    await remove();
  });

  test('existing resources can be found', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0007');
    const fields = { description: 'Of teak.', category: 'seats', tags: ['garden'], sku: 'T-1' };
    const rating = { average: null, count: 0 };
    const document = JSON.stringify({ name: 'Bench', price: 1, status: 'active', ...fields, rating }).slice(
      1,
    );
    await run(sql`insert into products (name, price, status, created_at, updated_at, document)
      values ('Bench', 1, 'active', 1, 1, ${document})`);
    await run(sql`insert into users (name, email, email_key, role, tags, version, created_at, updated_at)
      values ('Tom Teak', 'tom@shop.example', 'tom@shop.example', 'user', '[]', 1, 1, 1)`);
    await run(sql`insert into orders (customer_id, customer_name, customer_email, status, currency, total, version,
      created_at, updated_at) values (1, 'Tom Teak', 'tom@shop.example', 'PENDING', 'EUR', 1, 1, 1, 1)`);
    await run(sql`insert into order_items (order_id, product_id, name, quantity, unit_price, total)
      values (1, 1, 'Teak oil', 1, 1, 1)`);
    await run(sql`insert into articles (title, body, tags, author_id, author_name, created_at, updated_at)
      values ('Upkeep', 'Oil it.', '["teak"]', 1, 'a', 1, 1)`);
    await run(sql`insert into posts (title, body, author_id, author_name, created_at, updated_at)
      values ('Teak again', 'A note.', 1, 'a', 1, 1)`);
    await migrate(database, () => 2);
    const store = searchIn(database);
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
    expect(await found('tom')).toEqual(['user Tom Teak']);
    await remove();
  });

  test('words of people leave the search index and the spellings, words of documents stay', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0009');
    await run(sql`insert into orders (customer_id, customer_name, customer_email, status, currency, total, version,
      created_at, updated_at) values (1, 'Tom Hollow', 'tom@shop.example', 'PENDING', 'EUR', 1, 1, 1, 1)`);
    await run(sql`insert into order_items (order_id, product_id, name, quantity, unit_price, total)
      values (1, 1, 'Lantern', 1, 1, 1)`);
    await run(sql`insert into posts (title, body, author_id, author_name, created_at, updated_at)
      values ('Bright evenings', 'A note.', 1, 'a', 1, 1)`);
    const index = createSearchIndex(database);
    const wordsOf = (title: string, body: string) => ({ id: 1, title, body });
    await database.write(async session => {
      await index.addMany(session, 'order', [wordsOf('Order 1', 'Tom Hollow · tom@shop.example')]);
      await index.addMany(session, 'post', [wordsOf('Bright evenings', 'A note.')]);
    });
    for (const spelt of ['hollow', 'hollo', 'holow', 'longgone'])
      await run(sql`insert into search_spellings (spelling, word) values (${spelt}, 'hollow')`);
    await migrate(database, () => 2);
    const kept = await database.read.all(
      sql<{ word: string }>`select distinct word from search_spellings`.compile(database.build),
    );
    expect(kept.map(({ word }) => word).sort()).toEqual(['bright', 'evenings', 'note']);
    const store = searchIn(database);
    const page = { kind: 'offset', page: 1, perPage: 20, sort: 'rank', order: 'asc' } as const;
    const found = async (query: string) => {
      const { rows } = await store.search({ query, visible: searchTypes, types: searchTypes, page });
      return rows.map(({ hit }) => `${hit.type} ${hit.document.title}`);
    };
    expect(await found('hollow')).toEqual([]);
    expect(await found('holllow')).toEqual([]);
    expect(await found('brigt')).toEqual(['post Bright evenings']);
    expect(await found('lantern')).toEqual(['order Order 1']);
    await remove();
  });

  test('existing products can be found by their tags', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0011');
    for (const tags of [['garden', 'used', 'garden'], [], ['us"ed', 'used']]) {
      const document = JSON.stringify({ name: 'Bench', price: 1, tags }).slice(1);
      await run(sql`insert into products (name, price, status, created_at, updated_at, document)
        values ('Bench', 1, 'active', 1, 1, ${document})`);
    }
    await migrate(database, () => 2);
    const { build } = database;
    const rows = build
      .selectFrom('product_tags')
      .select(['tag', 'product_id'])
      .orderBy('tag')
      .orderBy('product_id');
    expect(await database.read.all(rows.compile())).toEqual([
      { tag: 'garden', product_id: 1 },
      { tag: 'us"ed', product_id: 3 },
      { tag: 'used', product_id: 1 },
      { tag: 'used', product_id: 3 },
    ]);
    await remove();
  });

  test('orders that were placed before stock was counted have reserved nothing', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0022');
    await run(sql`insert into orders (customer_id, customer_name, customer_email, status, currency, total, version,
      created_at, updated_at) values (1, 'Tom', 'tom@shop.example', 'PENDING', 'EUR', 1, 1, 1, 1)`);
    await run(sql`insert into order_items (order_id, product_id, name, quantity, unit_price, total)
      values (1, 1, 'Lantern', 3, 1, 3)`);
    expect(await migrate(database, () => 2)).toContain('0022-stock');
    const query = sql`select quantity, reserved, variant_id, options from order_items`;
    expect(await database.read.all(query.compile(database.build))).toEqual([
      { quantity: 3, reserved: 0, variant_id: null, options: null },
    ]);
    await remove();
  });

  test('orders placed before exact prices keep their amounts', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0036');
    await run(sql`insert into orders (customer_id, customer_name, customer_email, status, currency, total, version,
      created_at, updated_at) values (1, 'Tom', 'tom@shop.example', 'PENDING', 'EUR', 10000, 1, 1, 1)`);
    await run(sql`insert into order_items (order_id, product_id, name, quantity, unit_price, total)
      values (1, 1, 'Screw', 10000, 1, 10000)`);
    expect(await migrate(database, () => 2)).toContain('0036-expand-exact-prices');
    const orders = createOrderStore(database, createCommandOutbox(database));
    const order = await orders.find(database.read, 1);
    if (order === undefined) throw new Error('the order is gone');
    const shown = toOrder({ order, items: await orders.items(database.read, 1) });
    expect([shown.total, shown.items]).toMatchObject([
      100,
      [{ quantity: 10_000, unitPrice: 0.01, total: 100 }],
    ]);
    await remove();
  });

  test('existing products get the new members', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0021');
    const prices = ['0.1', '79.5', '5e-324', '1e+21', '12345678901234567000'];
    for (const [index, price] of prices.entries()) {
      const status = index === 0 ? 'archived' : 'active';
      const members = `"name":"Lämp \\"💡","price":${price},"status":"${status}","sku":null,"tags":[]`;
      await run(sql`insert into products (name, price, status, created_at, updated_at, document)
        values ('Lamp', ${Number(price)}, ${status}, 1, 1, ${`${members},"rating":{"average":null,"count":0}}`})`);
    }
    expect(await migrate(database, () => 2)).toContain('0021-product-details');
    const query = sql<StoredProduct & { available: number }>`
      select id, document, updated_at, available from products order by id`;
    const rows = await database.read.all(query.compile(database.build));
    expect(rows.map(row => [productOf(row), row.available])).toEqual(
      prices.map((price, index) => [
        {
          ...{ id: index + 1, name: 'Lämp "💡', price: Number(price), sku: null, tags: [] },
          ...{ status: index === 0 ? 'archived' : 'active', rating: { average: null, count: 0 } },
          ...{ brand: null, gtin: null, mpn: null, externalId: null, compareAtPrice: null, weight: null },
          ...{
            category: null,
            categories: [],
            attributes: {},
            options: [],
            images: [],
            stock: null,
            variantCount: 0,
          },
          ...{ priceRange: { min: Number(price), max: Number(price) }, available: index > 0 },
        } as unknown as ReturnType<typeof productOf>,
        Number(index > 0),
      ]),
    );
    await remove();
  });

  test('the categories that products name become a tree', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0027');
    const named: readonly (readonly [former: string | null, path: string | null])[] = [
      [null, null],
      ['Lamps', 'Lamps'],
      ['Furniture > Tables', 'Furniture > Tables'],
      ['Furniture', 'Furniture'],
      ['Lamps', 'Lamps'],
      ['Küche "&" \\ 💡', 'Küche "&" \\ 💡'],
      ['a > ', 'a'],
      ['>', '›'],
      ['1 > 2 > 3 > 4 > 5 > 6 > 7 > 8 > 9 > 10 > 11', '1 > 2 > 3 > 4 > 5 > 6 > 7 > 8 > 9 > 10 / 11'],
    ];
    for (const [former] of named) {
      const members = {
        name: 'Lamp',
        sku: null,
        category: former,
        tags: ['a'],
        weight: null,
        categories: [],
      };
      const document = JSON.stringify({ ...members, attributes: {} }).slice(1);
      await run(sql`insert into products (name, price, status, category, created_at, updated_at, document)
        values ('Lamp', 1, 'active', ${former}, 1, 1, ${document})`);
    }
    expect(await migrate(database, () => 2)).toContain('0027-categories-of-products');
    const products = sql<StoredProduct>`select ${buildStoredColumns(database.dialect)} from products order by id`;
    const rows = await database.read.all(products.compile(database.build));
    expect(rows.map(row => productOf(row) as object)).toEqual(
      named.map(([, category], index) => ({
        ...{ id: index + 1, category, categories: [], name: 'Lamp', sku: null, tags: ['a'] },
        ...{ weight: null, attributes: {} },
      })),
    );
    const tree = sql<{ path: string; slug: string; depth: number }>`
      select path, slug, depth from categories order by path`;
    const made = await database.read.all(tree.compile(database.build));
    expect(made).toHaveLength(16);
    expect(made.find(({ path }) => path === 'Furniture > Tables')).toEqual({
      path: 'Furniture > Tables',
      slug: 'tables',
      depth: 2,
    });
    const totals = sql<{ total: number }>`select cast(sum(total) as integer) as total from product_totals
      join categories on categories.id = category_id where path = 'Lamps'`;
    expect(await database.read.first(totals.compile(database.build))).toEqual({ total: 2 });
    await remove();
  });
});
