/** Cross-origin requests: which are allowed, what a preflight says, and what pages may read. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isObject } from '../../src/json-object.ts';
import { call } from '../support/http/http.ts';
import { named, operations } from '../support/http/operations.ts';
import { type Walk, walkOf, webhookSecret } from '../support/http/walk.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

/** Headers that a page may read without permission (Fetch standard, "CORS-safelisted response-header name"). */
const safelisted = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
];
/** Headers that concern browsers and caches, but not pages. */
const forBrowsers = [
  'connection',
  'content-encoding',
  'content-security-policy',
  'cross-origin-resource-policy',
  'date',
  'keep-alive',
  'referrer-policy',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
];
const isForPages = (name: string) =>
  !name.startsWith('access-control-') && !safelisted.includes(name) && !forBrowsers.includes(name);
const shop = 'https://shop.example';

describeOnDatabases('CORS on %s', kind => {
  let open: TestService;
  let listed: TestService;
  beforeAll(async () => {
    open = await startTestService(kind);
    listed = await open.replica({ CORS_ORIGINS: `${shop.toUpperCase()}:443/, http://localhost:5173` });
  });
  afterAll(() => open.stop());

  /** The Access-Control headers of a response, with lower-case names. */
  const controls = (headers: Headers) =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
  const granted = (origin: string) => ({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': expect.any(String),
  });

  const origins: [origin: string, toAny: boolean, toListed: boolean][] = [
    [shop, true, true],
    ['http://localhost:5173', true, true],
    ['https://evil.example', true, false],
    ['https://shop.example.evil.example', true, false],
    ['http://shop.example', true, false],
    ['https://shop.example:8443', true, false],
    ['null', false, false],
  ];
  test.each(origins)('%s is allowed by default: %p, by a list: %p', async (origin, toAny, toListed) => {
    for (const [service, isGranted] of [
      [open, toAny],
      [listed, toListed],
    ] as const) {
      for (const request of [
        { path: '/v1/products', as: 'user' },
        { path: '/v1/products' },
        { path: '/v1/nothing', as: 'user' },
        { path: '/health' },
      ] as const) {
        const { headers } = await call(service, { ...request, headers: { Origin: origin } });
        expect(controls(headers)).toEqual(isGranted ? granted(origin) : {});
        expect(headers.get('Vary')).toContain('Origin');
      }
      const preflight = await call(service, {
        method: 'OPTIONS',
        path: '/v1/products',
        headers: { Origin: origin },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe(isGranted ? origin : null);
    }
  });

  test('a request without Origin gets no CORS headers', async () => {
    expect(controls((await call(open, { path: '/v1/products', as: 'user' })).headers)).toEqual({});
  });

  test.each(['/v1/products', '/v1/products/1', '/v1/nothing', '/', '/nothing/at/all'])(
    'a preflight to %s gets 204 and exactly the expected CORS headers',
    async path => {
      const headers = {
        Origin: shop,
        'Access-Control-Request-Method': 'DELETE',
        'Access-Control-Request-Headers': 'authorization',
      };
      const response = await call(open, { method: 'OPTIONS', path, headers });
      expect([response.status, response.text]).toEqual([204, '']);
      expect(controls(response.headers)).toEqual({
        ...granted(shop),
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': 'Authorization, Content-Type, X-Request-ID',
        'access-control-max-age': '86400',
      });
    },
  );

  test('a preflight that requests more headers is granted only the known ones', async () => {
    const wanted =
      'authorization, if-match,IDEMPOTENCY-KEY , x-api-key, x-evil, Prefer,range,if-range,traceparent,tracestate,\tbaggage,sentry-trace,cache-control,pragma,x-requested-with';
    const headers = { Origin: shop, 'Access-Control-Request-Headers': wanted };
    const response = await call(open, { method: 'OPTIONS', path: '/v1/products', headers });
    const allowed = response.headers.get('Access-Control-Allow-Headers') ?? '';
    expect(allowed.startsWith('Authorization, Content-Type, X-Request-ID')).toBe(true);
    expect(allowed.split(', ').slice(3).sort()).toEqual([
      'Cache-Control',
      'Idempotency-Key',
      'If-Match',
      'If-Range',
      'Pragma',
      'Prefer',
      'Range',
      'X-API-Key',
      'X-Requested-With',
      'baggage',
      'sentry-trace',
      'traceparent',
      'tracestate',
    ]);
  });
});

/** Tested on one database: what pages of other origins may send and read does not depend on it. */
describe('CORS and the contract', () => {
  let service: TestService;
  let walk: Walk;
  let document: unknown;
  beforeAll(async () => {
    service = await startTestService('sqlite', { STRIPE_WEBHOOK_SECRET: webhookSecret });
    walk = await walkOf(service, operations);
    document = (await call(service, { path: '/openapi.json' })).body;
  });
  afterAll(() => service.stop());

  /** The names, in lower case, that a response header lists. */
  const listIn = (headers: Headers, name: string) => (headers.get(name) ?? '').toLowerCase().split(', ');

  /** Every object of the document, with its member name. */
  function* objectsIn(value: unknown, name = ''): Generator<[name: string, value: Record<string, unknown>]> {
    if (isObject(value)) yield [name, value];
    if (typeof value !== 'object' || value === null) return;
    for (const [member, part] of Object.entries(value)) yield* objectsIn(part, member);
  }

  test('pages may read every header that the document declares for responses', async () => {
    const declared = [...objectsIn(document)].flatMap(([name, value]) =>
      name === 'headers' ? Object.keys(value).map(header => header.toLowerCase()) : [],
    );
    expect(declared).toContain('content-range');
    const { headers } = await call(service, { path: '/v1', headers: { Origin: shop } });
    expect(listIn(headers, 'Access-Control-Expose-Headers')).toEqual(
      expect.arrayContaining(declared.filter(isForPages)),
    );
  });

  test('pages may send every header that the document declares for requests', async () => {
    const declared = [...objectsIn(document)].flatMap(([, value]) =>
      value.in === 'header' && typeof value.name === 'string' ? [value.name.toLowerCase()] : [],
    );
    expect(declared).toContain('if-range');
    expect(declared).toContain('x-api-key');
    const headers = { Origin: shop, 'Access-Control-Request-Headers': declared.join(',') };
    const preflight = await call(service, { method: 'OPTIONS', path: '/v1/products', headers });
    expect(listIn(preflight.headers, 'Access-Control-Allow-Headers')).toEqual(
      expect.arrayContaining(declared),
    );
  });

  test.each(named(operations))('%s: pages may read all headers of its responses', async (_, operation) => {
    const path = await walk.existingPath(operation);
    const own = { ...walk.credentials(operation).headers, Origin: shop };
    for (const headers of [
      own,
      { ...own, Range: 'bytes=0-9' },
      { ...own, Range: 'bytes=999999999-' },
      { ...own, 'Content-Type': 'text/plain' },
      { ...own, Accept: 'model/none' },
    ]) {
      const response = await walk.send(operation, path, { headers });
      const names = [...response.headers.keys()].filter(isForPages);
      const exposed = listIn(response.headers, 'Access-Control-Expose-Headers');
      expect(names.filter(name => !exposed.includes(name))).toEqual([]);
    }
  });
});
