/** Content negotiation: Accept on the wire, and the published cases against the functions that decide. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { LRUCache } from 'lru-cache';
import { createNegotiate } from '../../src/http/negotiate.ts';
import { addProduct, type Product, pathOf } from '../support/data/catalog.ts';
import { conformance } from '../support/http/conformance.ts';
import { call } from '../support/http/http.ts';
import { send } from '../support/http/raw.ts';
import { play } from '../support/http/scenario.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const json = 'application/json';
const vendor = 'application/vnd.catalog.v1+json';
const problem = 'application/problem+json';

const accepts: [accept: string | undefined, status: number][] = [
  [undefined, 200],
  ['', 200],
  [',', 200],
  [' , ,, ', 200],
  [`,, ${json} ,`, 200],
  [', text/html,', 406],
  ['*/*', 200],
  [json, 200],
  ['application/*', 200],
  ['APPLICATION/JSON', 200],
  [`${json}; charset=utf-8`, 200],
  [`${json};q=0.001`, 200],
  [`text/html, ${json};q=0.5`, 200],
  ['text/html, */*;q=0.1', 200],
  [`image/png;q=1, ${json};q=0.1`, 200],
  [vendor, 200],
  [`application/vnd.catalog.v2+json, ${vendor};q=0.5`, 200],
  ['application/vnd.catalog.v2+json, */*;q=0.1', 200],
  ['image/png', 406],
  ['text/*', 406],
  ['application/vnd.catalog.v2+json', 406],
  ['application/vnd.other.v1+json', 406],
  [`${json};q=0`, 406],
  ['*/*;q=0', 406],
  ['application/*;q=0, */*', 406],
  ['application/xml, text/html', 406],
  [problem, 200],
];

