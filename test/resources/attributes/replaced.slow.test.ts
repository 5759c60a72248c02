/** A list whose request read the definitions before a change of them is not cached for requests after the change. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('a definition that changes during a request on %s', kind => {
  let service: TestService;
  let other: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    other = await service.replica();
  });
  afterAll(() => service.stop());

  test.each([
    ['a list', '/v1/products?', 'size'],
    ['a search', '/v1/search?q=lamp&', 'height'],
  ])('is applied by the next request for %s', async (_, path, key) => {
    await addProduct(service, { name: 'Lamp', attributes: { [key]: 38, volume: 2 } });
    const address = `${path}attr.${key}=38.0&facets=attr.volume`;
    const getTotal = async (rest = '') => {
      const { status, body } = await call(service, { path: address + rest, as: 'admin' });
      return status === 200 ? body.meta.total : status;
    };
    // A list is cached on its second request. As a text, 38.0 is not the number 38.
    expect(await getTotal()).toBe(1);
    await addProduct(service, { name: 'Lamp', attributes: { [key]: 38, volume: 2 } });

    const { read, changes } = service.database;
    const { first } = read;
    // Whether any product has the attribute of a facet is read after the definitions.
    read.first = async query => {
      read.first = first;
      const body = { key, type: 'text', filterable: key !== 'size' };
      const { status } = await call(other, { method: 'POST', path: '/v1/attributes', as: 'admin', body });
      expect(status).toBe(201);
      await changes.check();
      return first(query);
    };
    await getTotal();
    expect(read.first).toBe(first);
    const uncached = await getTotal('&other=1');
    expect(uncached).not.toBe(2);
    expect(await getTotal()).toBe(uncached);
  });
});
