/** `Prefer: handling=strict` and names that only the data determines: filters by attributes, and empty names. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const strict = { Prefer: 'handling=strict' };

describeOnDatabases('strict handling of attributes on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    await addProduct(service, { name: 'Lamp', price: 5, attributes: { colour: 'red', watt: 5 } });
    await addProduct(service, { name: 'Cup', price: 5, attributes: { colour: 'blue', material: 'clay' } });
    for (const [key, filterable] of [
      ['voltage', true],
      ['weave', false],
    ])
      await call(service, {
        method: 'POST',
        path: '/v1/attributes',
        as: 'admin',
        body: { key, label: key, type: 'text', filterable },
      });
  });
  afterAll(() => service.stop());

  const lists = ['/v1/products?', '/v1/search?q=lamp&'];

  test.each(lists)(
    '%s refuses an attribute that is neither used nor defined, and names the nearest',
    async list => {
      const path = `${list}attr.color=red&attr.colour=red&attr.vlotage=5&attr.nothing=x`;
      const refused = await call(service, { path, as: 'user', headers: strict });
      expect(refused.status).toBe(400);
      const all = 'the known names are attr.voltage, attr.colour, attr.material and attr.watt';
      expect(refused.body.details).toEqual([
        {
          field: 'attr.color',
          pointer: '#/attr.color',
          code: 'unknown',
          message: 'is not known; the nearest known name is attr.colour',
        },
        expect.objectContaining({ message: 'is not known; the nearest known name is attr.voltage' }),
        expect.objectContaining({ field: 'attr.nothing', message: `is not known; ${all}` }),
      ]);
      expect((await call(service, { path, as: 'user' })).status).toBe(200);
      expect((await call(service, { path, as: 'user', headers: strict })).status).toBe(400);
    },
  );

  test.each(lists)('%s names the parameter of a list whose values were sent with brackets', async list => {
    const path = `${list}sku[]=A&sku[]=B&tag[0]=x&brand[]=Acme&page[number]=2`;
    const { body } = await call(service, { path, as: 'user', headers: strict });
    const messages = body.details.map(({ message }: { message: string }) => message);
    const names = ['sku', 'tag', 'brand', 'page'];
    expect(messages).toEqual(names.map(name => `is not known; the nearest known name is ${name}`));
  });

  test.each(lists)('%s accepts an attribute that is defined or used', async list => {
    for (const [parameter, total] of [
      ['attr.voltage=5', 0],
      ['attr.watt=gte:5', 1],
    ]) {
      const { status, body } = await call(service, { path: list + parameter, as: 'user', headers: strict });
      expect([status, body.meta.total]).toEqual([200, total]);
    }
  });

  test('the error for an empty name says that it is empty', async () => {
    const path = '/v1/products?=1&page=1';
    const { status, body } = await call(service, { path, as: 'user', headers: strict });
    const message = 'has a parameter without a name';
    expect([status, body.message]).toEqual([400, `query: ${message}`]);
    expect(body.details).toEqual([{ field: 'query', pointer: '#/query', code: 'unknown', message }]);
    const sent = { method: 'POST', path: '/v1/products', as: 'editor', headers: strict } as const;
    const made = await call(service, { ...sent, body: { name: 'Lamp', price: 5, '': 1 } });
    expect([made.status, made.body.message]).toEqual([400, 'body: names "", which is not known']);
  });
});
