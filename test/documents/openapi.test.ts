/** The OpenAPI document: the committed and the served one are what the code would generate now. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { version as release } from '../../package.json';
import { createDocument } from '../../src/service.ts';
import { call } from '../support/http/http.ts';
import { startTestService, type TestService } from '../support/service/service.ts';
import { twoVersions } from '../support/versions/second-version.ts';

type Node = Readonly<Record<string, unknown>>;

interface Operation extends Node {
  readonly operationId: string;
  readonly security?: readonly Node[];
  readonly parameters?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Node>> };
  readonly responses: Readonly<Record<string, Node>>;
}

const root = join(import.meta.dir, '..', '..');
const committed: Node = await Bun.file(join(root, 'openapi.json')).json();

// Boundary: the linters below prove that the document has the form of OpenAPI.
const paths = committed.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
const methods = ['get', 'post', 'put', 'patch', 'delete'];
const operations = Object.entries(paths).flatMap(([path, item]) =>
  methods.flatMap(method => {
    const operation = item[method];
    return operation === undefined ? [] : [{ path, method, operation }];
  }),
);
const named = operations.map(found => [`${found.method} ${found.path}`, found] as const);

/** Follows references to their end. */
function resolved(node: unknown): Node {
  const { $ref } = node as Node;
  if (typeof $ref !== 'string') return node as Node;
  const tokens = $ref.slice(2).split('/');
  return resolved(tokens.reduce<unknown>((at, token) => (at as Node)[token], committed));
}

test('openapi.json matches the code, also in its order (else run npm run openapi)', async () => {
  const text = JSON.stringify(await createDocument());
  expect(JSON.parse(text)).toEqual(committed);
  const written = await Bun.file(join(root, 'openapi.json')).text();
  expect(text === JSON.stringify(JSON.parse(written))).toBeTrue();
});

// Its validity is checked by npm run lint:openapi.
test('the document is of OpenAPI 3.1', () => {
  expect(committed.openapi).toBe('3.1.0');
  expect(operations.length).toBeGreaterThan(100);
});

test.each(named)(
  '%s: describes itself, its parameters, its body and its responses',
  (_, { operation, path }) => {
    const { parameters = [], requestBody, responses } = operation;
    // Boundary: beside operations, a path has the parameters that they share.
    const shared = (paths[path]?.parameters ?? []) as unknown as readonly unknown[];
    for (const text of ['operationId', 'summary', 'description']) expect(operation[text]).toBeString();
    for (const parameter of [...parameters, ...shared]) {
      const { name, description, example, schema, required } = resolved(parameter);
      expect([name, description]).toEqual([name, expect.stringMatching(/\w/)]);
      // API documentation tools send the examples that they fill in: only required parameters, and the harmless
      // X-Request-ID, have one. Tools invent members for objects without an example, so those have an empty one.
      const filled = required === true || name === 'X-Request-ID';
      if (!filled && (schema as Node).type === 'object') expect([name, example]).toEqual([name, {}]);
      else expect([name, example !== undefined]).toEqual([name, filled]);
      if (!filled) expect([name, (schema as Node).examples]).toEqual([name, undefined]);
      expect(schema).toBeObject();
    }
    for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
      expect([type, schema]).toEqual([type, expect.any(Object)]);
      expect([type, example]).toEqual([type, expect.anything()]);
    }
    for (const response of Object.values(responses)) checkResponse(resolved(response));
  },
);

function checkResponse(response: Node): void {
  const { description, headers, content = {}, 'x-alternative-content': others = {} } = response;
  expect(description).toBeString();
  const names = Object.keys(headers ?? {});
  expect(names).toEqual(expect.arrayContaining(['X-Request-ID', 'X-RateLimit-Remaining', 'Vary']));
  for (const header of Object.values(headers ?? {}).map(resolved)) {
    expect(header.description).toBeString();
    expect(header.schema).toBeObject();
    expect(header.example).toBeDefined();
  }
  // Generated clients read a single media type; both media types of errors have the same members.
  const types = Object.keys(content as Node);
  if (!types.includes('application/problem+json')) expect(types.length).toBeLessThanOrEqual(1);
  if (Object.keys(others as Node).length > 0) expect(types).toEqual(['application/json']);
  const bodies = { ...(content as Record<string, Node>), ...(others as Record<string, Node>) };
  for (const [type, body] of Object.entries(bodies)) {
    expect([type, body.schema]).toEqual([type, expect.any(Object)]);
    const example = body.example ?? body.examples ?? resolved(body.schema).examples;
    expect([type, example]).toEqual([type, expect.anything()]);
  }
}

