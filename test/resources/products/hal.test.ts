/** Products as HAL and as plain JSON: neither is ever served in place of the other. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const halType = 'application/hal+json';

describeOnDatabases('products as HAL on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const as = (accept: string, path: string, role: 'user' | 'editor' = 'user') =>
    call(service, { path, as: role, headers: { Accept: accept } });

  test('one address answers as JSON and HAL in turn, for two roles', async () => {
    const product = await addProduct(service, { category: `hal ${kind}` });
    const href = service.url + pathOf(product);
    const links = {
      self: { href },
      reviews: { href: `${href}/reviews` },
      images: { href: `${href}/images` },
      variants: { href: `${href}/variants` },
    };
    const actions = { edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } };
    const list = `/v1/products?category=${encodeURIComponent(`hal ${kind}`)}`;
    // Three times: the first round caches a response, the second its headers.
    for (let round = 0; round < 3; round++) {
      const plain = await as('application/json', pathOf(product));
      expect([plain.headers.get('Content-Type'), plain.body]).toEqual(['application/json', product]);
      const hal = await as(halType, pathOf(product));
      expect(hal.headers.get('Content-Type')).toBe(halType);
      expect(hal.body).toEqual({ ...product, _links: links, _embedded: {} });
      const forEditor = await as(halType, pathOf(product), 'editor');
      expect(forEditor.body._links).toEqual({ ...links, ...actions });
      expect((await as('application/json', list)).body.data).toEqual([product]);
      expect((await as(halType, list)).body._embedded.products).toEqual([hal.body]);
      expect((await as(halType, list, 'editor')).body._embedded.products).toEqual([forEditor.body]);
    }
  });

  test('the page of a list links to itself and its neighbours, without the key that was sent', async () => {
    for (const name of ['a', 'b', 'c']) await addProduct(service, { name, category: 'paged' });
    const query = 'category=paged&perPage=1';
    const { body } = await as(halType, `/v1/products?${query}&page=2&api_key=secret`);
    const page = (number: number) => ({ href: `${service.url}/v1/products?${query}&page=${number}` });
    expect(body._links).toEqual({
      self: page(2),
      first: page(1),
      last: page(3),
      prev: page(1),
      next: page(3),
    });
    expect(body.meta).toEqual({ currentPage: 2, perPage: 1, total: 3, lastPage: 3 });
  });

  test('writes respond as HAL, and If-Match accepts the ETag of HAL', async () => {
    const headers = { Accept: halType };
    const path = '/v1/products';
    const made = await call(service, {
      method: 'POST',
      path,
      as: 'editor',
      headers,
      body: { name: 'Lamp', price: 1 },
    });
    const href = made.headers.get('Location') ?? '';
    expect(made.body._links.delete).toEqual({ href, method: 'DELETE' });
    const target = { path: pathOf(made.body), as: 'editor' } as const;
    const plain = (await call(service, target)).headers.get('ETag') ?? '';
    let etag = made.headers.get('ETag') ?? '';
    for (const [method, body] of [
      ['PUT', { name: 'Lamp', price: 2 }],
      ['PATCH', { price: 3 }],
      ['DELETE', undefined],
    ] as const) {
      const request = { ...target, method, body };
      const other = await call(service, { ...request, headers: { ...headers, 'If-Match': plain } });
      expect([method, other.status]).toEqual([method, 412]);
      const done = await call(service, { ...request, headers: { ...headers, 'If-Match': etag } });
      expect([method, done.status]).toEqual([method, method === 'DELETE' ? 204 : 200]);
      etag = done.headers.get('ETag') ?? '';
    }
  });
});
