/**
 * Whatever a process has cached or in memory, it gives what one gives that was started just now: bodies and tags, after
 * bursts of writes through two replicas at once, with reads between them. A resource is covered once its writes and reads
 * are in the tables below.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { describeOnDatabases } from '../support/databases.ts';
import { type Call, call } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const words = ['lamp', 'lamps', 'oak', 'steel', 'red'] as const;
const categories = ['Tools', 'Tools > Saws', 'Shoes'] as const;
/** Ids that there may be, at most. */
const mostIds = 16;

interface Write {
  readonly kind: keyof typeof writes;
  /** Of a product, category or whatever else is written. */
  readonly id: number;
  readonly word: string;
  readonly category: string;
  readonly number: number;
  readonly isFirst: boolean;
}

const options = [{ name: 'Size', values: ['S', 'M'] }];
const post = (path: string, body: unknown): Call => ({ method: 'POST', path, as: 'admin', body });
const patch = (path: string, body: unknown): Call => ({ method: 'PATCH', path, as: 'admin', body });
const remove = (path: string): Call => ({ method: 'DELETE', path, as: 'admin' });
const change = (members: (write: Write) => object) => (write: Write) =>
  patch(`/v1/products/${write.id}`, members(write));

/** Many of them are refused, which changes nothing anywhere. */
const writes = {
  create: ({ word, category, number }: Write) =>
    post('/v1/products', { name: `${word} ${number}`, price: number, category, tags: [word], options }),
  rename: change(({ word, number }) => ({ name: `${word} ${number}` })),
  price: change(({ number }) => ({ price: number })),
  // Also to categories that are not there yet.
  move: change(({ category, word, number }) => ({
    category: number > 5 ? `${category} > ${word}` : category,
    categories: number % 2 === 0 ? [] : [word],
  })),
  archive: change(({ isFirst }) => ({ status: isFirst ? 'archived' : 'active' })),
  brand: change(({ word, number }) => ({
    brand: number % 3 === 0 ? null : word,
    attributes: { colour: word },
  })),
  stock: change(({ number }) => ({ stock: { tracked: true, onHand: number % 3 } })),
  several: ({ id, word, number }: Write) =>
    patch('/v1/products', { ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, id], update: { price: number, tags: [word] } }),
  delete: ({ id }: Write) => remove(`/v1/products/${id}`),
  variant: ({ id, number, isFirst }: Write) =>
    post(`/v1/products/${id}/variants`, { options: { Size: isFirst ? 'S' : 'M' }, price: number }),
  review: ({ id, word, number }: Write) =>
    post(`/v1/products/${id}/reviews`, { rating: 1 + (number % 5), comment: word }),
  category: ({ id, word, number }: Write) => patch(`/v1/categories/${id}`, { name: `${word} ${number}` }),
  article: ({ word, number }: Write) => post('/v1/articles', { title: `${word} ${number}`, body: word }),
  post: ({ id, word }: Write) => patch(`/v1/posts/${id}`, { body: word }),
  attribute: ({ isFirst, word }: Write) =>
    isFirst
      ? post('/v1/attributes', { key: 'colour', label: word, type: 'text', facet: true })
      : remove('/v1/attributes/1'),
  synonym: ({ word, isFirst }: Write) =>
    isFirst ? post('/v1/search/synonyms', { words: [word, 'lantern'] }) : remove('/v1/search/synonyms/1'),
} satisfies Record<string, (write: never) => Call>;

// Boundary: Object.keys types its result as string[]; the table has these keys and no others.
const kinds = Object.keys(writes) as Write['kind'][];

const write: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom(...kinds, 'create', 'create', 'rename', 'move'),
  id: fc.integer({ min: 1, max: mostIds }),
  word: fc.constantFrom(...words),
  category: fc.constantFrom(...categories),
  number: fc.integer({ min: 1, max: 9 }),
  isFirst: fc.boolean(),
});

const ids = Array.from({ length: mostIds }, (_, index) => index + 1);
/** Not suggestions: for a second after everything may have changed they are made without the names in memory. */
const reads = [
  ...ids.map(id => `/v1/products/${id}`),
  ...[
    'sort=price',
    'sort=price&order=desc&status=active',
    'sort=name',
    'sort=createdAt',
    'limit=5&sort=price',
  ].map(query => `/v1/products?${query}`),
  ...categories.map(category => `/v1/products?category=${encodeURIComponent(category)}&sort=price`),
  ...words.flatMap(word => [
    `/v1/products?tag=${word}`,
    `/v1/products?brand=${word}&sort=name`,
    `/v1/search?q=${word}`,
  ]),
  '/v1/products?facets=brand,category,price',
  '/v1/products?available=false',
  '/v1/products?minPrice=3&maxPrice=6&sort=price',
  '/v1/search?q=oak+lamp&facets=category,price',
  '/v1/search?q=lantern',
  '/v1/products/1/variants',
  '/v1/products/2/reviews',
  '/v1/categories',
  '/v1/attributes',
  '/v1/articles',
  '/v1/posts',
  '/v1/search/synonyms',
] as const;

/** Refusals name the request. */
const headers = { 'X-Request-ID': 'the-same-for-all' };

async function read(service: TestService, path: string) {
  const { status, text, headers: received } = await call(service, { path, as: 'admin', headers });
  return { path, status, etag: received.get('etag'), modified: received.get('last-modified'), text };
}

const readAll = (service: TestService) => Promise.all(reads.map(path => read(service, path)));

describeOnDatabases('replicas on %s', kind => {
  test('give what one that was started just now gives, after writes through both', async () => {
    // Links begin alike on all of them.
    await using service = await startTestService(kind, { BASE_URL: 'https://shop.example' });
    const other = await service.replica();
    await call(service, post('/v1/posts', { title: 'Oak', body: 'Red' }));
    for (const [index, word] of [...words, ...words].entries()) {
      const category = categories[index % categories.length];
      await call(
        service,
        post('/v1/products', { name: `${word} ${index}`, price: index, category, options }),
      );
    }
    let written = 0;
    const bursts = fc.asyncProperty(fc.array(write, { minLength: 20, maxLength: 40 }), async burst => {
      await Promise.all([readAll(service), readAll(other)]);
      service.clock.advance(1000);
      const results = await Promise.all(
        burst.flatMap((one, index) => {
          const [first, second] = index % 2 === 0 ? [service, other] : [other, service];
          const path = reads[(one.id * one.number) % reads.length] ?? reads[0];
          // Boundary: each kind makes its call of a write of that kind, which is any.
          const request = writes[one.kind](one as never);
          return [call(first, request).then(({ status }) => status), read(second, path).then(() => 0)];
        }),
      );
      written += results.filter(status => status >= 200 && status < 300).length;
      // The index gets the words of renamed categories after their commit.
      await service.settle();
      const replica = await service.replica();
      const expected = await readAll(replica);
      expect(await readAll(service)).toEqual(expected);
      expect(await readAll(other)).toEqual(expected);
      await replica.stop();
    });
    await fc.assert(bursts, { numRuns: 4, endOnFailure: true });
    // Of 80 at least, some half of which are refused.
    expect(written).toBeGreaterThan(20);
  });
});
