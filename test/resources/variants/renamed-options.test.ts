/** Renamed options, and the variants that follow. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { pathOf, read } from '../../support/data/catalog.ts';
import { chosen, options, variantCalls } from '../../support/data/variants.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const [size, colour] = options;
const named = (given: typeof size, name: string) => ({ ...given, name });

describeOnDatabases('options that are renamed on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const { send, pathsOf, shirt, add, shown, listed } = variantCalls(() => service);

  const readEvents = async (): Promise<{ id: number; type: string; resourceId: number }[]> =>
    (await call(service, { path: '/v1/events?limit=20&sort=id&order=desc', as: 'admin' })).body.data;
  const eventsAfter = async (id: number) =>
    (await readEvents())
      .filter(event => event.id > id)
      .map(({ type, resourceId }) => `${type} ${resourceId}`)
      .reverse();

  test('the variants follow in the same change, and keep their ids and other members', async () => {
    const product = await shirt({ sku: `REN-${kind}` });
    const first = await add(product, {
      ...chosen('M'),
      sku: `REN-M-${kind}`,
      price: 12,
      stock: { onHand: 2 },
    });
    const second = await add(product, chosen('L', 'Blue'));
    const [before, event] = [await shown(product), (await readEvents())[0]?.id ?? 0];
    const of = (name: string) => `${pathsOf(product)}/${name}`;
    const old = (await call(service, { path: of(`${first.id}`), as: 'user' })).body;
    service.clock.advance(1000);
    const changed = [size, named(colour, 'Color')];
    const response = await send('PATCH', pathOf(product), { options: changed });
    expect([response.status, response.body.options]).toEqual([200, changed]);
    expect((await read(service, product)).text).toBe(response.text);
    expect((await listed(product)).map(one => one.options)).toEqual([
      { Size: 'M', Color: 'Red' },
      { Size: 'L', Color: 'Blue' },
    ]);
    const now = (await call(service, { path: of(`${first.id}`), as: 'user' })).body;
    expect(now).toEqual({ ...old, options: { Size: 'M', Color: 'Red' }, updatedAt: now.updatedAt });
    expect(now.updatedAt).not.toBe(old.updatedAt);
    expect(await shown(product)).toEqual(before);
    expect(await eventsAfter(event)).toEqual([
      `product.updated ${product.id}`,
      `variant.updated ${first.id}`,
      `variant.updated ${second.id}`,
    ]);
    // Combinations are free or taken by the new names.
    const same = await send('POST', pathsOf(product), { options: { Size: 'M', Color: 'Red' } });
    expect([same.status, same.body.error]).toEqual([409, 'DUPLICATE']);
    await add(product, { options: { Size: 'M', Color: 'Blue' } });
  });

  test('patches and PUT rename several options at once, and add and remove values', async () => {
    const product = await shirt();
    await add(product, chosen('M'));
    const optionsNow = async () => (await listed(product))[0]?.options;
    const pointer = [{ op: 'replace', path: '/options/0/name', value: 'Width' }];
    const patched = await send('PATCH', pathOf(product), pointer, {
      'Content-Type': 'application/json-patch+json',
    });
    expect([patched.status, await optionsNow()]).toEqual([200, { Width: 'M', Colour: 'Red' }]);
    const { body } = await read(service, product);
    const swapped = [
      { name: 'Grösse', values: ['M', 'XL'] },
      { name: 'Farbe', values: ['Red', 'Green'] },
    ];
    const put = await send('PUT', pathOf(product), { ...body, options: swapped });
    expect([put.status, await optionsNow()]).toEqual([200, { Grösse: 'M', Farbe: 'Red' }]);
    await add(product, { options: { Grösse: 'XL', Farbe: 'Green' } });
  });

  test('other changes of options in use are refused, and change nothing', async () => {
    const product = await shirt();
    const variant = await add(product, chosen('M'));
    const refused = [
      [named(size, 'Width'), { name: 'Colour', values: ['Blue'] }],
      [{ name: 'Width', values: ['S', 'L'] }, colour],
      [named(size, 'Colour'), named(colour, 'Size')],
      [colour, named(size, 'Width')],
      [named(size, 'Width'), colour, { name: 'Fit', values: ['Slim'] }],
      [named(size, 'Width')],
    ];
    for (const given of refused) {
      const response = await send('PATCH', pathOf(product), { options: given });
      expect([given, response.status, response.body.error]).toEqual([given, 409, 'OPTION_IN_USE']);
    }
    const bulk = { ids: [product.id], update: { options: [size, named(colour, 'Color')] } };
    const response = await send('PATCH', '/v1/products', bulk);
    expect([response.status, response.body.details[0].message]).toEqual([
      409,
      expect.stringContaining('rename it one product at a time'),
    ]);
    expect((await listed(product)).map(one => [one.id, one.options])).toEqual([
      [variant.id, chosen('M').options],
    ]);
    expect((await read(service, product)).body.options).toEqual(options);
  });
});
