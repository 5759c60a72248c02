/** `catalog check` finds damage in a database and rebuilds derived data, while a service is running. */
import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { sql } from 'kysely';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createDatabase } from '../../support/service/postgres.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { createPlace, type Place } from '../program.ts';

// Each test starts several processes.
setDefaultTimeout(60_000);

/** Damage to derived data, which can be rebuilt: a statement for each kind, and the line that reports it. */
const derived: readonly (readonly [statement: string, line: RegExp])[] = [
  [
    'update product_totals set total = total + 3',
    /^totals of products: active products of category \d+ \(lighting\): \d+ kept, 2 counted$/m,
  ],
  [
    "delete from product_totals where category_id = (select id from categories where path = 'garden')",
    /^totals of products: active products of category \d+ \(forest\): 0 kept, 1 counted$/m,
  ],
  [
    "update categories set path = 'forest', depth = 2 where name = 'garden'",
    /^categories: category \d+: "forest" is not the path of its name and parent$/m,
  ],
  [
    "update products set further_categories = 3 where name = 'Lamp'",
    /^categories: product \d+: 3 further categories kept, 0 counted$/m,
  ],
  [
    "update products set rating_sum = 50, rating_count = 10 where name = 'Lamp'",
    /^ratings of products: product \d+: 10 reviews with the sum 50 kept, 1 with 4 counted$/m,
  ],
  [
    "delete from product_tags where tag = 'bright'",
    /^tags of products: product \d+ cannot be found by its tags$/m,
  ],
  [
    "insert into product_tags (tag, product_id) values ('nobody', 9999)",
    /^tags of products: product 9999 cannot be found/m,
  ],
  [
    "delete from product_attributes where key = 'colour'",
    /^attributes of products: product \d+ cannot be found by its attributes$/m,
  ],
  [
    "update product_attributes set number = 6 where key = 'watt'",
    /^attributes of products: product \d+ cannot be found by its attributes$/m,
  ],
  ['delete from article_tags', /^tags of articles: article \d+ cannot be found/m],
  [
    'delete from search_index where SEARCH_LAMP',
    /^search index: product \d+ is indexed under words that differ from its text$/m,
  ],
  [
    "delete from search_spellings where word = 'shade'",
    /^search index: the words for searches with typing errors differ/m,
  ],
  [
    `update products set document = replace(document, '"reserved":1', '"reserved":4') where name = 'Rake'`,
    /^reserved stock: product \d+: 4 reserved, 1 of them by open orders$/m,
  ],
  [
    `update product_variants set document = replace(document, '"reserved":2', '"reserved":0')`,
    /^reserved stock: variant \d+: 0 reserved, 2 of them by open orders$/m,
  ],
  [
    `update products set document = replace(document, ']}],1', ']}],7')`,
    /^variants of products: product \d+: its number of variants, price or availability differs from its variants$/m,
  ],
  [
    `update product_variants set document = replace(document, 'null,{"tracked"', '2,{"tracked"')`,
    /^documents of variants: variant \d+: its document differs from the column price$/m,
  ],
  [
    "update order_items set reserved = 2 where name = 'Lamp'",
    /^reserved stock: order \d+: it is PAID, but has 2 reserved$/m,
  ],
  [
    "update counters set value = 0 where name = 'invoices'",
    /^numbers of invoices: the counter is at 0, but the highest number is 1$/m,
  ],
];

/** Damage to original data, which cannot be rebuilt. */
const originals: readonly (readonly [statement: string, line: RegExp])[] = [
  [
    "update products set price = 99 where name = 'Lamp'",
    /^documents of products: product \d+: its document differs from the column price$/m,
  ],
  [
    "update products set document = '\"name\":' where name = 'Shade'",
    /^documents of products: product \d+: its document is not valid JSON$/m,
  ],
  [
    "update products set category_id = 9999 where name = 'Rake'",
    /^categories: product \d+: its category 9999 does not exist$/m,
  ],
  [
    'update invoices set number = 2',
    /^numbers of invoices: the highest number is 2, but there are 1 invoices$/m,
  ],
  [
    "update counters set value = 3 where name = 'invoices'",
    /^numbers of invoices: the counter is at 3, but the highest number is 2$/m,
  ],
  [
    'update orders set total = total + 1',
    /^totals of orders: order \d+: its total is \d+, but its items add up to \d+$/m,
  ],
  [
    "insert into reviews (product_id, user_id, author_name, rating, created_at, updated_at) values (9999, 9998, 'X', 5, 0, 0)",
    /^references: 1 row of reviews refers by product_id to products that do not exist, such as 9999$/m,
  ],
];

