/** What each caller finds: users, API keys, replicas. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { addKey, userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { namesOf, search, withCorpus } from '../../support/samples/search-corpus.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import type { TestService } from '../../support/service/service.ts';

describeOnDatabases('search on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await withCorpus(kind);
  });
  afterAll(() => service.stop());

  test('every caller finds only documents that they may read', async () => {
    const facets = async (as: 'user' | 'editor' | 'admin') =>
      (await search(service, 'test', '', as)).body.meta.facets;
    expect(Object.keys(await facets('user'))).toEqual(['product', 'article', 'post']);
    expect(Object.keys(await facets('editor'))).toEqual(['product', 'article', 'post', 'order']);
    expect(Object.keys(await facets('admin'))).toEqual(['product', 'article', 'post', 'order', 'user']);
    for (const [as, type] of [
      ['user', 'user'],
      ['user', 'order'],
      ['editor', 'user'],
    ] as const) {
      const path = `/v1/search?q=test&type=${type}`;
      await play(service, { name: `${as}, ${type}`, path, as, status: 403, error: 'FORBIDDEN' });
    }
    const none = await search(service, 'lamp', '&type=article');
    expect(none.body).toMatchObject({ data: [], meta: { total: 0, facets: { product: 4, article: 0 } } });
    expect(namesOf((await search(service, 'lamp', '&type=product')).body)).toHaveLength(4);
  });

  test('staff find orders, administrators users', async () => {
    const product = await addProduct(service, { name: 'Ordered thing' });
    const order = { items: [{ productId: product.id, quantity: 1 }] };
    const orders = `/v1/users/${await userIdOf(service, 'user')}/orders`;
    const placed = await call(service, { method: 'POST', path: orders, as: 'user', body: order });
    const user = { name: 'Zoë Quill', email: 'quill@shop.example', role: 'user' };
    const made = await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body: user });
    expect([placed.status, made.status]).toEqual([201, 201]);
    const found = async (query: string, as: 'user' | 'editor' | 'admin') =>
      namesOf((await search(service, query, '', as)).body);
    expect(await found('zoe quil', 'admin')).toEqual(['Zoë Quill']);
    expect(await found('zoe quil', 'editor')).toEqual([]);
    const order1 = `Order ${placed.body.id}`;
    expect((await found(`order ${placed.body.id} ordered thing`, 'editor'))[0]).toBe(order1);
    expect(await found(`order ${placed.body.id} ordered thing`, 'user')).not.toContain(order1);
    // An order does not show its customer, so the customer's name does not find it.
    expect((await search(service, `order ${placed.body.id} test`, '', 'admin')).body.meta.relaxed).toEqual([
      'test',
    ]);
    const path = `/v1/users/${made.body.id}`;
    await call(service, { method: 'PATCH', path, as: 'admin', body: { name: 'Zoë Feather' } });
    expect(await found('feather', 'admin')).toEqual(['Zoë Feather']);
    expect(await found('zoe feather', 'admin')).toEqual(['Zoë Feather']);
    await call(service, { method: 'DELETE', path, as: 'admin' });
    expect(await found('feather', 'admin')).toEqual([]);
    await call(service, { method: 'DELETE', path: pathOf(product), as: 'admin' });
  });

  test('articles and posts are found by all', async () => {
    const body = { title: 'Caring for teak', body: 'Oil it twice a year.', tags: ['upkeep'] };
    const article = await call(service, { method: 'POST', path: '/v1/articles', as: 'editor', body });
    const note = { title: 'Teakwood', body: 'A note.' };
    const post = await call(service, { method: 'POST', path: '/v1/posts', as: 'editor', body: note });
    expect([article.status, post.status]).toEqual([201, 201]);
    const { body: found } = await search(service, 'teak');
    expect(found.data.map(({ type, title }: Record<string, unknown>) => [type, title])).toEqual([
      ['article', 'Caring for teak'],
      ['post', 'Teakwood'],
    ]);
    expect(found.meta.facets).toEqual({ product: 0, article: 1, post: 1 });
    expect(namesOf((await search(service, 'teak', '&type=post')).body)).toEqual(['Teakwood']);
    expect(namesOf((await search(service, 'upkeep oil')).body)).toEqual(['Caring for teak']);
    for (const path of [`/v1/articles/${article.body.id}`, `/v1/posts/${post.body.id}`])
      await call(service, { method: 'DELETE', path, as: 'admin' });
    expect(namesOf((await search(service, 'teak')).body)).toEqual([]);
  });

  test('an API key finds only documents that its scopes allow', async () => {
    const ask = (headers: Record<string, string>, more = '') =>
      call(service, { path: `/v1/search?q=lamp${more}`, headers });
    expect((await ask(await addKey(service, 'products:read'))).status).toBe(403);
    const alone = await addKey(service, 'search:read');
    expect((await ask(alone)).body.meta).toMatchObject({ total: 0, facets: {} });
    expect((await ask(alone, '&type=product')).status).toBe(403);
    const both = await addKey(service, 'search:read', 'products:read');
    expect((await ask(both)).body.meta).toMatchObject({ total: 4, facets: { product: 4 } });
  });

  test('a word only of documents that an API key may not read is misspelt for the key', async () => {
    const product = await addProduct(service, { name: 'Lanterm' });
    const orders = `/v1/users/${await userIdOf(service, 'user')}/orders`;
    const body = { items: [{ productId: product.id, quantity: 1 }] };
    // More than there are documents of a word that is taken for misspelt.
    for (let count = 0; count < 8; count++)
      await call(service, { method: 'POST', path: orders, as: 'user', body });
    const article = { title: 'Lantern', body: 'It glows.', tags: [] };
    const made = await call(service, { method: 'POST', path: '/v1/articles', as: 'editor', body: article });
    const found = async (...scopes: string[]) => {
      const headers = await addKey(service, 'search:read', ...scopes);
      return namesOf((await call(service, { path: '/v1/search?q=lanterm', headers })).body);
    };
    expect(await found('content:read')).toEqual(['Lantern']);
    // In the index, orders are between posts and users.
    expect(await found('content:read', 'users:read')).toEqual(['Lantern']);
    expect(await found('content:read', 'products:read')).toEqual(['Lanterm']);
    for (const path of [pathOf(product), `/v1/articles/${made.body.id}`])
      await call(service, { method: 'DELETE', path, as: 'admin' });
  });

  test('replicas see each other’s changes', async () => {
    const replica = await service.replica();
    expect(namesOf((await search(replica, 'zither')).body)).toEqual([]);
    const product = await addProduct(service, { name: 'Zither' });
    expect(namesOf((await search(replica, 'zither')).body)).toEqual(['Zither']);
    expect(namesOf((await search(replica, 'ziter')).body)).toEqual(['Zither']);
    await call(replica, { method: 'DELETE', path: pathOf(product), as: 'admin' });
    expect(namesOf((await search(service, 'zither')).body)).toEqual([]);
  });
});
