/** Members that products keep when records leave them out, and limits that they cannot exceed that way. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from '../../support/http/http.ts';
import { type Imports, type Records, startImports } from '../../support/samples/imports.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

const counted = { tracked: true, onHand: 1, backorder: true };
const cup = { name: 'Cup', price: 1 };
const sized = (Size: string, members: object = {}) => ({ options: { Size }, ...members });
const many = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

describeOnDatabases('fields that an import keeps on %s', kind => {
  let imports: Imports;
  beforeAll(async () => {
    imports = await startImports(kind);
  });
  afterAll(() => imports[Symbol.asyncDispose]());

  const table = (...rows: readonly string[]) => `${rows.join('\n')}\n`;

  test('columns for single members leave the other members unchanged', async () => {
    const attributes = { a: 'x', b: 'y' };
    await imports.take([{ ...cup, sku: 'K1', stock: counted, attributes }]);
    const file = table(
      'sku,name,price,stock.onHand,attributes.a,attributes.c',
      'K1,Cup,1,7,z,',
      'K2,Cup,1,7,z,',
    );
    await imports.take(file);
    expect(await imports.shown('K1')).toMatchObject({
      stock: { ...counted, onHand: 7, reserved: 0 },
      attributes: { a: 'z', b: 'y' },
    });
    expect((await imports.shown('K1')).attributes).toEqual({ a: 'z', b: 'y' });
    // A new product gets the defaults.
    expect(await imports.shown('K2')).toMatchObject({
      stock: { tracked: true, onHand: 7, reserved: 0, backorder: false },
      attributes: { a: 'z' },
    });
    expect((await imports.run(file)).out).toContain('0 created, 0 updated, 2 unchanged');
    // An empty cell keeps the value.
    await imports.take(
      table('sku,name,price,stock.onHand,stock.backorder,attributes.a,attributes.b', 'K1,Cup,1,,no,,q'),
    );
    expect(await imports.shown('K1')).toMatchObject({
      stock: { tracked: true, onHand: 7, backorder: false },
      attributes: { a: 'z', b: 'q' },
    });
    await imports.take(table('sku,name,price,stock', 'K1,Cup,1,3'));
    expect((await imports.shown('K1')).stock).toMatchObject({ tracked: true, onHand: 3, backorder: false });
  });

  test('a partial stock in JSON works as in a PATCH, for products and their variants', async () => {
    const parts = [
      { onHand: 5 },
      { backorder: false },
      { tracked: false },
      { onHand: null },
      { tracked: null, backorder: null },
    ];
    const variants = [sized('S', { stock: counted }), sized('M')];
    await imports.take([
      { ...cup, sku: 'J1', stock: counted },
      { ...cup, sku: 'J2', variants },
    ]);
    const [file, patched] = [await imports.shown('J1'), await imports.shown('J2')];
    const twin = await imports.send('POST', '/v1/products', { ...cup, stock: counted });
    for (const stock of parts) {
      const path = `/v1/products/${twin.body.id}`;
      const expected = (await imports.send('PATCH', path, { stock })).body.stock;
      await imports.take([
        { ...cup, sku: 'J1', stock },
        { ...cup, sku: 'J2', variants: [sized('S', { stock })] },
      ]);
      expect((await imports.shown('J1')).stock).toEqual(expected);
      const { S, M } = (await imports.shown('J2')).variants;
      expect([S.stock, M.stock]).toEqual([expected, null]);
    }
    expect([file.stock.onHand, patched.variants.M.stock]).toEqual([1, null]);
    await imports.take([
      { ...cup, sku: 'J1', stock: null },
      {
        ...cup,
        sku: 'J2',
        variants: [sized('S', { stock: null }), sized('M', { stock: { backorder: true } })],
      },
    ]);
    expect((await imports.shown('J1')).stock).toBeNull();
    expect((await imports.shown('J2')).variants).toMatchObject({
      S: { stock: null },
      M: { stock: { tracked: true, onHand: 0, backorder: true } },
    });
  });

  test('an attributes value replaces the existing attributes; columns of single attributes are added to it', async () => {
    const attributes = { a: 'x', b: 'y' };
    const attributesNow = async () => (await imports.shown('W1')).attributes;
    await imports.take([{ ...cup, sku: 'W1', attributes }]);
    await imports.take([{ ...cup, sku: 'W1', 'attributes.b': 'q', attributes: { c: 1 } }]);
    expect(await attributesNow()).toEqual({ b: 'q', c: 1 });
    await imports.take([{ ...cup, sku: 'W1', 'attributes.a': 'p' }], '--set', 'attributes.d=2');
    expect(await attributesNow()).toEqual({ a: 'p', b: 'q', c: 1, d: 2 });
    await imports.take([{ ...cup, sku: 'W1', attributes: { a: 'x' } }]);
    expect(await attributesNow()).toEqual({ a: 'x' });
    await imports.take([{ ...cup, sku: 'W1', attributes: null }]);
    expect(await attributesNow()).toEqual({});
  });

  /** Files that together exceed a limit of products: accepted products must work over HTTP, in exports and imports. */
  const limits: readonly (readonly [name: string, files: readonly (Records | string)[], says: string])[] = [
    [
      'more than 200 values of an option',
      [0, 150].map(first => [
        { ...cup, sku: 'L1', variants: many(first, 150).map(size => sized(`s${size}`)) },
      ]),
      'options.0.values: must have 200 items or fewer, including those that variants of the product have',
    ],
    [
      'more than 100 attributes',
      [0, 60].map(first => {
        const keys = many(first, 60).map(key => `attributes.k${key}`);
        return table(`sku,name,price,${keys.join()}`, `L2,Cup,1,${keys.map(() => 'x').join()}`);
      }),
      'attributes: must have 100 keys or fewer, including the existing ones',
    ],
  ];
  for (const [name, [before = '', file = ''], says] of limits) {
    test(`${name} are refused`, async () => {
      await imports.take(before);
      const ended = await imports.run(file);
      expect([ended.status, ended.err]).toEqual([2, expect.stringContaining(says)]);
      const { id } = await imports.shown(name.includes('200') ? 'L1' : 'L2');
      expect(await imports.send('PATCH', `/v1/products/${id}`, { price: 2 })).toMatchObject({ status: 200 });
      const update = { ids: [id], update: { price: 3 } };
      expect(await imports.send('PATCH', '/v1/products', update)).toMatchObject({ status: 200 });
      const again = await imports.place.runHere(['import', await imports.exported('all.ndjson')]);
      expect(again).toMatchObject({ status: 0, out: expect.stringContaining(' 0 updated, ') });
    });
  }

  test('what is wrong with a variant is reported at its place in the record', async () => {
    const variants = [sized('S', { sku: 'V1-S' }), sized('M', { sku: 'V1-M', stock: { onHand: 5 } })];
    await imports.take([
      { ...cup, sku: 'V1', variants },
      { ...cup, sku: 'V2' },
    ]);
    const { id: productId, variants: of } = await imports.shown('V1');
    const items = [{ productId, variantId: of.M.id, quantity: 3 }];
    const customer = (await imports.send('GET', '/v1/me')).body.id;
    await imports.send('POST', `/v1/users/${customer}/orders`, { items });
    const rejects = join(imports.place.folder, 'rejects.ndjson');
    const wrong = [{ stock: { onHand: 2 } }, { stock: null }, { imageId: 7 }, { sku: 'V2' }];
    const records = wrong.map(member => ({ ...cup, sku: 'V1', variants: [sized('S'), sized('M', member)] }));
    expect((await imports.run(records, '--rejects', rejects)).status).toBe(2);
    const lines = readFileSync(rejects, 'utf8').trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line).details[0])).toMatchObject([
      { field: 'variants.1.stock.onHand', pointer: '#/variants/1/stock/onHand', code: 'minimum' },
      { field: 'variants.1.stock', pointer: '#/variants/1/stock', code: 'reserved' },
      { field: 'variants.1.imageId', pointer: '#/variants/1/imageId', code: 'unknown' },
      { field: 'variants.1.sku', pointer: '#/variants/1/sku', code: 'duplicate' },
    ]);
  });

  test('-0 pieces are none, and change nothing where none are', async () => {
    const file = table('sku,name,price,stock.onHand', 'Z1,Cup,1,-0');
    await imports.take(file);
    expect((await imports.run(file)).out).toContain('0 created, 0 updated, 1 unchanged');
    const { id } = await imports.shown('Z1');
    await imports.take([{ ...cup, sku: 'Z1', variants: [sized('S')] }]);
    // The product keeps the stock that it had before it had variants, but can be given no other.
    const headers = { 'Content-Type': 'application/json' };
    const request = { method: 'PATCH', path: `/v1/products/${id}`, as: 'admin', headers } as const;
    const patched = await call(imports.service, { ...request, body: '{"stock":{"onHand":-0}}' });
    expect(patched).toMatchObject({ status: 200, body: { stock: { onHand: 0 } } });
  });

  test('a new variant gets a valid position, even after the largest one', async () => {
    await imports.take([{ ...cup, sku: 'L3', variants: [sized('S', { position: 2_147_483_647 })] }]);
    await imports.take([{ ...cup, sku: 'L3', variants: [sized('M')] }]);
    const { id, variants } = await imports.shown('L3');
    expect(variants.M.position).toBe(2_147_483_647);
    const path = `/v1/products/${id}/variants/${variants.M.id}`;
    expect(await imports.send('PUT', path, variants.M)).toMatchObject({ status: 200 });
  });

  for (const batch of ['1', '100']) {
    test(`stock of a product is refused once a record has given it variants, ${batch} at once`, async () => {
      const [first, sku] = [`Q-${batch}`, `P-${batch}`];
      const file = [
        { ...cup, sku: first },
        { ...cup, sku, variants: [sized('S')] },
        { ...cup, sku, stock: { onHand: 4 } },
      ];
      const ended = await imports.run(file, '--batch', batch);
      expect([ended.status, ended.err]).toEqual([
        2,
        expect.stringContaining(
          'line 3: stock: must be null: a product with variants has stock on each variant\n',
        ),
      ]);
      expect((await imports.shown(sku)).stock).toBeNull();
    });
  }
});
