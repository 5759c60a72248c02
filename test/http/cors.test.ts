/** Cross-origin requests: who is let in, what a preflight says, and what pages may read. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const readable = [
  'Allow',
  'Accept-Patch',
  'Content-Disposition',
  'WWW-Authenticate',
  'ETag',
  'Location',
  'Link',
  'X-Request-ID',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Window',
  'Retry-After',
];
const shop = 'https://shop.example';

describeOnDatabases('CORS on %s', kind => {
  let open: TestService;
  let listed: TestService;
  beforeAll(async () => {
    open = await startTestService(kind);
    listed = await open.replica({ CORS_ORIGINS: `${shop.toUpperCase()}:443/, http://localhost:5173` });
  });
  afterAll(() => open.stop());

  /** The Access-Control headers of a response, in small letters. */
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
  test.each(origins)('%s is let in by default: %p, by a list: %p', async (origin, toAny, toListed) => {
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

  test('pages may read the headers that the contract gives a meaning', async () => {
    const { headers } = await call(open, { path: '/v1/products', as: 'user', headers: { Origin: shop } });
    const exposed = headers.get('Access-Control-Expose-Headers')?.split(', ') ?? [];
    expect(exposed).toEqual(expect.arrayContaining(readable));
  });

  test('without Origin nothing is said about it', async () => {
    expect(controls((await call(open, { path: '/v1/products', as: 'user' })).headers)).toEqual({});
  });

  test.each(['/v1/products', '/v1/products/1', '/v1/nothing', '/', '/nothing/at/all'])(
    'a preflight to %s is to the letter',
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

  test('a preflight that asks for more of our headers is granted those, and no others', async () => {
    const wanted =
      'authorization, if-match,IDEMPOTENCY-KEY , x-api-key, x-evil, Prefer,traceparent,tracestate,\tbaggage,sentry-trace,cache-control';
    const headers = { Origin: shop, 'Access-Control-Request-Headers': wanted };
    const response = await call(open, { method: 'OPTIONS', path: '/v1/products', headers });
    const allowed = response.headers.get('Access-Control-Allow-Headers') ?? '';
    expect(allowed.startsWith('Authorization, Content-Type, X-Request-ID')).toBe(true);
    expect(allowed.split(', ').slice(3).sort()).toEqual([
      'Cache-Control',
      'Idempotency-Key',
      'If-Match',
      'Prefer',
      'X-API-Key',
      'baggage',
      'sentry-trace',
      'traceparent',
      'tracestate',
    ]);
  });
});