describeOnDatabases('catalog check on %s', kind => {
  let place: Place;
  let service: TestService;
  beforeAll(async () => {
    place = await createPlace(kind);
    const own =
      kind === 'postgresql'
        ? { DATABASE_URL: place.environment.DATABASE_URL ?? (await createDatabase()) }
        : {};
    service = await startTestService(kind, { DATA_DIR: place.environment.DATA_DIR ?? '', ...own });
    const post = async (path: string, body: object, as: 'admin' | 'user' = 'admin') => {
      const made = await call(service, { method: 'POST', path, as, body });
      expect(made.status).toBeLessThan(300);
      return made.body;
    };
    const lamp = await post('/v1/products', {
      name: 'Lamp',
      price: 2,
      category: 'lighting',
      tags: ['bright', 'new'],
      attributes: { colour: 'red', watt: 5 },
    });
    await post('/v1/products', { name: 'Shade', price: 3, category: 'lighting' });
    const stock = { onHand: 5 };
    const rake = await post('/v1/products', {
      name: 'Rake',
      price: 4,
      category: 'garden',
      sku: 'G-1',
      stock,
    });
    await post(`/v1/products/${lamp.id}/reviews`, { rating: 4 }, 'user');
    await post('/v1/articles', { title: 'Light', body: 'On lamps', tags: ['home'] });
    await post('/v1/posts', { title: 'News', body: 'A new lamp' });
    const user = (await call(service, { path: '/v1/me', as: 'user' })).body;
    const order = await post(
      `/v1/users/${user.id}/orders`,
      { items: [{ productId: lamp.id, quantity: 2 }] },
      'user',
    );
    await post(`/v1/orders/${order.id}/payment`, {}, 'user');
    const options = [{ name: 'Size', values: ['S'] }];
    const glove = await post('/v1/products', { name: 'Glove', price: 4, category: 'clothes', options });
    const variant = await post(`/v1/products/${glove.id}/variants`, { options: { Size: 'S' }, stock });
    const items = [
      { productId: rake.id, quantity: 1 },
      { productId: glove.id, variantId: variant.id, quantity: 2 },
    ];
    await post(`/v1/users/${user.id}/orders`, { items }, 'user');
    await service.settle();
  });
  afterAll(async () => {
    await service.stop();
    place.remove();
  });

  /** Runs the statements without checks of foreign keys, which damage would not respect. */
  async function run(statements: readonly (readonly [string, RegExp])[]): Promise<void> {
    const at =
      kind === 'sqlite'
        ? `rowid = 4294967296 + (select id from products where name = 'Lamp')`
        : `position = 4294967296 + (select id from products where name = 'Lamp')`;
    const texts = statements.map(([statement]) => statement.replace('SEARCH_LAMP', at));
    if (kind === 'sqlite') {
      using connection = new Connection(join(place.environment.DATA_DIR ?? '', 'catalog.db'));
      connection.run('PRAGMA foreign_keys = OFF');
      for (const text of texts) connection.run(text);
      return;
    }
    await service.database.write(async session => {
      for (const text of ['set local session_replication_role = replica', ...texts]) {
        await session.run(sql.raw(text).compile(service.database.build));
      }
    });
  }

  async function findNothing(): Promise<void> {
    const { status, out, err } = await place.runHere(['check']);
    expect([status, err]).toEqual([0, '']);
    const [, names = ''] =
      /^no problems found; checked: (integrity, schema, .*search index)\n$/.exec(out) ?? [];
    expect(names.split(', ')).toEqual([...new Set(names.split(', '))]);
    expect(names).not.toBe('');
  }

  async function repairDerived(): Promise<void> {
    await run(derived);
    const found = await place.runHere(['check']);
    expect([found.status, found.err]).toEqual([1, '']);
    for (const [, line] of derived) expect(found.out).toMatch(line);
    expect(found.out).toMatch(/catalog check --repair rebuilds derived data\n$/);

    const repaired = await place.runHere(['check', '--repair']);
    expect([repaired.status, repaired.err]).toEqual([0, '']);
    expect(repaired.out).not.toContain('still wrong');
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });

    const get = async (path: string) => (await call(service, { path, as: 'admin' })).body;
    expect((await get('/v1/products?category=lighting')).meta.total).toBe(2);
    const [lamp] = (await get('/v1/products?tag=bright')).data;
    expect(lamp).toMatchObject({ name: 'Lamp', rating: { average: 4, count: 1 } });
    const [rake] = (await get('/v1/products?sku=G-1')).data;
    expect(rake.stock).toEqual({ tracked: true, onHand: 5, reserved: 1, backorder: false });
    const [glove] = (await get('/v1/products?category=clothes')).data;
    expect(glove).toMatchObject({
      price: 2,
      priceRange: { min: 2, max: 2 },
      variantCount: 1,
      available: true,
    });
    expect((await get('/v1/search?q=lamp&type=product')).meta.total).toBe(1);
    expect((await get('/v1/search?q=shadr&type=product')).data[0].title).toBe('Shade');
  }

  /** A stored variant may say that it can be bought or not, beside the stock, which decides. */
  async function repairAvailability(): Promise<void> {
    const wrong = `substr(document, 1, length(document) - 1) || ',null,null,null,null,null,false]'`;
    await run([[`update product_variants set document = ${wrong}`, /./]]);
    const { status, out } = await place.runHere(['check', '--repair']);
    const lines =
      /^documents of variants: variant \d+: its document differs from the availability\ndocuments of variants: repaired\n$/;
    expect([status, out]).toEqual([0, expect.stringMatching(lines)]);
  }

  /** Damages a variant and its product alike: the product's damage is only found once the variant is repaired. */
  async function repairWhatFollows(): Promise<void> {
    await run([
      [
        `update product_variants set document = replace(document, '"reserved":2', '"reserved":9'), available = 0`,
        /./,
      ],
      [
        `update products set document = replace(document, ']}],1,null,null,4]', ']}],1,null,false,4]'), available = 0
        where name = 'Glove'`,
        /./,
      ],
    ]);
    const found = await place.runHere(['check']);
    expect(found.out).toMatch(
      /^reserved stock: variant \d+: 9 reserved, 2 of them by open orders\n1 wrong; /,
    );
    const repaired = await place.runHere(['check', '--repair']);
    expect(repaired).toMatchObject({ status: 0, err: '' });
    expect(repaired.out).toMatch(/^reserved stock: repaired\nvariants of products: repaired$/m);
    const { body } = await call(service, {
      path: '/v1/products?category=clothes&available=true',
      as: 'admin',
    });
    expect(body.data).toMatchObject([{ name: 'Glove', available: true }]);
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
  }

  async function nameOriginals(): Promise<void> {
    await run(originals);
    const found = await place.runHere(['check']);
    expect(found.status).toBe(1);
    for (const [, line] of originals) expect(found.out).toMatch(line);
    const repaired = await place.runHere(['check', '--repair']);
    expect(repaired.status).toBe(1);
    expect(repaired.out).toMatch(/\d+ still wrong: restore a backup, or fix the rows by hand\n$/);
    // A counter that went back would give a number twice.
    const { build, read } = service.database;
    const { value } = (await read.first(build.selectFrom('counters').select('value').compile())) ?? {};
    expect(value).toBe(3);
  }

  // A single test, because damage that cannot be repaired remains.
  test('finds no problems at first; rebuilds derived data; reports other damage without changing it', async () => {
    await findNothing();
    await repairAvailability();
    await repairDerived();
    await repairWhatFollows();
    await nameOriginals();
  });

  test('refuses an unknown option', async () => {
    expect(await place.runHere(['check', '--fix'])).toMatchObject({ status: 2 });
  });
});
