/**
 * Products and variants are stored without members that follow from the rest. Older rows and events, which hold whole
 * representations, are shown, listed, searched and changed in the same way.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { productJson } from '../../../src/resources/products/row.ts';
import { variantJson } from '../../../src/resources/variants/row.ts';
import { addProduct, type Product, pathOf, plainProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

interface Row {
  readonly id: number;
  readonly document: string;
}

const everything = {
  ...{
    description: 'A lamp,\n"name": it',
    sku: 'LONG-1',
    category: 'light > desk',
    categories: ['home', 'office'],
  },
  ...{ tags: ['a', 'b'], brand: 'Nordlicht', gtin: '4006381333931', mpn: 'NL-1', externalId: 'erp-1' },
  ...{ compareAtPrice: 99, weight: { value: 1.2, unit: 'kg' }, stock: { onHand: 3 } },
  attributes: { price: 'x', name: 'y', colour: ['red', 'blue'], dimmable: true },
  images: [{ url: 'https://images.example/lamp.jpg', alt: 'The lamp' }],
};
const kinds: Readonly<Record<string, object>> = {
  plain: {},
  whole: everything,
  archived: { status: 'archived', currency: null },
  'sold out': { stock: { onHand: 0 } },
};

describeOnDatabases('the short form on %s', kind => {
  let service: TestService;
  let made: Product[];
  beforeAll(async () => {
    service = await startTestService(kind);
    made = [];
    for (const [name, fields] of Object.entries(kinds))
      made.push(await addProduct(service, { name, ...fields }));
    const options = [{ name: 'Size', values: ['S', 'M'] }];
    const parent = await addProduct(service, { name: 'varied', price: 9, options });
    for (const [size, price] of [
      ['S', 5],
      ['M', null],
    ]) {
      const body = { options: { Size: size }, price, stock: { onHand: price === null ? 0 : 1 } };
      await call(service, { method: 'POST', path: `${pathOf(parent)}/variants`, as: 'editor', body });
    }
    made.push(parent);
    const rated = {
      method: 'POST',
      path: `${pathOf(made[0] ?? parent)}/reviews`,
      as: 'user',
      body: { rating: 4 },
    } as const;
    await call(service, rated);
  });
  afterAll(() => service.stop());

  /** Reads the rows, and expects at least one: otherwise checks of each row would check nothing. */
  async function rowsOf(table: string, column = 'document'): Promise<Row[]> {
    const { read, build } = service.database;
    const [name, document] = [sql.id(table), sql.id(column)];
    const query = sql<Row>`select id, ${document} as document from ${name} where ${document} is not null`;
    const rows = await read.all(sql<Row>`${query} order by id`.compile(build));
    expect([table, rows.length > 0]).toEqual([table, true]);
    return rows;
  }

  /** Everything that shows products and variants, read by a process with empty caches. */
  async function shown() {
    await using other = await service.replica();
    const ids = made.map(({ id }) => id);
    const parent = ids.at(-1);
    const paths = [
      ...ids.map(id => `/v1/products/${id}`),
      ...[
        '/v1/products?perPage=100',
        '/v1/products?category=home&sort=price',
        '/v1/products?attr.dimmable=true',
      ],
      `/v1/products/${parent}/variants`,
      ...[
        '/v1/search?q=lamp',
        '/v1/search?q=varied',
        '/v1/events?resource=product',
        '/v1/events?resource=variant',
      ],
    ];
    const responses: unknown[] = [];
    for (const path of paths) {
      const { status, text, headers } = await call(other, { path, as: 'admin' });
      expect([path, status]).toEqual([path, 200]);
      const named = text.replaceAll(other.url, '').replaceAll(service.url, '');
      responses.push({ path, text: named, tag: /products\/\d+$/.test(path) ? headers.get('ETag') : '' });
    }
    return responses;
  }

  async function isShort(): Promise<void> {
    const [plain] = made;
    const [row] = await rowsOf('products');
    if (plain === undefined || row === undefined) throw new Error('no product was made');
    expect(JSON.parse(productJson(row))).toEqual({
      ...{ ...plainProduct, id: plain.id, name: 'plain', price: 12.5, createdAt: plain.createdAt },
      ...{ updatedAt: plain.updatedAt, rating: { average: 4, count: 1 }, available: true },
      priceRange: { min: 12.5, max: 12.5 },
    });
    expect(row.document.length).toBeLessThan(productJson(row).length / 2);
    const events = (await rowsOf('events', 'new_document')).map(({ document }) => document);
    for (const { document } of await rowsOf('products')) expect(events).toContain(document);
  }

  async function makeLong(): Promise<void> {
    await service.database.write(async session => {
      const { build } = service.database;
      const set = async (table: string, column: string, { id, document }: Row) =>
        session.run(
          sql`update ${sql.id(table)} set ${sql.id(column)} = ${document} where id = ${id}`.compile(build),
        );
      for (const row of await rowsOf('products'))
        await set('products', 'document', {
          ...row,
          document: productJson(row).slice(`{"id":${row.id},`.length),
        });
      for (const row of await rowsOf('product_variants'))
        await set('product_variants', 'document', {
          ...row,
          document: variantJson(row).slice(`{"id":${row.id},`.length),
        });
      type Event = Row & { readonly resource: string; readonly resource_id: number };
      for (const column of ['old_document', 'new_document']) {
        const told = sql<Event>`select id, resource, resource_id, ${sql.id(column)} as document from events
          where resource in ('product', 'variant') and ${sql.id(column)} is not null`;
        for (const { id, resource, resource_id, document } of await session.all(told.compile(build))) {
          const toJson = resource === 'product' ? productJson : variantJson;
          await set('events', column, { id, document: toJson({ id: resource_id, document }) });
        }
      }
    });
    for (const table of ['products', 'product_variants'])
      for (const { document } of await rowsOf(table)) expect(document).toEndWith('}');
  }

  async function changeEach(): Promise<void> {
    await using other = await service.replica();
    for (const { id } of made) {
      const path = `/v1/products/${id}`;
      const before = await call(other, { path, as: 'user' });
      other.clock.advance(1000);
      const body = { name: `${before.body.name} again` };
      const headers = { 'If-Match': before.headers.get('ETag') ?? '' };
      const after = await call(other, { method: 'PATCH', path, as: 'editor', headers, body });
      const updatedAt = new Date(other.clock.now()).toISOString();
      expect(after.body).toEqual({ ...before.body, ...body, updatedAt });
      expect((await call(service, { path, as: 'user' })).text).toBe(after.text);
      const told = await call(other, {
        path: `/v1/events?resource=product&resourceId=${id}&perPage=100`,
        as: 'admin',
      });
      expect(told.body.data.at(-1)).toMatchObject({ before: before.body, after: after.body });
    }
    for (const { document } of await rowsOf('products')) expect(document).toStartWith('[');
  }

  test('is shown, listed, searched, recorded and changed like the long form that it replaces', async () => {
    await isShort();
    const before = await shown();
    await makeLong();
    expect(await shown()).toEqual(before);
    await changeEach();
  });
});
