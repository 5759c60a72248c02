/** Statements of the specification that hold for all resources, and that no other test checks as a whole. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { addProduct, pathOf, read } from './support/data/catalog.ts';
import { call } from './support/http/http.ts';
import { describeOnDatabases } from './support/service/databases.ts';
import { startTestService, type TestService } from './support/service/service.ts';

type Node = Readonly<Record<string, unknown>>;
interface Operation {
  readonly parameters?: readonly unknown[];
  readonly responses: Readonly<Record<string, unknown>>;
}

// Boundary: documents/openapi.test.ts proves that the file is a valid OpenAPI document.
const document = (await Bun.file(join(import.meta.dir, '..', 'openapi.json')).json()) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Node>> };
};
const paths = Object.keys(document.paths).filter(path => path.startsWith('/v1/'));

function resolved(node: unknown): Node {
  const { $ref } = node as { $ref?: string };
  if ($ref === undefined) return node as Node;
  return resolved(
    $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, token) => (at as Node)[token], document),
  );
}

/** The schemas of the JSON responses to GET, with their paths. */
const answers = paths.flatMap(path => {
  const { content = {} } = resolved(document.paths[path]?.get?.responses['200'] ?? {}) as {
    content?: Readonly<Record<string, { schema: unknown }>>;
  };
  const schema = content['application/json']?.schema;
  return schema === undefined ? [] : [{ path, schema: resolved(schema) }];
});
const membersOf = ({ schema }: { readonly schema: Node }) => Object.keys(schema.properties ?? {});
const lists = answers.filter(answer => membersOf(answer).includes('meta'));

test('paths have lower-case letters, hyphens between words, plural collections and at most two levels', () => {
  expect(paths.length).toBeGreaterThan(50);
  for (const path of paths) {
    const segments = path.split('/').slice(2);
    for (const segment of segments) expect([path, segment]).toEqual([path, expect.stringMatching(form)]);
    // A segment followed by a parameter is a collection, and is named in the plural.
    const collections = segments.filter((_, index) => segments[index + 1]?.startsWith('{') === true);
    for (const name of collections) expect([path, name]).toEqual([path, expect.stringMatching(/s$/)]);
    expect([path, collections.length > 2]).toEqual([path, false]);
    // At most as deep as /v1/users/{id}/orders/{orderId}.
    expect([path, segments.length > 4]).toEqual([path, false]);
  }
  expect(lists.length).toBeGreaterThan(10);
  for (const { path } of lists) expect(path.split('/').at(-1)).toMatch(/s$|^search$/);
});
const form = /^([a-z]+(-[a-z]+)*|\{[a-z][A-Za-z]*\})$/;

test('members of all bodies are named in camelCase', () => {
  const names: string[] = [];
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties } = node as { properties?: unknown };
    if (typeof properties === 'object' && properties !== null) names.push(...Object.keys(properties));
    for (const [key, value] of Object.entries(node))
      if (!['example', 'examples', 'enum'].includes(key)) collect(value);
  };
  // Stripe names the members of its events.
  const { StripeEvent: _, ...own } = document.components.schemas;
  collect(own);
  expect(names.length).toBeGreaterThan(200);
  expect(
    names.filter(name => !/^[a-z][A-Za-z0-9]*$/.test(name) && !['_links', '_embedded'].includes(name)),
  ).toEqual([]);
});

test('no response is a bare array, and none excludes additional members', () => {
  expect(lists.length).toBeGreaterThan(10);
  for (const { path, schema } of answers)
    expect([
      path,
      schema.type === 'object' || schema.anyOf !== undefined || schema.allOf !== undefined,
    ]).toEqual([path, true]);
  for (const list of lists) expect(membersOf(list).sort()).toEqual(expect.arrayContaining(['data', 'links']));
  const schemas = Object.entries(document.components.schemas);
  const closed = schemas.filter(([, schema]) =>
    JSON.stringify(schema).includes('"additionalProperties":false'),
  );
  expect(closed.map(([name]) => name)).toEqual([]);
});

describeOnDatabases('rules for all resources on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('every list is paged by number and by cursor', async () => {
    expect(lists.length).toBeGreaterThan(10);
    for (const { path } of lists) {
      const names = (document.paths[path]?.get?.parameters ?? []).map(each => resolved(each).name);
      expect([path, names]).toEqual([path, expect.arrayContaining(['page', 'perPage', 'cursor', 'limit'])]);
    }
    const ofAll = lists.filter(({ path }) => !path.includes('{') && !path.endsWith('/search'));
    expect(ofAll.length).toBeGreaterThan(5);
    for (const { path } of ofAll) {
      const byNumber = await call(service, { path: `${path}?perPage=100`, as: 'admin' });
      const { total } = byNumber.body.meta;
      expect([path, byNumber.body.data.length]).toEqual([path, total]);
      const byCursor = await call(service, { path: `${path}?limit=100`, as: 'admin' });
      expect([path, byCursor.body]).toEqual([
        path,
        {
          ...byNumber.body,
          meta: { perPage: 100, nextCursor: null, prevCursor: null },
          links: { first: `${service.url}${path}?limit=100`, last: null, prev: null, next: null },
        },
      ]);
    }
  });

  test('the path names a resource, and the query never does', async () => {
    const [one, other] = [await addProduct(service), await addProduct(service)];
    const { body } = await call(service, { path: `${pathOf(one)}?id=${other.id}`, as: 'user' });
    expect(body).toEqual(one);
    const changed = await call(service, {
      method: 'PATCH',
      path: `${pathOf(one)}?id=${other.id}`,
      as: 'editor',
      body: { price: 3 },
    });
    expect([changed.status, changed.body.id]).toEqual([200, one.id]);
    expect((await read(service, other)).body).toEqual(other);
  });

  test('every response returns the request id that was sent', async () => {
    const outcomes = [
      ['/v1/products', 200],
      ['/v1/products/0', 404],
      ['/v1/products?page=0', 400],
      ['/v1/nothing', 404],
      ['/health', 200],
    ] as const;
    for (const [path, status] of outcomes) {
      const id = `my own id, ${status}`;
      const answer = await call(service, { path, as: 'user', headers: { 'X-Request-ID': id } });
      expect([path, answer.status, answer.headers.get('X-Request-ID')]).toEqual([path, status, id]);
      if (status >= 400) expect(answer.body.requestId).toBe(id);
    }
  });

  test('only the path selects the version', async () => {
    const product = await addProduct(service);
    const requests = [
      { path: `${pathOf(product)}?version=2` },
      { path: `${pathOf(product)}?v=2` },
      { path: pathOf(product), headers: { 'X-API-Version': '2' } },
    ];
    for (const request of requests) {
      const answer = await call(service, { ...request, as: 'user' });
      expect([answer.status, answer.body]).toEqual([200, product]);
    }
    for (const path of [`/products/${product.id}`, `/v2/products/${product.id}`])
      expect((await call(service, { path, as: 'user' })).status).toBe(404);
  });

  test('the default quota is 1000 requests in 3600 seconds', async () => {
    const usual = await startTestService(kind, { RATE_LIMIT: '' });
    const { headers } = await call(usual, { path: '/v1/me', as: 'user' });
    const shown = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Window'];
    expect(shown.map(name => headers.get(name))).toEqual(['1000', '999', '3600']);
    await usual.stop();
  });
});
