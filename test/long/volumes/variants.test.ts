/** Very many variants of one product. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { pathOf } from '../../support/data/catalog.ts';
import { options, variantCalls } from '../../support/data/variants.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const [size] = options;

describeOnDatabases('options that are renamed on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const { send, shirt, add, shown, listed } = variantCalls(() => service);

  test('more variants than one statement writes follow a renamed option', async () => {
    const values = Array.from({ length: 30 }, (_, index) => `${index}`);
    const all = ['X', 'Y'].map(name => ({ name, values }));
    const product = await shirt({ options: all });
    for (const X of values) for (const Y of values.slice(0, 18)) await add(product, { options: { X, Y } });
    const response = await send('PATCH', pathOf(product), { options: [{ ...size, name: 'A' }, all[1]] });
    expect(response.status).toBe(409);
    const renamed = await send('PATCH', pathOf(product), { options: [{ name: 'A', values }, all[1]] });
    expect(renamed.status).toBe(200);
    for (const page of [1, 6])
      for (const one of await listed(product, `perPage=100&page=${page}`))
        expect(Object.keys(one.options)).toEqual(['A', 'Y']);
    expect(await shown(product)).toEqual([20, [20, 20], 540, true]);
  });
});
