/** Requests in forms that only attackers use: where HTTP leaves the choice to servers, and what must be refused. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { type RawResponse, send } from '../../support/http/raw.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const lamp = JSON.stringify({ name: 'Lamp', price: 1 });
const chunked = `${lamp.length.toString(16)}\r\n${lamp}\r\n0\r\n\r\n`;
/** Text that a smuggler wants the service to treat as a separate request. */
const smuggled = 'GET /v1/keys HTTP/1.1\r\nHost: x\r\nX-Request-ID: smuggled\r\n\r\n';

const responsesIn = ({ text }: RawResponse) => text.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0;
const bodyOf = ({ text }: RawResponse) => JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4));

describeOnDatabases('unusual messages on %s', kind => {
  let service: TestService;
  let trusting: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    trusting = await service.replica({ TRUST_PROXY: 'true' });
  });
  afterAll(() => service.stop());
  const raw = (line: string, headers: readonly string[] = ['Host: shop.example'], body = '') =>
    send(service.url, [[line, ...headers, 'Connection: close', '', body].join('\r\n')]);
  const editor = () => `Authorization: Bearer ${service.tokens.editor}`;

  test.each([
    ['both lengths', ['Content-Length: 5', 'Transfer-Encoding: chunked'], chunked],
    ['both lengths, the other way round', ['Transfer-Encoding: chunked', 'Content-Length: 5'], chunked],
    ['two lengths', [`Content-Length: ${lamp.length}`, 'Content-Length: 5'], lamp],
    ['a list of lengths', [`Content-Length: ${lamp.length}, ${lamp.length}`], lamp],
    ['a length with a sign', [`Content-Length: +${lamp.length}`], lamp],
    ['a length in hexadecimal', [`Content-Length: 0x${lamp.length.toString(16)}`], lamp],
    ['a coding like chunked', ['Transfer-Encoding: xchunked'], chunked],
    ['a coding after chunked', ['Transfer-Encoding: chunked, identity'], chunked],
    ['a coding before chunked', ['Transfer-Encoding: gzip, chunked'], chunked],
    ['two Transfer-Encodings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], chunked],
    ['a space before the colon', ['Transfer-Encoding : chunked'], chunked],
    ['a folded header', ['Transfer-Encoding:', ' chunked'], chunked],
    ['a chunk of no size', ['Transfer-Encoding: chunked'], `zz\r\n${lamp}\r\n0\r\n\r\n`],
    ['a chunk of negative size', ['Transfer-Encoding: chunked'], `-1d\r\n${lamp}\r\n0\r\n\r\n`],
    ['a chunk beyond any size', ['Transfer-Encoding: chunked'], `${'f'.repeat(20)}\r\n${lamp}\r\n0\r\n\r\n`],
  ])('%s: refused without a write, and the bytes after it are not read as a request', (_, headers, body) =>
    writesNothing(service, async () => {
      const own = ['Host: x', editor(), 'Content-Type: application/json', ...headers];
      const response = await raw('POST /v1/products HTTP/1.1', own, `${body}${smuggled}`);
      expect([response.status, responsesIn(response)]).toEqual([400, 1]);
      expect(response.text).not.toContain('smuggled');
    }),
  );

  test('the body of a GET is not taken for the next request', async () => {
    const headers = ['Host: x', `Content-Length: ${smuggled.length}`];
    const response = await raw('GET /health HTTP/1.1', headers, smuggled);
    expect([response.status, responsesIn(response)]).toEqual([200, 1]);
    expect(response.text).not.toContain('smuggled');
  });

  test.each([
    ...['evil.example/x', 'user:password@evil.example', 'a b', '"><script>', 'a?b', 'a#b', 'a\\b'],
    ...['[::1', 'a:b', 'a:+1', 'a:99999', '::1', '[a', 'a]'],
  ])('Host: %s is refused with 400', host =>
    writesNothing(service, async () => {
      for (const target of ['/', '/v1/products']) {
        const response = await raw(`GET ${target} HTTP/1.1`, [`Host: ${host}`, editor()]);
        expect([target, response.status, bodyOf(response).error]).toEqual([target, 400, 'INVALID_HOST']);
      }
      for (const line of ['GET /v1/nothing', 'OPTIONS /v1/products', 'GET /nothing']) {
        const response = await raw(`${line} HTTP/1.1`, [`Host: ${host}`]);
        expect([line, response.status, bodyOf(response).error]).toEqual([line, 400, 'INVALID_HOST']);
      }
    }),
  );

  test.each([
    [['Host: a.example', 'Host: b.example']],
    [['Host: a.example', 'host: a.example']],
    [['Host: a.example', 'Host:']],
    [['Host:', 'Host: a.example']],
  ])('two hosts, %j, are refused with 400', hosts =>
    writesNothing(service, async () => {
      for (const line of ['GET /v1/me', 'OPTIONS /v1/me', 'GET /v1/nothing', 'GET /', 'POST /v1/products']) {
        const response = await raw(
          `${line} HTTP/1.1`,
          [...hosts, editor(), 'Content-Type: application/json'],
          lamp,
        );
        expect([line, response.status, bodyOf(response).error]).toEqual([line, 400, 'INVALID_HOST']);
        expect(response.text).toMatch(/^X-RateLimit-Remaining: \d+/im);
      }
    }),
  );

  test('a PUT of a part of a resource is refused, since it would replace the whole', async () => {
    const { id } = await addProduct(service);
    await writesNothing(service, async () => {
      for (const range of [`bytes 0-${lamp.length - 1}/400`, 'bytes 0-4/*', 'items 1-2/3']) {
        const headers = ['Host: x', editor(), 'Content-Type: application/json', `Content-Range: ${range}`];
        const own = [...headers, `Content-Length: ${lamp.length}`];
        const response = await raw(`PUT /v1/products/${id} HTTP/1.1`, own, lamp);
        expect([range, response.status]).toEqual([range, 400]);
        expect(bodyOf(response).details[0]).toMatchObject({ field: 'Content-Range', code: 'unsupported' });
      }
    });
  });

  test('a request without a host gets links to the service itself', async () => {
    const local = `http://localhost:${new URL(service.url).port}`;
    for (const [version, headers] of [
      ['1.0', []],
      ['1.1', ['Host:']],
    ] as const) {
      const index = await raw(`GET / HTTP/${version}`, headers);
      expect([version, index.status, bodyOf(index).links.v1]).toEqual([
        version,
        200,
        `${local}/openapi.json`,
      ]);
      const page = await raw(`GET /v1/products?page=1 HTTP/${version}`, [...headers, editor()]);
      expect(bodyOf(page).links.first).toBe(`${local}/v1/products?page=1`);
      const unencoded = await raw(`GET /v1/products?name=ä😀 HTTP/${version}`, [...headers, editor()]);
      expect(bodyOf(unencoded).links.first).toBe(`${local}/v1/products?name=%C3%A4%F0%9F%98%80&page=1`);
      const unknown = await raw(`GET /v1/nothing HTTP/${version}`, headers);
      expect([version, unknown.status]).toEqual([version, 404]);
    }
    expect((await raw('GET / HTTP/1.1', [])).status).toBe(400);
    await using replica = await service.replica({ BASE_URL: 'https://shop.example' });
    const response = await send(replica.url, ['GET / HTTP/1.0\r\n\r\n']);
    expect(bodyOf(response).links.v1).toBe('https://shop.example/openapi.json');
  });

  test.each([
    [{ 'X-Forwarded-Host': 'shop.example', 'X-Forwarded-Proto': 'https' }, 'https://shop.example'],
    [{ 'X-Forwarded-Host': 'shop.example:8443' }, 'http://shop.example:8443'],
    [{ 'X-Forwarded-Proto': 'https' }, 'https://inner.example'],
    [
      { 'X-Forwarded-Host': 'forged.example, shop.example', 'X-Forwarded-Proto': 'http,https' },
      'https://shop.example',
    ],
    [{ 'X-Forwarded-Host': 'my_shop:8080', 'X-Forwarded-Proto': 'https' }, 'https://my_shop:8080'],
    [{ 'X-Forwarded-Host': '[2001:db8::1]:8443' }, 'http://[2001:db8::1]:8443'],
    [{ 'X-Forwarded-Host': '::::', 'X-Forwarded-Proto': 'https' }, 'http://inner.example'],
    [{ 'X-Forwarded-Host': 'a:b:c' }, 'http://inner.example'],
    [{ 'X-Forwarded-Host': 'no host/', 'X-Forwarded-Proto': 'https' }, 'http://inner.example'],
  ])('behind a trusted proxy %j gives links to %s', async (forwarded, base) => {
    const headers = Object.entries(forwarded).map(([name, value]) => `${name}: ${value}\r\n`);
    const response = await send(trusting.url, [
      `GET / HTTP/1.1\r\nHost: inner.example\r\n${headers.join('')}\r\n`,
    ]);
    expect(bodyOf(response).links.v1).toBe(`${base}/openapi.json`);
  });

  test('the request target may be an absolute URL', async () => {
    const response = await raw('GET http://shop.example/v1/me HTTP/1.1', ['Host: shop.example', editor()]);
    expect([response.status, bodyOf(response).role]).toEqual([200, 'editor']);
  });

  test.each([
    ['TRACE /v1/products', 405],
    ['CONNECT /v1/products', 405],
    ['PROPFIND /v1/products', 405],
    ['QUERY /v1/products', 405],
    ['CONNECT shop.example:443', 404],
    ['TRACE /v1/nothing', 404],
  ])('%s is answered with %d, and echoes nothing', (line, status) =>
    writesNothing(service, async () => {
      const headers = ['Host: shop.example', editor(), 'Max-Forwards: 0'];
      const response = await raw(`${line} HTTP/1.1`, headers);
      expect(response.status).toBe(status);
      expect(response.text).not.toContain(service.tokens.editor);
      expect(response.text).toMatch(/^X-Request-ID: \S+/im);
      if (status === 405) expect(response.text).toMatch(/^Allow: GET, POST, PATCH, HEAD, OPTIONS\r$/im);
    }),
  );

  test('two Authorization headers are refused with 401', async () => {
    const both = [editor(), `Authorization: Bearer ${service.tokens.admin}`];
    for (const headers of [both, both.toReversed()]) {
      const response = await raw('GET /v1/me HTTP/1.1', ['Host: x', ...headers]);
      expect([response.status, bodyOf(response).error]).toEqual([401, 'UNAUTHORIZED']);
    }
  });

  test('a path with dot segments gets 404, encoded or not', async () => {
    for (const target of ['/health/../v1/me', '/v1/products/%2e%2e/me', '/docs/%2e%2e/v1/me', '/v1/./me']) {
      const response = await raw(`GET ${target} HTTP/1.1`, ['Host: x', editor()]);
      expect([target, response.status]).toEqual([target, 404]);
    }
  });

  test('Expect: 100-continue: the body is requested, unless it is too large already', async () => {
    const headers = (length: number) => [
      'Host: x',
      editor(),
      'Content-Type: application/json',
      'Expect: 100-continue',
      `Content-Length: ${length}`,
    ];
    const made = await raw('POST /v1/products HTTP/1.1', headers(lamp.length), lamp);
    expect(made.text).toMatch(/^HTTP\/1\.1 100 /);
    expect(made.text).toContain('HTTP/1.1 201 ');
    await writesNothing(service, async () => {
      const refused = await raw('POST /v1/products HTTP/1.1', headers(50_000_000));
      expect(refused.text).toContain('HTTP/1.1 413 ');
    });
  });

  test('Expect with capital letters, as Guzzle writes it: a body that comes without 100 (Continue) is read', async () => {
    const headers = ['Content-Type: application/json', 'Expect: 100-Continue', 'Connection: close'];
    const head = ['POST /v1/products HTTP/1.1', 'Host: x', editor(), ...headers];
    const first = [...head, `Content-Length: ${lamp.length}`, '', lamp.slice(0, 5)].join('\r\n');
    const made = await send(service.url, [first, lamp.slice(5)]);
    expect([made.status, responsesIn(made)]).toEqual([201, 1]);
  });
});
