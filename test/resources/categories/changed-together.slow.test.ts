/** Changes of the tree at the same moment as changes of products: requests that arrive together may share a commit. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { pathOf } from '../../support/data/catalog.ts';
import { adminCalls } from '../../support/data/categories.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** How often both requests are sent: which comes first, and whether they share a commit, is left to chance. */
const rounds = 20;

describeOnDatabases('products and the tree of categories, changed together, on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const { send } = adminCalls(() => service);
  const request = (method: string, path: string, body?: object) =>
    call(service, { method, path, as: 'admin', ...(body === undefined ? {} : { body }) });
  const product = { name: 'Placed', price: 1 };

  test.each([
    ['its main category', (path: string) => ({ category: path })],
    ['a further category', (path: string) => ({ categories: [path] })],
  ])('a category is not deleted once a product has it as %s', async (_, toPlaces) => {
    for (let round = 0; round < rounds; round++) {
      const { id, path } = await send('POST', '/v1/categories', { name: crypto.randomUUID() });
      const [made, removed] = await Promise.all([
        request('POST', '/v1/products', { ...product, ...toPlaces(path) }),
        request('DELETE', `/v1/categories/${id}`),
      ]);
      expect([204, 409]).toContain(removed.status);
      expect(await send('GET', pathOf(made.body))).toMatchObject(toPlaces(path));
    }
  });

  test('an attribute that is required in a category is required under its new path', async () => {
    for (let round = 0; round < rounds; round++) {
      const [name, next, key] = [crypto.randomUUID(), crypto.randomUUID(), `key_${round}`];
      const { id } = await send('POST', '/v1/categories', { name });
      await send('POST', '/v1/attributes', { key, type: 'text', requiredIn: [name] });
      // Definitions are kept in memory from now on.
      await send('GET', `/v1/products?attr.${key}=any`);
      const [renamed, made] = await Promise.all([
        request('PATCH', `/v1/categories/${id}`, { name: next }),
        request('POST', '/v1/products', { ...product, category: next }),
      ]);
      // The product comes second and lacks the attribute, or has created the category before.
      expect([
        [200, 400],
        [409, 201],
      ]).toContainEqual([renamed.status, made.status]);
    }
  });
});
