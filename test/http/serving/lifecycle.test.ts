/** The headers with which every response of a deprecated version announces its deprecation. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Call, call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const ofVersion: readonly Call[] = [
  { path: '/v1/products', as: 'user' },
  { path: '/v1/products' },
  { path: '/v1/products/0', as: 'user' },
  { path: '/v1/products?page=0', as: 'user' },
  { method: 'POST', path: '/v1/products', as: 'editor', body: { name: 'Lamp', price: 1 } },
  { method: 'DELETE', path: '/v1/products', as: 'editor' },
  { method: 'HEAD', path: '/v1/products', as: 'user' },
  { method: 'OPTIONS', path: '/v1/products' },
  { path: '/v1/products', as: 'user', headers: { Accept: 'image/png' } },
];
const beside: readonly Call[] = [
  { path: '/health' },
  { path: '/' },
  { path: '/openapi.json' },
  { path: '/v2/products' },
];

describeOnDatabases('the lifecycle of a version on %s', kind => {
  let current: TestService;
  let deprecated: TestService;
  beforeAll(async () => {
    current = await startTestService(kind);
    const SUCCESSOR_V1 = 'https://api.shop.example/v2';
    deprecated = await current.replica({
      DEPRECATED_V1: '2026-06-01',
      SUNSET_V1: '2027-06-01T12:00:00Z',
      SUCCESSOR_V1,
    });
  });
  afterAll(() => current.stop());
  const said = ({ headers }: { headers: Headers }) =>
    ['Deprecation', 'Sunset', 'Link'].map(name => headers.get(name));

  test('responses of a deprecated version name its deprecation, sunset and successor', async () => {
    const expected = [
      'Mon, 01 Jun 2026 00:00:00 GMT',
      'Tue, 01 Jun 2027 12:00:00 GMT',
      '<https://api.shop.example/v2>; rel="successor-version"',
    ];
    for (const request of ofVersion)
      expect([request, ...said(await call(deprecated, request))]).toEqual([request, ...expected]);
    const first = await call(deprecated, { path: '/v1/products', as: 'user' });
    const headers = { 'If-None-Match': first.headers.get('ETag') ?? '' };
    const unchanged = await call(deprecated, { path: '/v1/products', as: 'user', headers });
    expect([unchanged.status, ...said(unchanged)]).toEqual([304, ...expected]);
  });

  test('the addresses of settings are written in ASCII, as headers require', async () => {
    await using replica = await current.replica({
      BASE_URL: 'https://例え.example/店/',
      DEPRECATED_V1: '2026-06-01',
      SUCCESSOR_V1: 'https://例え.example/版2',
    });
    const body = { name: 'Lamp', price: 5 };
    const made = await call(replica, { method: 'POST', path: '/v1/products', as: 'editor', body });
    expect([made.status, made.headers.get('Location'), made.headers.get('Link')]).toEqual([
      201,
      `https://xn--r8jz45g.example/%E5%BA%97/v1/products/${made.body.id}`,
      '<https://xn--r8jz45g.example/%E7%89%882>; rel="successor-version"',
    ]);
  });

  test('responses outside the version do not mention its deprecation', async () => {
    for (const request of beside)
      expect([request, ...said(await call(deprecated, request))]).toEqual([request, null, null, null]);
  });

  test('responses of a current version mention no deprecation', async () => {
    for (const request of [...ofVersion, ...beside])
      expect([request, ...said(await call(current, request))]).toEqual([request, null, null, null]);
  });

  test('a version can have a sunset alone', async () => {
    await using only = await current.replica({ SUNSET_V1: '2027-06-01' });
    expect(said(await call(only, { path: '/v1/products' }))).toEqual([
      null,
      'Tue, 01 Jun 2027 00:00:00 GMT',
      null,
    ]);
  });
});
