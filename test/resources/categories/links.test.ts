/** The links of a category, and which of its actions are possible. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { type Category, categoryCalls, path } from '../../support/data/categories.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('the links of categories on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const { chain } = categoryCalls(() => service);

  test('HAL links to the parent, the children and the products', async () => {
    const [parent, child] = await chain(2);
    const headers = { Accept: 'application/hal+json' };
    const hal = async (as: 'user' | 'editor') =>
      (await call(service, { path: `${path}/${child?.id}`, as, headers })).body._links;
    const links = await hal('user');
    expect(links).toEqual({
      self: { href: `${service.url}${path}/${child?.id}` },
      parent: { href: `${service.url}${path}/${parent?.id}` },
      children: { href: `${service.url}${path}?parentId=${child?.id}` },
      products: { href: `${service.url}/v1/products?category=${encodeURIComponent(child?.path ?? '')}` },
    });
    expect(Object.keys(await hal('editor'))).toEqual([...Object.keys(links), 'edit', 'delete']);
    // A category can be deleted while it holds no category and no product.
    const named = async (category: Category | undefined) =>
      Object.keys(
        (await call(service, { path: `${path}/${category?.id}`, as: 'editor', headers })).body._links,
      );
    expect(await named(parent)).not.toContain('delete');
    const page = await call(service, { path: `${path}?parentId=${parent?.id}`, as: 'editor', headers });
    expect(Object.keys(page.body._embedded.categories[0]._links)).toContain('delete');
    await addProduct(service, { category: child?.path ?? '' });
    expect(await named(child)).not.toContain('delete');
    const refused = await call(service, { method: 'DELETE', path: `${path}/${parent?.id}`, as: 'editor' });
    expect(refused.body.message).toContain('there is 1 category directly below it');
  });
});
