/** The rating of a product: correct after every change to its reviews, and untouched by any other change. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addProduct, nowOf, type Product, pathOf, read } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addPerson, type Person, removePerson } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const crowdSize = 20;

describeOnDatabases('ratings on %s', kind => {
  let service: TestService;
  let crowd: Person[];
  beforeAll(async () => {
    service = await startTestService(kind);
    const names = Array.from({ length: crowdSize }, (_, index) => `Person ${index}`);
    crowd = await Promise.all(names.map(name => addPerson(service, 'user', { name })));
  });
  afterAll(() => service.stop());

  const review = (product: Pick<Product, 'id'>, by: Person | undefined, rating: number) =>
    call(service, {
      method: 'POST',
      path: `${pathOf(product)}/reviews`,
      headers: by?.headers ?? {},
      body: { rating },
    });
  const ratingOf = async (product: Pick<Product, 'id'>) => (await read(service, product)).body.rating;

  test('every change of a review changes its product, with validators, lists and an event', async () => {
    const before = await addProduct(service, { category: 'rated', sku: 'RATED-1' });
    expect(before.rating).toEqual({ average: null, count: 0 });
    const listed = async () => {
      const { body } = await call(service, { path: '/v1/products?category=rated', as: 'user' });
      return body.data[0];
    };
    expect(await listed()).toEqual(before);
    const first = await read(service, before);
    service.clock.advance(1500);
    const { id } = (await review(before, crowd[0], 4)).body;
    await review(before, crowd[1], 5);
    await review(before, crowd[2], 5);
    const rated = { ...before, updatedAt: nowOf(service), rating: { average: 4.67, count: 3 } };
    service.clock.advance(1000);
    const second = await read(service, before);
    expect(second.body).toEqual(rated);
    expect(await listed()).toEqual(rated);
    expect(second.headers.get('ETag')).not.toBe(first.headers.get('ETag'));
    expect(second.headers.get('Last-Modified')).toBe(new Date(service.clock.now()).toUTCString());
    const stale = { 'If-Match': first.headers.get('ETag') ?? '' };
    await play(service, {
      name: 'If-Match from before the reviews',
      method: 'PATCH',
      path: pathOf(before),
      as: 'editor',
      headers: stale,
      body: { price: 1 },
      status: 412,
    });
    const path = `/v1/reviews/${id}`;
    await call(service, { method: 'PATCH', path, headers: crowd[0]?.headers ?? {}, body: { rating: 1 } });
    expect(await ratingOf(before)).toEqual({ average: 3.67, count: 3 });
    await call(service, { method: 'DELETE', path, as: 'editor' });
    expect(await ratingOf(before)).toEqual({ average: 5, count: 2 });
    const events = await eventsOf(service, 'product', before.id);
    expect(events.map(({ type }) => type)).toEqual(['product.created', ...Array(5).fill('product.updated')]);
    expect(events[3]).toEqual({
      type: 'product.updated',
      actor: `user:${crowd[2]?.id}`,
      before: { ...rated, rating: { average: 4.5, count: 2 } },
      after: rated,
    });
    expect((await eventsOf(service, 'review', id)).map(({ type }) => type)).toEqual([
      'review.created',
      'review.updated',
      'review.deleted',
    ]);
  });

  test('a review whose rating is unchanged does not change the product', async () => {
    const product = await addProduct(service);
    const { id } = (await review(product, crowd[0], 3)).body;
    const before = await read(service, product);
    service.clock.advance(1500);
    const headers = crowd[0]?.headers ?? {};
    await call(service, { method: 'PATCH', path: `/v1/reviews/${id}`, headers, body: { body: 'More.' } });
    expect((await read(service, product)).text).toBe(before.text);
  });

  test('a product is replaced, patched and changed in bulk with the rating it has', async () => {
    const product = await addProduct(service);
    await review(product, crowd[0], 2);
    const path = pathOf(product);
    const rating = { average: 2, count: 1 };
    const sent = { name: 'New', price: 1, rating: { average: 5, count: 100 } };
    const editor = { path, as: 'editor' } as const;
    const put = await call(service, { ...editor, method: 'PUT', body: sent });
    expect(put.body).toMatchObject({ name: 'New', rating });
    const patch = await call(service, { ...editor, method: 'PATCH', body: { price: 2, rating: null } });
    expect(patch.body).toMatchObject({ price: 2, rating });
    const merge = await call(service, {
      ...editor,
      method: 'PATCH',
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: { price: 3, rating: { count: 7 } },
    });
    expect(merge.body).toMatchObject({ price: 3, rating });
    await call(service, {
      method: 'PATCH',
      path: '/v1/products',
      as: 'editor',
      body: { ids: [product.id], update: { status: 'archived' } },
    });
    expect((await read(service, product)).body).toMatchObject({ status: 'archived', rating });
    for (const [op, target] of [
      ['replace', '/rating/count'],
      ['remove', '/rating'],
    ] as const) {
      const refused = await play(service, {
        ...editor,
        name: op,
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json-patch+json' },
        body: [{ op, path: target, ...(op === 'replace' ? { value: 9 } : {}) }],
        status: 422,
        error: 'PATCH_RESULT_INVALID',
      });
      expect(refused.body.details).toMatchObject([{ field: 'rating', code: 'readOnly' }]);
    }
    const again = await review(product, crowd[1], 5);
    expect(again.status).toBe(201);
    expect(await ratingOf(product)).toEqual({ average: 3.5, count: 2 });
  });

  test('twenty reviews all count beside a concurrent change of the product', async () => {
    const product = await addProduct(service);
    const rated = crowd.map((person, index) => review(product, person, (index % 5) + 1));
    const changes = [1, 2, 3].map(price =>
      call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { price } }),
    );
    const responses = await Promise.all([...rated, ...changes]);
    expect(responses.map(({ status }) => status)).toEqual([...Array(20).fill(201), 200, 200, 200]);
    expect(await ratingOf(product)).toEqual({ average: 3, count: 20 });
    const removals = responses.slice(0, 10).map(({ body }, index) => {
      const path = `/v1/reviews/${body.id}`;
      return index % 2 === 0
        ? call(service, { method: 'DELETE', path, as: 'admin' })
        : call(service, { method: 'PATCH', path, as: 'admin', body: { rating: 5 } });
    });
    await Promise.all([
      ...removals,
      call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { name: 'Last' } }),
    ]);
    const { body } = await call(service, { path: `${pathOf(product)}/reviews?perPage=100`, as: 'user' });
    const ratings = (body.data as { rating: number }[]).map(({ rating }) => rating);
    const sum = ratings.reduce((total, rating) => total + rating, 0);
    expect(ratings).toHaveLength(15);
    expect(await ratingOf(product)).toEqual({ average: Math.round((sum * 100) / 15) / 100, count: 15 });
    expect((await read(service, product)).body.name).toBe('Last');
  });

  test('concurrent reviews of one user make one review, and the others get 409', async () => {
    const product = await addProduct(service);
    const responses = await Promise.all([1, 2, 3, 4, 5].map(rating => review(product, crowd[0], rating)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect((await ratingOf(product)).count).toBe(1);
  });

  test('the rating is the average of the existing reviews after any sequence of changes', async () => {
    const step = fc.record({
      who: fc.nat({ max: 4 }),
      rating: fc.integer({ min: 1, max: 5 }),
      remove: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async steps => {
        const product = await addProduct(service);
        const there = new Map<number, { id: number; rating: number }>();
        for (const { who, rating, remove } of steps) {
          const known = there.get(who);
          const path = `/v1/reviews/${known?.id}`;
          const headers = crowd[who]?.headers ?? {};
          if (known === undefined) {
            there.set(who, { id: (await review(product, crowd[who], rating)).body.id, rating });
          } else if (remove) {
            await call(service, { method: 'DELETE', path, headers });
            there.delete(who);
          } else {
            await call(service, { method: 'PUT', path, headers, body: { rating } });
            there.set(who, { ...known, rating });
          }
        }
        const ratings = [...there.values()].map(({ rating }) => rating);
        const sum = ratings.reduce((total, rating) => total + rating, 0);
        // Rounded as text: the average of at most five whole numbers, to two decimals.
        const average = ratings.length === 0 ? null : Number((sum / ratings.length).toFixed(2));
        expect(await ratingOf(product)).toEqual({ average, count: ratings.length });
      }),
      { numRuns: 8 },
    );
  });

  test('the reviews of a deleted account are deleted, and the ratings follow', async () => {
    const leaver = await addPerson(service, 'user', { name: 'Leaver' });
    const products = [await addProduct(service), await addProduct(service), await addProduct(service)];
    const ids: number[] = [];
    for (const product of products) ids.push((await review(product, leaver, 1)).body.id);
    for (const product of products.slice(1)) await review(product, crowd[0], 4);
    await Promise.all([
      removePerson(service, leaver),
      ...products.map(product => review(product, crowd[1], 5)),
    ]);
    expect(await Promise.all(products.map(ratingOf))).toEqual([
      { average: 5, count: 1 },
      { average: 4.5, count: 2 },
      { average: 4.5, count: 2 },
    ]);
    for (const id of ids) {
      await play(service, { name: 'gone', path: `/v1/reviews/${id}`, as: 'user', status: 404 });
      expect((await eventsOf(service, 'review', id)).at(-1)).toMatchObject({
        type: 'review.deleted',
        actor: expect.stringMatching(/^user:\d+$/),
        after: null,
      });
    }
  });
});
