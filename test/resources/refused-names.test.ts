/** Names that a product may not use for attributes, options and categories: one rule, in the same words everywhere. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createCatalog, type Place } from '../cli/program.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const keyRule = 'must begin with a to z, then up to 63 of a to z, 0 to 9, _ . and -';

describeOnDatabases('names that are refused on %s', kind => {
  let service: TestService;
  let place: Place;
  beforeAll(async () => {
    service = await startTestService(kind);
    place = await createCatalog(kind);
  });
  afterAll(async () => {
    await service.stop();
    place.remove();
  });

  const post = (path: string, body: object) => call(service, { method: 'POST', path, as: 'admin', body });
  const importOne = (record: object) =>
    place.runHere(['import', place.file('p.ndjson', JSON.stringify({ name: 'Lamp', price: 1, ...record }))]);

  test('refuses an attribute name by the rule of attribute definitions', async () => {
    const defined = await post('/v1/attributes', { key: 'Watt', label: 'Power', type: 'number' });
    expect([defined.status, defined.body.details[0]]).toEqual([
      400,
      { field: 'key', pointer: '#/key', code: 'pattern', message: keyRule },
    ]);
    const attributes = { Watt: 5 };
    const refused = await post('/v1/products', { name: 'Lamp', price: 1, attributes });
    const message = `has a name that ${keyRule}`;
    expect([refused.status, refused.body.details]).toEqual([
      400,
      [{ field: 'attributes.Watt', pointer: '#/attributes/Watt', code: 'pattern', message }],
    ]);
    expect((await importOne({ attributes })).err).toContain(`line 1: attributes.Watt ${message} (it is 5)\n`);
  });

  test.each([
    ['x'.repeat(51), 'maxLength', 'has a name that must be at most 50 characters long'],
    ['  ', 'blank', 'has a name that must not be blank'],
  ])('refuses an option of a variant named %p', async (name, code, message) => {
    const options = [{ name: 'Size', values: ['S'] }];
    const product = await post('/v1/products', { name: 'Tee', price: 1, options });
    const variant = { options: { [name]: 'S' } };
    const refused = await post(`/v1/products/${product.body.id}/variants`, variant);
    expect([refused.status, refused.body.details]).toEqual([
      400,
      [{ field: `options.${name}`, pointer: `#/options/${encodeURIComponent(name)}`, code, message }],
    ]);
    expect((await importOne({ variants: [variant] })).err).toContain(message);
  });

  test.each([
    ['Lamps >  > Desk', 'blank', 'has a name at level 2 that must not be blank'],
    [
      `Lamps > ${'x'.repeat(101)}`,
      'maxLength',
      'has a name at level 2 that must be at most 100 characters long',
    ],
  ])('refuses a category named %p', async (category, code, message) => {
    const refused = await post('/v1/products', { name: 'Lamp', price: 1, category });
    expect([refused.status, refused.body.message, refused.body.details]).toEqual([
      400,
      `category: ${message}`,
      [{ field: 'category', pointer: '#/category', code, message }],
    ]);
    expect((await importOne({ category })).err).toContain(`line 1: category ${message} (it is "Lamps > `);
  });
});