test.each(named)('%s: declares the errors of the layers', (_, { path, operation }) => {
  const statuses = Object.keys(operation.responses);
  const expected = ['405', '406', '500'];
  if (path.startsWith('/v1/')) expected.push('429', '503');
  if (operation.security?.length !== 0) expected.push('401', '403');
  if (operation.requestBody !== undefined) expected.push('400', '413', '415');
  expect(statuses).toEqual(expect.arrayContaining(expected));
});

test('every component is referenced', () => {
  const text = JSON.stringify(committed);
  // Security schemes are named without $ref, and path items only describe in words what holds for every path.
  const { securitySchemes: _, pathItems: _every, ...kinds } = committed.components as Record<string, Node>;
  const unused = Object.entries(kinds).flatMap(([kind, components]) =>
    Object.keys(components)
      .map(name => `#/components/${kind}/${name}`)
      .filter(pointer => !text.includes(`"$ref":"${pointer}"`)),
  );
  expect(unused).toEqual([]);
});

test('the document stays below its size limit', () => {
  // Of all operations together it is less than 700 KB. Those of a new resource take about 3 KB each.
  expect(Bun.file(join(root, 'openapi.json')).size / operations.length).toBeLessThan(5_300);
});

test('every member of every schema has a description', () => {
  const without: string[] = [];
  const walk = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties } = node as Node;
    if (typeof properties === 'object' && !path.endsWith('/properties')) {
      for (const [name, member] of Object.entries(properties as Node)) {
        const { description = resolved(member as Node).description } = member as Node;
        if (description === undefined) without.push(`${path}/${name}`);
      }
    }
    for (const [name, part] of Object.entries(node))
      if (!/^examples?$/.test(name)) walk(part, `${path}/${name}`);
  };
  walk(committed.components, '');
  walk(committed.paths, '');
  expect(without).toEqual([]);
});

test('every value of every enumeration has a description', () => {
  const without: string[] = [];
  const walk = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { enum: values, 'x-enum-descriptions': texts } = node as Node;
    if (Array.isArray(values) && (!Array.isArray(texts) || texts.length !== values.length))
      without.push(path);
    for (const [name, part] of Object.entries(node))
      if (!/^examples?$/.test(name)) walk(part, `${path}/${name}`);
  };
  walk(committed.components, '');
  walk(committed.paths, '');
  expect(without).toEqual([]);
});

test('patterns refuse U+0000, blank text and invalid addresses, as the service does', () => {
  const { properties } = resolved({ $ref: '#/components/schemas/CreateUser' });
  const patternOf = (name: string) => new RegExp(String(((properties as Node)[name] as Node).pattern), 'u');
  const samples = {
    name: [' Ada ', 'a\u0000b', ' \t', '\u0000'],
    email: ['a@b.example', 'a@b', 'a b@c.example'],
  };
  for (const [name, [taken = '', ...refused]] of Object.entries(samples)) {
    expect([name, patternOf(name).test(taken)]).toEqual([name, true]);
    for (const text of refused) expect([name, text, patternOf(name).test(text)]).toEqual([name, text, false]);
  }
});

test('HEAD and OPTIONS are described once for all paths, with their statuses', () => {
  for (const [path, item] of Object.entries(paths))
    expect([path, item.head, item.options]).toEqual([path, undefined, undefined]);
  const { head, options } = resolved({ $ref: '#/components/pathItems/EveryPath' }) as (typeof paths)[string];
  expect(Object.keys(head?.responses ?? {})).toEqual(['200', '304', '431', '500']);
  expect(Object.keys(options?.responses ?? {})).toEqual(['204', '400', '431', '500']);
  for (const [status, response] of Object.entries({ ...head?.responses, ...options?.responses }))
    if (status !== '431') checkResponse(resolved(response));
});