describeOnDatabases('Accept on %s', kind => {
  let service: TestService;
  let product: Product;
  beforeAll(async () => {
    service = await startTestService(kind);
    product = await addProduct(service);
  });
  afterAll(() => service.stop());

  test.each(accepts)('%s is answered %d', async (accept, status) => {
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
    const response = await play(service, {
      name: String(accept),
      path: pathOf(product),
      as: 'user',
      headers,
      status,
    });
    expect(response.headers.get('Vary')).toContain('Accept');
    if (status === 200) expect(response.body).toEqual(product);
    else expect(response.body.error).toBe('NOT_ACCEPTABLE');
  });

  test('a write that is refused with 406 is not executed', async () => {
    const body = { name: 'Lamp', price: 1 };
    const headers = { Accept: 'application/vnd.catalog.v2+json' };
    await play(service, {
      name: 'v2',
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      headers,
      body,
      status: 406,
    });
  });

  test.each([
    [problem, problem],
    [`${json}, ${problem};q=0.5`, json],
    [`${problem};q=0.5, */*`, json],
    [`${json}, ${problem}`, problem],
    [`${json};q=0.5, ${problem};q=0.9`, problem],
    [`image/png, ${problem};q=0.5, */*;q=0.1`, problem],
    [`${problem.toUpperCase()}, */*`, problem],
    [`${problem};q=0`, json],
    [`${json}, ${problem};q=0`, json],
    ['*/*', json],
    ['application/*', json],
    [json, json],
  ])('an error for Accept: %s is %s', async (accept, type) => {
    const response = await call(service, { path: '/v1/products/0', as: 'user', headers: { Accept: accept } });
    expect(response.headers.get('Content-Type')).toBe(type);
    if (type === json) return expect(Object.keys(response.body)).toEqual(['error', 'message', 'requestId']);
    const { requestId, error, message } = response.body;
    const members = {
      type: 'about:blank',
      title: 'Not Found',
      status: response.status,
      detail: message,
    };
    expect(response.body).toEqual({
      ...members,
      instance: `urn:request:${requestId}`,
      error,
      message,
      requestId,
    });
  });

  const early: [name: string, lines: readonly string[], status: number, title: string][] = [
    ['an unknown path', ['GET /v1/nothing HTTP/1.1', 'Host: x'], 404, 'Not Found'],
    ['a path beside the versions', ['GET /nothing HTTP/1.1', 'Host: x'], 404, 'Not Found'],
    ['an unsupported method', ['PUT /v1/products HTTP/1.1', 'Host: x'], 405, 'Method Not Allowed'],
    ['an invalid host', ['GET /v1/products HTTP/1.1', 'Host: a b'], 400, 'Bad Request'],
  ];
  test.each(early)(
    '%s is reported as problem details to clients that accept them',
    async (_, lines, status, title) => {
      for (const accept of [problem, `${json}, ${problem}`, `image/png, ${problem}`]) {
        const request = [...lines, `Accept: ${accept}`, 'Connection: close', '', ''].join('\r\n');
        const { text, ...response } = await send(service.url, [request]);
        expect([accept, response.status]).toEqual([accept, status]);
        expect(text).toContain(`Content-Type: ${problem}`);
        const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
        expect(body).toMatchObject({ type: 'about:blank', title, status });
      }
    },
  );

  test('an exceeded quota is reported as problem details too', async () => {
    await using replica = await service.replica({ RATE_LIMIT: '1' });
    const request = { path: '/v1/products', as: 'user', headers: { Accept: problem } } as const;
    await call(replica, request);
    const { status, headers, body } = await call(replica, request);
    expect([status, headers.get('Content-Type'), body.title]).toEqual([429, problem, 'Too Many Requests']);
  });

  test('clients that accept only problem details get success as JSON, and with an unsupported type beside them 406', async () => {
    const request = (accept: string) =>
      call(service, { path: '/v1/products', as: 'user', headers: { Accept: accept } });
    for (const accept of [problem, `${problem};q=0.5`, 'Application/Problem+JSON']) {
      const { status, headers } = await request(accept);
      expect([accept, status, headers.get('Content-Type')]).toEqual([accept, 200, json]);
    }
    for (const accept of [`image/png, ${problem}`, `${problem};q=0`, 'image/png'])
      expect([accept, (await request(accept)).status]).toEqual([accept, 406]);
    const made = await call(service, {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      headers: { Accept: problem },
      body: { name: 'Lamp', price: 1 },
    });
    expect(made.status).toBe(201);
  });

  test('problem details carry the details of a validation', async () => {
    const headers = { Accept: `${json}, ${problem}` };
    const response = await call(service, {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      headers,
      body: {},
    });
    expect([response.status, response.headers.get('Content-Type'), response.body.details.length]).toEqual([
      400,
      problem,
      2,
    ]);
  });

  test.each([
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;charset="UTF-8"', 201],
    ['application/json; charset=utf8', 201],
    ['application/json; charset=iso-8859-1', 415],
    ['text/json', 415],
    ['application/vnd.api+json', 415],
    ['application/merge-patch+json', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['', 415],
  ])('a body of type %j is answered %d', async (type, status) => {
    const headers = { 'Content-Type': type };
    const body = JSON.stringify({ name: 'Lamp', price: 1 });
    await play(service, {
      name: type,
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      headers,
      body,
      status,
    });
  });

  test.each([
    ['identity', 201],
    ['', 201],
    ['Identity, identity', 201],
    [', identity ,', 201],
    ['identity, br', 415],
    ['utf-8', 415],
  ])('a body with Content-Encoding: %j is answered %d', async (coding, status) => {
    const headers = { 'Content-Type': json, 'Content-Encoding': coding };
    const body = JSON.stringify({ name: 'Lamp', price: 1 });
    await play(service, {
      name: coding,
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      headers,
      body,
      status,
    });
  });

  test('a compressed body is refused, and the response names the accepted coding', async () => {
    const headers = { 'Content-Type': json, 'Content-Encoding': 'gzip' };
    const body = Bun.gzipSync(JSON.stringify({ name: 'Lamp', price: 1 }));
    const response = await play(service, {
      name: 'gzip',
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      headers,
      body,
      status: 415,
    });
    expect(response.headers.get('Accept-Encoding')).toBe('identity');
  });
});

interface PublishedCase {
  readonly test: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly provided: readonly string[] | null;
  readonly expected?: string;
}

test('results for long headers are not cached: a thousand of them would be megabytes', () => {
  const cached = spyOn(LRUCache.prototype, 'set');
  const negotiate = createNegotiate();
  const results = [`${json};q=0.5`, `${json};q=0.5, ${'a/b, '.repeat(100)}*/*`].flatMap(accept => [
    negotiate.mediaType(accept, [json]),
    negotiate.mediaType(accept, [json]),
  ]);
  const codings = ['gzip', `gzip, ${'a, '.repeat(100)}*;q=0`].flatMap(accept => [
    negotiate.coding(accept),
    negotiate.coding(accept),
  ]);
  const keys = cached.mock.calls.map(([key]) => key);
  cached.mockRestore();
  expect(results).toEqual([json, json, json, json]);
  expect(codings).toEqual(['gzip', 'gzip', 'gzip', 'gzip']);
  expect(keys).toEqual([`${json} ${json};q=0.5`, 'gzip']);
});

const directory = conformance('negotiator-tests');
describe.skipIf(directory === undefined)('the published cases', () => {
  test('of media types', async () => {
    const cases = (await Bun.file(`${directory}/mediaType-cases.json`).json()) as PublishedCase[];
    const applicable = cases.filter(({ method, provided }) => method === 'mediaType' && provided !== null);
    expect(applicable.length).toBeGreaterThan(10);
    for (const { test: name, headers, provided, expected } of applicable) {
      const mediaType = createNegotiate().mediaType(headers.accept ?? null, provided ?? []);
      expect([name, mediaType]).toEqual([name, expected]);
    }
  });

  test('of content codings', async () => {
    const cases = (await Bun.file(`${directory}/encoding-cases.json`).json()) as PublishedCase[];
    // The offered codings are fixed, so a case can only show whether the chosen coding was allowed.
    const applicable = cases.filter(({ provided }) => provided === null);
    expect(applicable.length).toBeGreaterThan(5);
    for (const { test: name, headers } of applicable) {
      const header = headers['accept-encoding'];
      const coding = createNegotiate().coding(header ?? null);
      const refused = coding && new RegExp(`(^|[ ,])${coding};q=0(\\.0*)?($|[ ,])`).test(header ?? '');
      expect([name, refused ?? false]).toEqual([name, false]);
      const named = coding == null || header?.includes(coding) || header?.includes('*');
      expect([name, named]).toEqual([name, true]);
    }
  });
});
