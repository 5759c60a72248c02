/** Two versions of the API from the same resources: each shows its own representation, without traces of the other. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Contract, contractOf } from '../support/http/contract.ts';
import { type Call, call, type Received } from '../support/http/http.ts';
import { writesNothing } from '../support/service/contents.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';
import { twoVersions } from '../support/versions/second-version.ts';

const names = ['v1', 'v2'] as const;
type Name = (typeof names)[number];
const field = { v1: 'name', v2: 'title' } as const;

describeOnDatabases('two versions on %s', kind => {
  let service: TestService;
  let contracts: Record<Name, Contract>;
  beforeAll(async () => {
    service = await startTestService(kind, { DEPRECATED_V1: '2026-01-01' }, twoVersions);
    const document = async (path: string) => contractOf(await documentAt(path));
    contracts = { v1: await document('/openapi.v1.json'), v2: await document('/openapi.json') };
  });
  afterAll(() => service.stop());

  // biome-ignore lint/suspicious/noExplicitAny: a document that the tests inspect
  const documentAt = async (path: string): Promise<any> => (await fetch(`${service.url}${path}`)).json();
  const ask = (version: Name, path: string, request: Partial<Call> = {}) =>
    call(service, { as: 'editor', ...request, path: `/${version}${path}` }, contracts[version]);
  const make = async (version: Name, text = 'Lamp'): Promise<Received> => {
    const made = await ask(version, '/products', {
      method: 'POST',
      body: { [field[version]]: text, price: 5 },
    });
    expect(made.status).toBe(201);
    return made;
  };
  const tag = (response: Received) => response.headers.get('ETag') ?? '';

  test('each version has its own document, and the index links to both', async () => {
    const paths = (version: Name) => contracts[version].operations.map(({ path }) => path);
    expect(paths('v1').filter(path => path.startsWith('/v2/'))).toEqual([]);
    expect(paths('v2').filter(path => path.startsWith('/v1/'))).toEqual([]);
    expect(paths('v1').map(path => path.replace(/^\/v1(?=\/|$)/, '/v2'))).toEqual(paths('v2'));
    const { body } = await call(service, { path: '/' }, contracts.v2);
    const headers = { Authorization: `Bearer ${service.tokens.user}` };
    expect(body.links).toMatchObject({
      v1: `${service.url}/openapi.v1.json`,
      v2: `${service.url}/openapi.json`,
      products: `${service.url}/v2/products`,
    });
    for (const address of Object.values<string>(body.links)) {
      const path = address.slice(service.url.length);
      expect([path, (await fetch(address, { headers })).status]).toEqual([path, 200]);
    }
    const old = await documentAt('/openapi.v1.json');
    const current = await documentAt('/openapi.json');
    expect(old.paths['/v1/products'].get.deprecated).toBe(true);
    expect(current.paths['/v2/products'].get.deprecated).toBeUndefined();
    expect(Object.keys(current.components.schemas.TitledProduct.properties)).toContain('title');
    expect(current.components.schemas.Product).toBeUndefined();
  });

  test('both versions represent the same product', async () => {
    const { body } = await make('v1', 'Oak lamp');
    const { name, ...rest } = body;
    expect((await ask('v2', `/products/${body.id}`)).body).toEqual({ title: name, ...rest });
    const made = await make('v2', 'Elm lamp');
    expect(made.body.name).toBeUndefined();
    expect((await ask('v1', `/products/${made.body.id}`)).body).toMatchObject({ name: 'Elm lamp' });
  });

  test('v1 is deprecated in favour of v2, and v2 is not, in any order of requests', async () => {
    const { body } = await make('v1');
    const said = ({ headers }: Received) => ['Deprecation', 'Sunset', 'Link'].map(name => headers.get(name));
    const deprecated = ['Thu, 01 Jan 2026 00:00:00 GMT', null, '</v2>; rel="successor-version"'];
    // Several times, in both orders, because responses are cached with their headers. The endpoints are the same in
    // both versions (/me, /reviews), or translated.
    for (const version of ['v1', 'v1', 'v1', 'v2', 'v2', 'v2', 'v1'] as const) {
      const expected = version === 'v1' ? deprecated : [null, null, null];
      for (const path of [
        `/products/${body.id}`,
        '/products',
        `/products/${body.id}/reviews`,
        '/me',
        '/none',
      ])
        expect([version, path, ...said(await ask(version, path))]).toEqual([version, path, ...expected]);
    }
  });

  test('the link to the successor uses BASE_URL or SUCCESSOR_V1', async () => {
    const link = async (settings: Record<string, string>) => {
      await using replica = await service.replica(settings);
      return (await call(replica, { path: '/v1/me', as: 'user' }, contracts.v1)).headers.get('Link');
    };
    const BASE_URL = 'https://shop.example/api';
    expect(await link({ BASE_URL })).toBe('<https://shop.example/api/v2>; rel="successor-version"');
    expect(await link({ BASE_URL, SUCCESSOR_V1: 'https://new.example/v2' })).toBe(
      '<https://new.example/v2>; rel="successor-version"',
    );
    expect(await link({ DEPRECATED_V1: '' })).toBeNull();
  });

  test.each([...names])('%s: Location and the links of pages stay within the version', async version => {
    const made = await make(version);
    const { id } = made.body;
    expect(made.headers.get('Location')).toBe(`${service.url}/${version}/products/${id}`);
    await make(version);
    const review = { method: 'POST', body: { rating: 5 } };
    const reviewed = await ask(version, `/products/${id}/reviews`, review);
    expect(reviewed.headers.get('Location')).toStartWith(`${service.url}/${version}/reviews/`);
    for (const query of ['?perPage=1', '?limit=1', '?sort=price&perPage=1']) {
      const page = await ask(version, `/products${query}`);
      const links = Object.values(page.body.links).filter(link => link !== null) as string[];
      expect(links.length).toBeGreaterThan(1);
      for (const link of links) expect(link).toStartWith(`${service.url}/${version}/products?`);
      const next = new URL(page.body.links.next);
      const second = await ask(version, `${next.pathname.replace(`/${version}`, '')}${next.search}`);
      expect(second.status).toBe(200);
      expect(Object.keys(second.body.data[0])).toContain(field[version]);
    }
  });

  test('each version has validators of its own', async () => {
    const { id } = (await make('v1')).body;
    const path = `/products/${id}`;
    const tags = { v1: tag(await ask('v1', path)), v2: tag(await ask('v2', path)) };
    expect(tags.v1).not.toBe(tags.v2);
    for (const [mine, other] of [
      ['v1', 'v2'],
      ['v2', 'v1'],
    ] as const) {
      const unchanged = await ask(mine, path, { headers: { 'If-None-Match': tags[mine] } });
      expect(unchanged.status).toBe(304);
      const changed = await ask(mine, path, { headers: { 'If-None-Match': tags[other] } });
      expect(changed.status).toBe(200);
      await writesNothing(service, async () => {
        for (const request of writes(mine)) {
          const refused = await ask(mine, path, { ...request, headers: { 'If-Match': tags[other] } });
          expect([request.method, refused.status]).toEqual([request.method, 412]);
        }
      });
    }
    for (const version of names) {
      for (const request of writes(version).filter(({ method }) => method !== 'DELETE')) {
        const current = tag(await ask(version, path));
        const done = await ask(version, path, { ...request, headers: { 'If-Match': current } });
        expect([version, request.method, done.status]).toEqual([version, request.method, 200]);
        expect(tag(done)).toBe(tag(await ask(version, path)));
        expect(tag(done)).not.toBe(current);
      }
    }
    const last = { 'If-Match': tag(await ask('v2', path)) };
    expect((await ask('v2', path, { method: 'DELETE', headers: last })).status).toBe(204);
    expect((await ask('v1', path)).status).toBe(404);
  });

  let written = 0;
  const writes = (version: Name): { method: string; body?: object }[] => [
    { method: 'PUT', body: { [field[version]]: `Lamp ${++written}`, price: 6 } },
    { method: 'PATCH', body: { [field[version]]: `Lamp ${++written}` } },
    { method: 'DELETE' },
  ];

  test('versions do not share cached responses, and a write of one shows in the other', async () => {
    const { id } = (await make('v1', 'Before')).body;
    const shown = async () => {
      const single = await Promise.all(names.map(version => ask(version, `/products/${id}`)));
      const lists = await Promise.all(
        names.map(version => ask(version, '/products?sort=id&order=desc&perPage=1')),
      );
      return [...single.map(({ body }) => body), ...lists.map(({ body }) => body.data[0])].map(product =>
        Object.entries(product)
          .filter(([name]) => name === 'name' || name === 'title')
          .flat(),
      );
    };
    const both = (text: string) => [...names, ...names].map(version => [field[version], text]);
    for (let again = 0; again < 3; again++) expect(await shown()).toEqual(both('Before'));
    await ask('v2', `/products/${id}`, { method: 'PATCH', body: { title: 'After' } });
    for (let again = 0; again < 3; again++) expect(await shown()).toEqual(both('After'));
  });

  test('a v2 patch has v2 names, in every media type', async () => {
    const { id } = (await make('v2')).body;
    const patch = (type: string, body: unknown) =>
      ask('v2', `/products/${id}`, {
        method: 'PATCH',
        body: JSON.stringify(body),
        headers: { 'Content-Type': type },
      });
    expect((await patch('application/merge-patch+json', { title: 'Merged' })).body.title).toBe('Merged');
    const operations = [
      { op: 'test', path: '/title', value: 'Merged' },
      { op: 'copy', from: '/title', path: '/description' },
      { op: 'replace', path: '/title', value: 'Patched' },
    ];
    const patched = await patch('application/json-patch+json', operations);
    expect(patched.body).toMatchObject({ title: 'Patched', description: 'Merged' });
    expect((await ask('v1', `/products/${id}`)).body.name).toBe('Patched');
    const bulk = { ids: [id], update: { title: 'Many' } };
    expect((await ask('v2', '/products', { method: 'PATCH', body: bulk })).body).toEqual({ updated: 1 });
    expect((await ask('v1', `/products/${id}`)).body.name).toBe('Many');
  });

  test('errors name the fields of the requested version', async () => {
    const { id } = (await make('v2')).body;
    await writesNothing(service, async () => {
      const missing = await ask('v2', '/products', { method: 'POST', body: { name: 'Lamp', price: 1 } });
      expect([missing.status, missing.body.details]).toEqual([
        400,
        [{ field: 'title', pointer: '#/title', code: 'required', message: 'is required' }],
      ]);
      const headers = { 'Content-Type': 'application/json-patch+json' };
      const body = JSON.stringify([{ op: 'replace', path: '/title', value: ' ' }]);
      const blank = await ask('v2', `/products/${id}`, { method: 'PATCH', headers, body });
      expect(blank.status).toBe(422);
      expect(blank.body.message).toStartWith('title: ');
      expect(blank.body.details[0]).toMatchObject({ field: 'title', pointer: '#/title' });
    });
  });

  test('an idempotency key is replayed in its own version and refused in the other', async () => {
    const headers = { 'Idempotency-Key': 'two-versions' };
    const request = { method: 'POST', headers, body: { title: 'Once', price: 1 } };
    const first = await ask('v2', '/products', request);
    const again = await ask('v2', '/products', request);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect([again.status, again.text, tag(again)]).toEqual([201, first.text, tag(first)]);
    const other = await ask('v1', '/products', { ...request, body: { name: 'Once', price: 1 } });
    expect([other.status, other.body.error]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('the path selects the version, and a media type of another version is not acceptable', async () => {
    const vendor = (version: string) => `application/vnd.catalog.${version}+json`;
    for (const version of names) {
      for (const named of ['v1', 'v2', 'v3']) {
        const response = await ask(version, '/products', { headers: { Accept: vendor(named) } });
        expect([version, named, response.status]).toEqual([version, named, named === version ? 200 : 406]);
        if (named === version) expect(response.headers.get('Content-Type')).toBe(vendor(named));
        else expect(response.body.message).toContain(vendor(version));
      }
    }
  });

  test('the paths of an unpublished version get 404', async () => {
    for (const path of [
      '/v3/products',
      '/v3',
      '/v12/products',
      '/v1.0/products',
      '/v/products',
      '/2/products',
    ]) {
      const response = await call(service, { path, as: 'editor' }, contracts.v2);
      expect([path, response.status, response.headers.get('Deprecation')]).toEqual([path, 404, null]);
    }
    const { status } = await call(service, { path: '/openapi.v3.json' }, contracts.v2);
    expect(status).toBe(404);
  });
});