test('the addresses in examples belong to operations and have the required parameters', () => {
  const found: [string, address: string, method: string][] = [];
  const walk = (node: unknown, name: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { href, first, method = 'GET' } = node as Node;
    for (const address of [href, first])
      if (typeof address === 'string') found.push([name, address, String(method)]);
    for (const part of Object.values(node)) walk(part, name);
  };
  const { schemas = {} } = committed.components as Record<string, Record<string, Node>>;
  for (const [name, { examples }] of Object.entries(schemas)) walk(examples, name);
  expect(found.length).toBeGreaterThan(100);
  const missing = found.filter(([, address, method]) => {
    const { pathname } = new URL(address.replace(/\{\?.*\}$/, ''));
    const wanted = decodeURI(pathname);
    const path = Object.keys(paths).find(
      path => path.replaceAll(/\{\w+\}/g, '1') === wanted || path === wanted,
    );
    return paths[path ?? '']?.[method.toLowerCase()] === undefined;
  });
  expect(missing).toEqual([]);
  const { examples } = resolved({ $ref: '#/components/schemas/SearchResults' });
  expect(examples).toMatchObject([
    { links: { first: expect.stringMatching(/\/v1\/search\?q=[\w%]+&page=1$/) } },
  ]);
});

test('operations require a bearer token unless they declare other credentials', () => {
  expect(committed.security).toEqual([{ bearerAuth: [] }]);
  expect(paths['/v1/auth/login']?.post?.security).toEqual([]);
  expect(paths['/v1/products']?.get).toMatchObject({
    security: [{ bearerAuth: [] }, { apiKeyHeader: [] }, { apiKeyQuery: [] }],
    'x-roles': ['admin', 'editor', 'user'],
    'x-scope': 'products:read',
  });
});

test('query parameters declare the types of their values', () => {
  const parameters = (paths['/v1/products']?.get?.parameters ?? []).map(resolved);
  const schemaOf = (name: string) => parameters.find(parameter => parameter.name === name)?.schema;
  expect(schemaOf('perPage')).toMatchObject({ type: 'integer', minimum: 1, maximum: 100 });
  expect(schemaOf('minPrice')).toEqual({ type: 'number' });
  expect(schemaOf('status')).toMatchObject({ type: 'string', enum: ['active', 'archived'] });
});

test('the document states the version of the contract, and the index the release of the program', async () => {
  expect((committed.info as Node).version).toBe('1.0.0');
  const service = await startTestService('sqlite', {}, twoVersions);
  // Boundary: the service sends JSON.
  const read = async (path: string) => (await (await fetch(`${service.url}${path}`)).json()) as Node;
  expect((await read('/openapi.v1.json')).info).toMatchObject({ version: '1.0.0' });
  expect((await read('/openapi.json')).info).toMatchObject({ version: '2.0.0' });
  expect((await read('/')).release).toBe(release);
  await service.stop();
});

describe('the service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService('sqlite');
  });
  afterAll(() => service.stop());

  test('serves the committed document', async () => {
    const served = await call(service, { path: '/openapi.json' });
    expect(served.status).toBe(200);
    expect(served.headers.get('content-type')).toBe('application/json');
    expect(served.body).toEqual(committed);
  });

  test('answers every declared path and method', async () => {
    const everywhere = Object.entries(paths).flatMap(([path, item]) =>
      ['options', ...(item.get === undefined ? [] : ['head'])].map(method => ({ path, method })),
    );
    for (const { path, method } of [...operations, ...everywhere]) {
      const target = path.replaceAll(/\{\w+\}/g, '1');
      const { status } = await call(service, { path: target, method: method.toUpperCase() });
      // These need no credentials: an unknown name is 404, and so is a report of Stripe that is not set up.
      const isOpen = ['/media/{hash}', '/v1/webhooks/stripe'].includes(path);
      const unanswered = isOpen ? [405] : [404, 405];
      expect([method, path, unanswered.includes(status)]).toEqual([method, path, false]);
      if (method === 'options') expect([path, status]).toEqual([path, 204]);
    }
  });

  test('serves its documentation page, which refers to no other host', async () => {
    const page = await call(service, { path: '/docs' });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const addresses = [...page.text.matchAll(/(?:src|href|data-url)="([^"]*)"/g)].map(
      ([, address]) => address,
    );
    expect(addresses).toEqual(['docs/reader.css', 'docs/reader.js']);
    expect(page.text).not.toMatch(/https?:|\/\/[a-z]/);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(policy).toContain("script-src 'self';");
  });

  test.each([
    ['/docs/reader.js', 'text/javascript', 'SwaggerUIBundle({'],
    ['/docs/reader.css', 'text/css', '.swagger-ui'],
  ])('serves %s of the documentation page', async (path, type, part) => {
    const asset = await call(service, { path });
    expect(asset.status).toBe(200);
    expect(asset.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(asset.text).toContain(part);
    expect(asset.text.length).toBeGreaterThan(100_000);
  });
});
