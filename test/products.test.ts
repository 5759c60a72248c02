import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { call } from './support/http.ts';
import { databaseKinds, startTestService, type TestService } from './support/service.ts';

describe.each([...databaseKinds])('products on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('a product is created, read, changed and deleted', async () => {
    const made = await call(service, {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      body: { name: ' Lamp ', price: 12.5 },
    });
    expect(made.status).toBe(201);
    const location = made.headers.get('location') ?? '';
    expect(location).toBe(`${service.url}/v1/products/${made.body.id}`);
    const path = new URL(location).pathname;
    const read = await call(service, { path, as: 'user' });
    expect(read.body).toEqual(made.body);
    expect(read.headers.get('etag')).toBe(made.headers.get('etag'));
    const patched = await call(service, {
      method: 'PATCH',
      path,
      as: 'editor',
      body: { price: 10 },
      headers: { 'If-Match': read.headers.get('etag') ?? '' },
    });
    expect(patched.body).toMatchObject({ name: 'Lamp', price: 10 });
    const stale = await call(service, {
      method: 'DELETE',
      path,
      as: 'editor',
      headers: { 'If-Match': read.headers.get('etag') ?? '' },
    });
    expect(stale.status).toBe(412);
    expect((await call(service, { method: 'DELETE', path, as: 'editor' })).status).toBe(204);
    expect((await call(service, { method: 'DELETE', path, as: 'editor' })).status).toBe(404);
    const list = await call(service, { path: '/v1/products', as: 'user' });
    expect(list.body.meta).toEqual({ currentPage: 1, perPage: 20, total: 0, lastPage: 1 });
  });
});
