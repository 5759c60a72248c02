/** Bulk PATCHes with a change for each product or variant: `updates`. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, type Product, read, whole } from '../support/data/catalog.ts';
import { chosen, variantCalls } from '../support/data/variants.ts';
import { play } from '../support/http/scenario.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const products = '/v1/products';
const upTo = (length: number) =>
  Array.from({ length }, (_, index) => ({ id: index + 1_000_000, update: {} }));
const one = { id: 1, update: {} };

const refused: [name: string, body: unknown, problems: [string, string][]][] = [
  ['ids beside updates', { ids: [1], updates: [one] }, [['updates', 'one']]],
  ['an update beside updates', { update: {}, updates: [one] }, [['updates', 'one']]],
  ['both beside updates', { ids: [1], update: {}, updates: [one] }, [['updates', 'one']]],
  [
    'ids without an update',
    { ids: ['1'] },
    [
      ['ids.0', 'type'],
      ['update', 'required'],
    ],
  ],
  [
    'an update without ids',
    { update: { price: -1 } },
    [
      ['update.price', 'minimum'],
      ['ids', 'required'],
    ],
  ],
  ['no updates', { updates: [] }, [['updates', 'minItems']]],
  ['501 updates', { updates: upTo(501) }, [['updates', 'maxItems']]],
  ['an id twice', { updates: [one, { id: 2, update: {} }, one] }, [['updates', 'uniqueItems']]],
  ['updates that are an object', { updates: one }, [['updates', 'type']]],
  [
    'updates without their members',
    { updates: [{ update: {} }, { id: 2 }] },
    [
      ['updates.0.id', 'required'],
      ['updates.1.update', 'required'],
    ],
  ],
  [
    'updates that no PATCH would take',
    {
      updates: [
        { id: 1, update: { price: -1 } },
        { id: '2', update: { name: '' } },
      ],
    },
    [
      ['updates.0.update.price', 'minimum'],
      ['updates.1.id', 'type'],
      ['updates.1.update.name', 'blank'],
    ],
  ],
];

describeOnDatabases('bulk PATCH with a change for each on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const { add, pathsOf, shirt, listed, shown } = variantCalls(() => service);

  type Update = readonly [{ readonly id: number }, object];
  const toBody = (updates: readonly Update[]) => ({
    updates: updates.map(([{ id }, update]) => ({ id, update })),
  });
  const send = (path: string, updates: readonly Update[], status = 200) =>
    play(service, { name: path, method: 'PATCH', path, as: 'editor', body: toBody(updates), status });
  const three = (fields: (name: string) => object = () => ({})) => {
    const make = (name: string) => addProduct(service, { name, ...fields(name) });
    return Promise.all([make('A'), make('B'), make('C')]);
  };
  const readAll = async (all: readonly Product[]) =>
    Promise.all(all.map(async product => (await read(service, product)).body));

  test.each(refused)('refuses %s', async (name, body, problems) => {
    await play(service, {
      ...{ name, method: 'PATCH', path: products, as: 'editor', body, status: 400, problems },
    });
  });

  test('changes each product in its own way, skips ids that do not exist, and leaves others alone', async () => {
    const [first, second, third] = await three();
    service.clock.advance(10);
    const changed = await send(products, [
      [second, { price: 5, tags: ['sale'] }],
      [{ id: 2_147_483_647 }, { price: 6 }],
      [first, { status: 'archived' }],
      [{ id: -1 }, { price: 7 }],
    ]);
    expect(changed.body).toEqual({ updated: 2 });
    const updatedAt = nowOf(service);
    expect(await readAll([first, second, third])).toEqual([
      whole({ ...first, status: 'archived', updatedAt }),
      whole({ ...second, price: 5, priceRange: { min: 5, max: 5 }, tags: ['sale'], updatedAt }),
      third,
    ]);
  });

  test('changes all or none, and names the product whose change is refused', async () => {
    const before = await three(name => ({ sku: `EACH-${name}-${kind}` }));
    const [first, second, third] = before;
    const cases: [updates: Update[], status: number, field: string, named: Product][] = [
      [
        [
          [first, { price: 5 }],
          [third, { images: [{ id: 7 }] }],
        ],
        400,
        'updates.1.update.images.0.id',
        third,
      ],
      [
        [
          [first, { price: 5 }],
          [second, { sku: third.sku }],
        ],
        409,
        'updates.1.update.sku',
        second,
      ],
      [
        [
          [second, { sku: third.sku }],
          [first, { sku: `EACH-NEW-${kind}` }],
        ],
        409,
        'updates.0.update.sku',
        second,
      ],
      [
        [
          [first, { sku: 'EACH' }],
          [third, { price: 6 }],
          [second, { sku: 'EACH' }],
        ],
        409,
        'updates.2.update.sku',
        second,
      ],
    ];
    for (const [updates, status, field, { id }] of cases) {
      const { body } = await send(products, updates, status);
      expect(body.details).toHaveLength(1);
      expect(body.details[0]).toMatchObject({ field, pointer: `#/${field.replaceAll('.', '/')}` });
      expect(body.details[0].message).toContain(`product ${id}`);
      expect(await readAll(before)).toEqual(before);
    }
  });

  test('gives skus away in the order sent', async () => {
    const [first, second] = await three(name => ({ sku: `GIVEN-${name}-${kind}`, externalId: null }));
    const given = first.sku;
    const changed = await send(products, [
      [first, { sku: null }],
      [second, { sku: given, price: 3 }],
    ]);
    expect(changed.body).toEqual({ updated: 2 });
    expect(await readAll([first, second])).toMatchObject([{ sku: null }, { sku: given, price: 3 }]);
  });

  test('limits the text of all products together', async () => {
    const description = '-'.repeat(99_499);
    const all = await Promise.all(
      Array.from({ length: 62 }, (_, index) => addProduct(service, { name: `Long ${index}`, description })),
    );
    const toUpdates = (some: readonly Product[]) =>
      some.map((product, price): Update => [product, { price }]);
    const { body } = await send(products, toUpdates(all), 400);
    expect(body).toMatchObject({
      error: 'VALIDATION_FAILED',
      details: [{ field: 'updates', code: 'maxText' }],
    });
    expect((await send(products, toUpdates(all.slice(0, 50)))).body).toEqual({ updated: 50 });
  });

  test('changes each variant, and the summary of the product', async () => {
    const product = await shirt();
    const [medium, large] = [
      await add(product, chosen('M')),
      await add(product, { ...chosen('L'), price: 30 }),
    ];
    const path = pathsOf(product);
    const changed = await send(path, [
      [large, { price: 12, ...chosen('S') }],
      [medium, { price: 25, sku: `EACH-M-${kind}` }],
      [{ id: 999_999_999 }, { price: 1 }],
    ]);
    expect(changed.body).toEqual({ updated: 2 });
    expect(await listed(product)).toMatchObject([
      { id: medium.id, price: 25, sku: `EACH-M-${kind}`, ...chosen('M') },
      { id: large.id, price: 12, sku: null, ...chosen('S') },
    ]);
    expect(await shown(product)).toEqual([12, [12, 25], 2, true]);
    const refusal = await send(
      path,
      [
        [medium, { price: 1 }],
        [large, chosen('M')],
      ],
      409,
    );
    expect(refusal.body.details).toMatchObject([{ field: 'updates.1.update.options', code: 'unique' }]);
    expect(refusal.body.details[0].message).toContain(`variant ${large.id}`);
    expect(await shown(product)).toEqual([12, [12, 25], 2, true]);
  });
});
