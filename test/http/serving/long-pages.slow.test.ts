/** Pages of very long items, whose bodies are built piece by piece, are the same as those of short ones. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Together more than a million characters, with one, two, three and four bytes each. */
const letters = ['a', 'ö', '€', '😀'];
const length = 100_000;
const count = 24;
const hal = 'application/hal+json';

/** Hashes of the items without their links: a difference would be too long to print. */
const digestsOf = (items: readonly Readonly<Record<string, unknown>>[] = []) =>
  items.map(({ _links, _embedded, ...item }) => Bun.hash(JSON.stringify(item)));

describeOnDatabases('pages of long items on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (let number = 0; number < count; number++) {
      const letter = letters[number % letters.length] ?? 'a';
      const body = letter.repeat(length);
      await call(service, {
        method: 'POST',
        path: '/v1/articles',
        as: 'admin',
        body: { title: `${number}`, body },
      });
      await addProduct(service, { name: `Long ${number}`, category: 'Long', description: body });
    }
  });
  afterAll(() => service.stop());

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    call(service, { path, as: 'admin', headers });

  test.each(['/v1/articles', '/v1/products?category=Long', '/v1/products?category=Long&sort=name'])(
    '%s: one long page has the same items as many short ones, in JSON and HAL',
    async list => {
      const parameters = list.includes('?') ? `${list}&` : `${list}?`;
      const whole = await get(`${parameters}perPage=100`);
      expect([whole.status, whole.body.data.length, whole.body.meta.total]).toEqual([200, count, count]);
      const parts: Record<string, unknown>[] = [];
      for (let page = 1; page <= count / 4; page++)
        parts.push(...(await get(`${parameters}perPage=4&page=${page}`)).body.data);
      expect(digestsOf(whole.body.data)).toEqual(digestsOf(parts));
      const embedded = (await get(`${parameters}perPage=100`, { Accept: hal })).body._embedded;
      const [items] = Object.values<Record<string, unknown>[]>(embedded);
      expect(digestsOf(items)).toEqual(digestsOf(whole.body.data));
    },
  );

  test.each(['/v1/articles?perPage=100', '/v1/products?category=Long&perPage=100'])(
    '%s: its entity tag stays the same until one of its items changes',
    async list => {
      const { headers } = await get(list);
      const etag = headers.get('etag') ?? '';
      expect((await get(list)).headers.get('etag')).toBe(etag);
      expect((await get(list, { 'If-None-Match': etag })).status).toBe(304);
      const path = list.slice(0, list.indexOf('?'));
      const { id } = (await get(`${list.replace('perPage=100', 'perPage=1')}`)).body.data[0];
      const changed = await call(service, {
        method: 'PATCH',
        path: `${path}/${id}`,
        as: 'admin',
        body: path.endsWith('articles') ? { title: 'Changed' } : { brand: 'Changed' },
      });
      expect(changed.status).toBe(200);
      const after = await get(list, { 'If-None-Match': etag });
      expect(after.status).toBe(200);
      expect(after.headers.get('etag')).not.toBe(etag);
    },
  );

  test('HEAD has the entity tag of GET, and the length of its body', async () => {
    const path = '/v1/articles?perPage=100';
    const headers = { Authorization: `Bearer ${service.tokens.admin}`, 'Accept-Encoding': 'identity' };
    const got = await fetch(`${service.url}${path}`, { headers });
    const bytes = (await got.arrayBuffer()).byteLength;
    expect(bytes).toBeGreaterThan(count * length);
    const head = await fetch(`${service.url}${path}`, { method: 'HEAD', headers });
    expect(head.headers.get('etag')).toBe(got.headers.get('etag'));
    expect(head.headers.get('content-length')).toBe(`${bytes}`);
  });
});
