/** A shop whose products have little more than names, for tests of what a search finds. */
import { afterAll, beforeAll } from 'bun:test';
import { addProduct } from '../../../support/data/catalog.ts';
import { call } from '../../../support/http/http.ts';
import { type DatabaseKind, startTestService, type TestService } from '../../../support/service/service.ts';

/** Starts the shop before the tests of a block and stops it afterwards. @returns a search that returns the body */
export function useNamedShop(kind: DatabaseKind, products: readonly (string | object)[]) {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const product of products)
      await addProduct(service, typeof product === 'string' ? { name: product } : product);
  });
  afterAll(() => service.stop());
  return async (query: string) =>
    (await call(service, { path: `/v1/search?q=${encodeURIComponent(query)}`, as: 'user' })).body;
}
