/** The links of filtered lists keep every filter, even one named like a credential. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../support/data/catalog.ts';
import { addKey } from '../support/data/people.ts';
import { contractAt, type Operation } from '../support/http/contract.ts';
import { call } from '../support/http/http.ts';
import { requiredQuery, type Walk, walkOf } from '../support/http/walk.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

/** Attributes named like credentials, and `notes`, which is not. */
const attributes = [
  ...['key', 'token', 'access_token', 'refresh-token', 'authorization', 'password', 'current_password'],
  ...['new_password', 'secret', 'api_key', 'api.key', 'x-api-key', 'key.of.song', 'notes'],
];
/** At least one of these is valid for each parameter of a list. */
const values = ['1', 'true', 'Berlin', '2026-01-01T00:00:00Z', '00000000', 'a@b.example', 'brand'];
/** Parameters that another parameter requires. */
const companions: Readonly<Record<string, string>> = { resourceId: '&resource=order' };
const pageNames = ['page', 'perPage', 'limit', 'cursor', 'count', 'attributes'];

describeOnDatabases('links of filtered lists on %s', kind => {
  let service: TestService;
  let walk: Walk;
  let operations: readonly Operation[];
  beforeAll(async () => {
    service = await startTestService(kind);
    ({ operations } = await contractAt(service.url));
    walk = await walkOf(service, operations);
    const inMinor = Object.fromEntries(attributes.map(name => [name, 'C minor']));
    for (let count = 0; count < 3; count++)
      await addProduct(service, { name: `Song ${count}`, attributes: inMinor });
    await addProduct(service, { name: 'Song in another key' });
  });
  afterAll(() => service.stop());

  const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const { status, body } = await call(service, { path, as: 'admin', headers });
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const pathOf = (link: string) => link.slice(service.url.length);

  test.each(['/v1/products?', '/v1/search?q=song&'])(
    '%s: filters by attributes of any name, and its links keep the filter',
    async list => {
      for (const name of attributes) {
        const filter = `attr.${name}=C+minor`;
        const pages = await get(`${list}${filter}&perPage=1`);
        expect([name, pages.meta.total]).toEqual([name, 3]);
        for (const link of ['first', 'last', 'next']) expect(pages.links[link]).toContain(filter);
        expect((await get(pathOf(pages.links.next))).meta.total).toBe(3);
        let [found, next] = [0, `${service.url}${list}${filter}&limit=1`];
        for (; next !== null; found++) next = (await get(pathOf(next))).links.next;
        expect([name, found]).toEqual([name, 3]);
      }
    },
  );

  test('every parameter that a list declares stays in its links', async () => {
    const lists = operations.filter(
      ({ method, parameters }) => method === 'GET' && parameters.some(({ name }) => name === 'perPage'),
    );
    expect(lists.length).toBeGreaterThan(15);
    for (const list of lists) {
      const own = list.parameters.filter(
        ({ in: place, name }) => place === 'query' && !pageNames.includes(name),
      );
      const path = await walk.keptPath(list);
      for (const { name, required, schema } of own) {
        const others = requiredQuery(list);
        const tried = schema?.enum ?? values;
        let links: Readonly<Record<string, string | null>> | undefined;
        let sent = '';
        for (const value of Array.isArray(tried) ? tried : []) {
          sent = `${name}=${encodeURIComponent(String(value))}${companions[name] ?? ''}`;
          const query = required === true || others === '' ? `?${sent}` : `${others}&${sent}`;
          const { status, body } = await walk.send(list, path, { path: `${path}${query}` });
          if (status !== 200) continue;
          links = body.links;
          break;
        }
        expect([list.path, sent, links?.first]).toEqual([list.path, sent, expect.stringContaining(sent)]);
      }
    }
  });

  test.each(['application/json', 'application/hal+json'])(
    'links of %s keep a query of 6,000 characters',
    async type => {
      const long = `x=${'y'.repeat(6000)}`;
      let found = 0;
      for (const operation of operations.filter(({ method }) => method === 'GET')) {
        const path = await walk.keptPath(operation);
        const query = requiredQuery(operation);
        const sent = { path: `${path}${query}${query === '' ? '?' : '&'}${long}`, headers: { Accept: type } };
        const { status, body } = await walk.send(operation, path, sent);
        if (status === 200 && JSON.stringify(body?.links ?? body?._links ?? '').includes(long)) found += 1;
      }
      expect(found).toBeGreaterThan(15);
    },
    30_000,
  );

  test('HAL links keep filters by attributes', async () => {
    const filter = 'attr.key=C+minor&perPage=1';
    const { _links } = await get(`/v1/products?${filter}`, { Accept: 'application/hal+json' });
    for (const link of ['self', 'next']) expect(_links[link].href).toContain(filter);
  });

  test('links leave out filters that hold credentials and filters that the list does not have', async () => {
    const { 'X-API-Key': key } = await addKey(service, 'products:read');
    for (const query of [
      `attr.key=${key}`,
      `attr.${key}=1`,
      `api_key=${key}`,
      'key=typed-in',
      'password=typed-in',
      'attr.key=1;password=typed-in',
    ]) {
      const { body } = await call(service, {
        path: `/v1/products?perPage=1&${query}`,
        headers: { 'X-API-Key': key },
      });
      expect([query, body.links?.first ?? '']).toEqual([query, expect.not.stringContaining('typed-in')]);
      expect([query, JSON.stringify(body).includes(key)]).toEqual([query, false]);
    }
    const users = await get('/v1/users?attr.password=typed-in');
    expect(users.links.first).toBe(`${service.url}/v1/users?page=1`);
    const defined = await get('/v1/attributes?key=colour&type=text');
    expect(defined.links.first).toBe(`${service.url}/v1/attributes?key=colour&type=text&page=1`);
  });
});
