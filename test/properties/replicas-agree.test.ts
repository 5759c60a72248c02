/**
 * Whatever a process has cached or in memory, it gives what one gives that was started just now: bodies and tags, after
 * bursts of writes through two replicas at once, with reads between them; and `catalog check` finds nothing wrong. A resource is
 * covered once its writes (support/writes.ts) and reads are in the tables.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { checksOf } from '../../src/cli/check/parts.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { categories, mostIds, options, post, requestOf, words, write } from '../support/writes.ts';

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
  ...[1, 2, 3].flatMap(id => [
    `/v1/products/${id}/variants`,
    `/v1/products/${id}/variants/${id}`,
    `/v1/products/${id}/images`,
    `/v1/orders/${id}`,
    `/v1/categories/${id}`,
    `/v1/categories?parentId=${id}`,
    `/v1/products/${id}/reviews`,
  ]),
  '/v1/categories',
  '/v1/attributes',
  '/v1/articles',
  '/v1/posts',
  '/v1/search/synonyms',
  '/v1/orders?sort=id',
  '/v1/reviews',
  '/v1/products?attr.colour=oak',
  '/v1/products?attr.colour=red&facets=attr.colour,brand',
  '/v1/products?include=reviews',
  '/v1/events?order=desc&perPage=100',
  '/v1/notifications',
  '/v1/users/3/orders',
  '/v1/invoices',
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
          return [call(first, requestOf(one)).then(({ status }) => status), read(second, path).then(() => 0)];
        }),
      );
      written += results.filter(status => status >= 200 && status < 300).length;
      // The index gets the words of renamed categories after their commit.
      await service.settle();
      const replica = await service.replica();
      // Before it has searched: SQLite checks FTS5 by what a connection has read of it once.
      const { database } = replica;
      for (const { name, find } of checksOf(database))
        expect([name, await database.snapshot(find)]).toEqual([name, []]);
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
