/** Reviews of a product. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, pathOf } from '../../support/data/catalog.ts';
import { addKey, addPerson } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { searchOf } from '../../support/samples/expected-list.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const refused: [name: string, body: unknown, problems: [string, string][]][] = [
  ['nothing', {}, [['rating', 'required']]],
  ['rating 0', { rating: 0 }, [['rating', 'minimum']]],
  ['rating 6', { rating: 6 }, [['rating', 'maximum']]],
  ['half a star', { rating: 4.5 }, [['rating', 'type']]],
  ['a rating in quotes', { rating: '5' }, [['rating', 'type']]],
  ['a body of 5,001 characters', { rating: 5, body: 'x'.repeat(5001) }, [['body', 'maxLength']]],
  ['U+0000', { rating: 5, body: '\u0000' }, [['body', 'characters']]],
];

describeOnDatabases('reviews on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test.each(refused)('refuses %s', async (name, body, problems) => {
    const path = `${pathOf(await addProduct(service))}/reviews`;
    await play(service, { name, method: 'POST', path, as: 'user', body, status: 400, problems });
  });

  test('the service sets author and time; each user has one review per product', async () => {
    const product = await addProduct(service);
    const path = `${pathOf(product)}/reviews`;
    const body = { rating: 5, body: 'Bright.', author: { id: 1, name: 'Somebody else' }, productId: 1 };
    const made = await play(service, { name: 'first', method: 'POST', path, as: 'user', body, status: 201 });
    const author = { id: expect.any(Number), name: 'Test user' };
    const moments = { createdAt: nowOf(service), updatedAt: nowOf(service) };
    expect(made.body).toEqual({
      id: made.body.id,
      productId: product.id,
      author,
      rating: 5,
      body: 'Bright.',
      ...moments,
    });
    const again = { name: 'second', method: 'POST', path, as: 'user', body: { rating: 1 } } as const;
    await play(service, { ...again, status: 409, error: 'DUPLICATE' });
    const other = await play(service, {
      name: 'another user',
      method: 'POST',
      path,
      as: 'editor',
      body: { rating: 1, body: null },
      status: 201,
    });
    expect(other.body).toMatchObject({ rating: 1, body: null, author: { name: 'Test editor' } });
    const elsewhere = `${pathOf(await addProduct(service))}/reviews`;
    await play(service, {
      name: 'another product',
      method: 'POST',
      path: elsewhere,
      as: 'user',
      body: { rating: 2 },
      status: 201,
    });
  });

  test('a list holds the reviews of its product only, sorted as asked', async () => {
    const product = await addProduct(service);
    const path = `${pathOf(product)}/reviews`;
    const noise = `${pathOf(await addProduct(service))}/reviews`;
    for (const [as, rating] of [
      ['user', 4],
      ['editor', 2],
      ['admin', 5],
    ] as const) {
      await call(service, { method: 'POST', path, as, body: { rating } });
      await call(service, { method: 'POST', path: noise, as, body: { rating: 1 } });
    }
    const ratings = async (query: string) => {
      const { body } = await call(service, { path: `${path}?${query}`, as: 'user' });
      return (body.data as { rating: number }[]).map(({ rating }) => rating);
    };
    expect(await ratings('')).toEqual([4, 2, 5]);
    expect(await ratings('sort=rating')).toEqual([2, 4, 5]);
    expect(await ratings('sort=rating&order=desc')).toEqual([5, 4, 2]);
    expect(await ratings('perPage=2&page=2')).toEqual([5]);
    const { body } = await call(service, { path: `${path}?sort=rating&limit=2`, as: 'user' });
    expect(await ratings(`sort=rating&limit=2&cursor=${body.meta.nextCursor}`)).toEqual([5]);
    const first = await call(service, { path, as: 'user' });
    expect(first.body.meta).toEqual({ currentPage: 1, perPage: 20, total: 3, lastPage: 1 });
  });

  test('a cursor holds for its product’s list only', async () => {
    const paths = [pathOf(await addProduct(service)), pathOf(await addProduct(service))];
    for (const path of paths) {
      for (const as of ['user', 'editor'] as const)
        await call(service, { method: 'POST', path: `${path}/reviews`, as, body: { rating: 3 } });
    }
    const first = await call(service, { path: `${paths[0]}/reviews?limit=1`, as: 'user' });
    const path = `${paths[1]}/reviews?limit=1&cursor=${first.body.meta.nextCursor}`;
    await play(service, { name: 'another product', path, as: 'user', status: 400, error: 'INVALID_CURSOR' });
  });

  test('the author and administrators change and delete a review; editors may delete it', async () => {
    const product = await addProduct(service);
    const author = await addPerson(service, 'user', { name: 'Ada Winter' });
    const body = { rating: 4, body: 'Good.' };
    const { id } = (
      await call(service, {
        method: 'POST',
        path: `${pathOf(product)}/reviews`,
        headers: author.headers,
        body,
      })
    ).body;
    const target = { path: `/v1/reviews/${id}` };
    const forbidden = { status: 403, error: 'FORBIDDEN' } as const;
    service.clock.advance(1000);
    for (const [method, sent, has] of [
      ['PUT', { rating: 2, productId: 1 }, { rating: 2, body: null }],
      ['PATCH', { body: 'Worn.' }, { rating: 2, body: 'Worn.' }],
    ] as const) {
      const request = { ...target, method, body: sent };
      for (const as of ['user', 'editor'] as const)
        await play(service, { ...request, name: `${as} ${method}`, as, ...forbidden });
      const changed = await play(service, {
        ...request,
        name: `author ${method}`,
        headers: author.headers,
        status: 200,
      });
      const own = { author: { id: author.id, name: 'Ada Winter' }, productId: product.id };
      expect(changed.body).toMatchObject({ ...has, ...own, id, updatedAt: nowOf(service) });
      await play(service, { ...request, name: `admin ${method}`, as: 'admin', status: 200 });
    }
    const patch = { ...target, name: 'JSON Patch', method: 'PATCH', headers: author.headers };
    await play(service, {
      ...patch,
      headers: { ...author.headers, 'Content-Type': 'application/json-patch+json' },
      body: [{ op: 'replace', path: '/productId', value: product.id + 1 }],
      status: 422,
      error: 'PATCH_RESULT_INVALID',
    });
    await play(service, { ...patch, body: { rating: 6 }, status: 400, problems: [['rating', 'maximum']] });
    const reader = await addKey(service, 'reviews:read', 'content:write');
    await play(service, { ...target, name: 'key', method: 'DELETE', headers: reader, ...forbidden });
    await play(service, { ...target, name: 'user', method: 'DELETE', as: 'user', ...forbidden });
    await play(service, { ...target, name: 'editor', method: 'DELETE', as: 'editor', status: 204 });
    await play(service, { ...target, name: 'again', method: 'DELETE', as: 'editor', status: 404 });
  });

  test('the list of all reviews can be filtered by product, author and rating', async () => {
    const products = [await addProduct(service), await addProduct(service)];
    const author = await addPerson(service, 'user', { name: 'Ben' });
    const other = await addPerson(service, 'user', { name: 'Cleo' });
    const made: number[] = [];
    for (const [product, by, rating] of [
      [products[0], author, 1],
      [products[1], author, 5],
      [products[1], other, 5],
    ] as const) {
      const path = `${pathOf(product ?? { id: 0 })}/reviews`;
      const { body } = await call(service, { method: 'POST', path, headers: by.headers, body: { rating } });
      made.push(body.id);
    }
    const ids = async (query: object) => {
      const { body } = await call(service, { path: `/v1/reviews?${searchOf(query)}`, as: 'user' });
      return (body.data as { id: number }[]).map(({ id }) => made.indexOf(id));
    };
    expect(await ids({ author: author.id })).toEqual([0, 1]);
    expect(await ids({ author: author.id, sort: 'rating', order: 'desc' })).toEqual([1, 0]);
    expect(await ids({ productId: products[1]?.id })).toEqual([1, 2]);
    expect(await ids({ productId: products[1]?.id, author: other.id, rating: 5 })).toEqual([2]);
    expect(await ids({ author: author.id, rating: 4 })).toEqual([]);
    await play(service, {
      name: 'rating 6',
      path: '/v1/reviews?rating=6&author=x',
      as: 'user',
      status: 400,
      problems: [
        ['author', 'pattern'],
        ['rating', 'maximum'],
      ],
    });
  });

  test('HAL links to the product and the author, and to the actions that the caller may take', async () => {
    const product = await addProduct(service);
    const path = `${pathOf(product)}/reviews`;
    const made = await call(service, { method: 'POST', path, as: 'user', body: { rating: 3 } });
    const href = `${service.url}/v1/reviews/${made.body.id}`;
    const links = { self: { href }, product: { href: service.url + pathOf(product) } };
    const author = { href: `${service.url}/v1/users/${made.body.author.id}` };
    const headers = { Accept: 'application/hal+json' };
    const own = await call(service, { path: `/v1/reviews/${made.body.id}`, as: 'user', headers });
    expect(own.body).toEqual({
      ...made.body,
      _links: { ...links, author, edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } },
      _embedded: {},
    });
    const list = await call(service, { path, as: 'editor', headers });
    expect(list.body._embedded.reviews[0]._links).toEqual({
      ...links,
      delete: { href, method: 'DELETE' },
    });
  });

  test('reviews are deleted with their product', async () => {
    const product = await addProduct(service);
    const path = `${pathOf(product)}/reviews`;
    await call(service, { method: 'POST', path, as: 'user', body: { rating: 3 } });
    await call(service, { method: 'DELETE', path: pathOf(product), as: 'editor' });
    await play(service, { name: 'list', path, as: 'user', status: 404, error: 'NOT_FOUND' });
  });
});
