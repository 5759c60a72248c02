/** Requests that no client library would send: bodies beyond the limit, wrong lengths, requests that never end. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { call } from '../../support/http/http.ts';
import { halfOpen, send, sendFirst } from '../../support/http/raw.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const mebibyte = 1024 * 1024;
const lamp = JSON.stringify({ name: 'Lamp', price: 1 });
/** Without these settings, the body of a report is not read. */
const stripe = { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_connections' };
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describeOnDatabases('connections on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind, stripe);
  });
  afterAll(() => service.stop());
  const head = (...headers: string[]) =>
    [
      'POST /v1/products HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${service.tokens.editor}`,
      'Content-Type: application/json',
      ...headers,
      '',
      '',
    ].join('\r\n');
  /** Expects a refusal, with a body, as the first thing that the service sends. */
  const isTooLarge = ({ status, text }: { status: number; text: string }) => {
    expect(status).toBe(413);
    const body = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    expect(body).toEqual({
      error: 'PAYLOAD_TOO_LARGE',
      message: expect.any(String),
      requestId: expect.any(String),
    });
    expect(text).toMatch(/^X-RateLimit-Remaining: \d+/im);
  };

  test.each([
    ['a body of known length', '/v1/auth/login', 'Content-Length: 1000', '{"email":'],
    ['a chunked body', '/v1/auth/login', 'Transfer-Encoding: chunked', chunk('{"email":')],
    ['a body that is signed', '/v1/webhooks/stripe', 'Content-Length: 1000', '{'],
    ['a patch', '/v1/products/1', 'Content-Length: 1000', '['],
  ])(
    'a client that disconnects while it sends %s is not a failure of the service',
    async (_, path, length, begun) => {
      const before = service.log().length;
      const method = path.includes('products') ? 'PATCH' : 'POST';
      const beginning = head(length).replace('POST /v1/products', `${method} ${path}`) + begun;
      await writesNothing(service, async () => {
        const close = await halfOpen(service.url, 3, beginning);
        // This response comes after those requests, so the service has begun to read their bodies.
        expect((await call(service, { path: '/health' })).status).toBe(200);
        close();
        const lines = () =>
          service
            .log()
            .slice(before)
            .filter(({ target }) => target === path);
        while (lines().length < 3) await new Promise(resolve => setImmediate(resolve));
        expect(lines().map(({ status, level }) => [status, level])).toEqual(Array(3).fill([499, 'info']));
      });
      expect(
        service
          .log()
          .slice(before)
          .filter(({ level }) => level === 'error'),
      ).toEqual([]);
      const { text } = await call(service, { path: '/metrics', headers: { Accept: 'text/plain' } });
      expect(text).not.toMatch(/^catalog_http_requests_total.*status="5/m);
      expect(text).toMatch(/^catalog_http_requests_total.*status="499"} \d/m);
    },
  );

  test('a body that declares 20 MB is refused before it is sent', () =>
    writesNothing(service, async () =>
      isTooLarge(await send(service.url, [head(`Content-Length: ${20 * mebibyte}`)])),
    ));

  test('a body that needs no credentials is refused before it is sent if it is longer than any token', () =>
    writesNothing(service, async () => {
      const post = (path: string, length: number, body = '') =>
        send(service.url, [
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
        ]);
      const paths = [
        'login',
        'refresh',
        'logout',
        'forgot-password',
        'password-reset',
        'verify',
        'restore-address',
      ];
      for (const refused of await Promise.all(paths.map(path => post(`/v1/auth/${path}`, 32_769))))
        isTooLarge(refused);
      const escaped = JSON.stringify({ refreshToken: '' }).replace('""', `"${'\\u0041'.repeat(4096)}"`);
      const { status } = await post('/v1/auth/logout', 32_768, escaped.padEnd(32_768));
      expect(status).toBe(204);
    }));

  test('a body of 20 MB is refused with a response that has a body', () =>
    writesNothing(service, async () => {
      const body = JSON.stringify({ name: 'Lamp', price: 1, description: 'x'.repeat(20 * mebibyte) });
      const parts = [head(`Content-Length: ${Buffer.byteLength(body)}`), body];
      isTooLarge(await send(service.url, parts));
    }));

  test('a chunked body beyond the limit is refused', () =>
    writesNothing(service, async () => {
      const parts = [
        head('Transfer-Encoding: chunked'),
        ...Array(20).fill(chunk('x'.repeat(100_000))),
        '0\r\n\r\n',
      ];
      isTooLarge(await send(service.url, parts));
    }));

  test('a chunked body of exactly the limit is read whole, whatever the size of its chunks', async () => {
    const body = lamp.padEnd(mebibyte);
    const begin = head('Transfer-Encoding: chunked', 'Connection: close');
    for (const sizes of [[1, 7], [65_536], [mebibyte]]) {
      let chunks = '';
      for (let at = 0, index = 0; at < body.length; index++) {
        // Chunks of a few bytes at the beginning are enough for the buffer to grow under them.
        const size = at < 40_000 ? (sizes[index % sizes.length] ?? 1) : 100_000;
        chunks += chunk(body.slice(at, at + size));
        at += size;
      }
      const sent = await send(service.url, [begin, `${chunks}0\r\n\r\n`]);
      expect([sizes, sent.status]).toEqual([sizes, 201]);
      await writesNothing(service, async () =>
        isTooLarge(await send(service.url, [begin, `${chunks}${chunk(' ')}0\r\n\r\n`])),
      );
    }
  });

  /** Node's clients, and a client that writes everything before it reads. */
  const clients: [name: string, post: (body: Uint8Array<ArrayBuffer>) => Promise<number>][] = [
    ['fetch of Node', body => fromNode('fetch', body)],
    ['http of Node', body => fromNode('http', body)],
    ['http of Node, in chunks', body => fromNode('chunked', body)],
    [
      'a client that writes before it reads',
      async body => (await sendFirst(service.url, head(`Content-Length: ${body.length}`), body)).status,
    ],
  ];
  async function fromNode(client: string, { length }: Uint8Array): Promise<number> {
    const program = join(import.meta.dir, '../../support/http/post-large.mjs');
    const child = Bun.spawn([
      'node',
      program,
      client,
      `${service.url}/v1/products`,
      String(length),
      service.tokens.editor,
    ]);
    await child.exited;
    return Number(await child.stdout.text());
  }
  // The database plays no part here, and the client of Node's http takes as long as the service allows.
  test.skipIf(kind === 'postgresql').each(clients)(
    'a body of 3 to 20 MB is refused with 413, not with a reset: %s',
    (_, post) =>
      writesNothing(service, async () => {
        for (const megabytes of [3, 10, 20])
          expect([megabytes, await post(new Uint8Array(megabytes * mebibyte).fill(0x20))]).toEqual([
            megabytes,
            413,
          ]);
      }),
  );

  test('a body of exactly the limit is read, one byte more is not', async () => {
    const padded = (size: number) => `${lamp}${' '.repeat(size - lamp.length)}`;
    const request = (size: number) =>
      call(service, {
        method: 'POST',
        path: '/v1/products',
        as: 'editor',
        headers: { 'Content-Type': 'application/json' },
        body: padded(size),
      });
    expect((await request(mebibyte)).status).toBe(201);
    expect((await request(mebibyte + 1)).status).toBe(413);
    // The same for a body whose length is known only at its end.
    const sent = (...sizes: number[]) => {
      const total = sizes.reduce((sum, size) => sum + size, 0);
      const text = padded(total);
      const ends = sizes.map((_, index) => sizes.slice(0, index + 1).reduce((sum, size) => sum + size, 0));
      const chunks = ends.map((end, index) => chunk(text.slice(ends[index - 1] ?? 0, end)));
      return send(service.url, [head('Transfer-Encoding: chunked'), ...chunks, '0\r\n\r\n']);
    };
    expect((await sent(mebibyte)).status).toBe(201);
    expect((await sent(mebibyte - 100, 100)).status).toBe(201);
    await writesNothing(service, async () => {
      expect((await sent(mebibyte + 1)).status).toBe(413);
      expect((await sent(mebibyte, 1)).status).toBe(413);
    });
    const parts = [
      head('Transfer-Encoding: chunked'),
      chunk(lamp.slice(0, 10)),
      chunk(lamp.slice(10)),
      '0\r\n\r\n',
    ];
    expect((await send(service.url, parts)).status).toBe(201);
  });

  test('a body cut off before its length writes nothing', () =>
    writesNothing(service, async () => {
      const { status } = await send(service.url, [head('Content-Length: 500'), lamp], true);
      expect(status === 0 || status === 400).toBe(true);
    }));

  test('a chunked body cut off writes nothing', () =>
    writesNothing(service, async () => {
      const { status } = await send(service.url, [head('Transfer-Encoding: chunked'), chunk(lamp)], true);
      expect(status === 0 || status === 400).toBe(true);
    }));

  test('a Content-Length that is sent twice is accepted', async () => {
    const twice = `Content-Length: ${lamp.length}`;
    expect((await send(service.url, [head(twice, twice), lamp])).status).toBe(201);
  });

  test('a pipelined request loses no write silently', async () => {
    const sent = `${head(`Content-Length: ${lamp.length}`, 'Idempotency-Key: pipelined')}${lamp}`;
    const { text } = await send(
      service.url,
      [`${sent}GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n`],
      true,
    );
    // Bun closes the connection after sending either nothing or the whole response (docs/bun-reports.md).
    expect(['', '201']).toContain(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? '');
    let again = await send(service.url, [sent]);
    // The first request is still being processed.
    while (again.status === 409) again = await send(service.url, [sent]);
    expect(again.status).toBe(201);
    expect(again.text).toContain('"name":"Lamp"');
  });

  test.each([
    ['no number', ['Content-Length: ten']],
    ['negative', ['Content-Length: -1']],
    ['two that differ', ['Content-Length: 29', 'Content-Length: 5']],
    ['beside Transfer-Encoding', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['too large for any integer', [`Content-Length: ${'9'.repeat(40)}`]],
  ])('a length that is %s is refused and writes nothing', (_, headers) =>
    writesNothing(service, async () => {
      const { status } = await send(service.url, [head(...headers), lamp], true);
      expect(status === 0 || (status >= 400 && status < 500)).toBe(true);
    }),
  );

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n'],
    ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a header of 200 kB', `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(200_000)}\r\n\r\n`],
  ])('%s gets a 4xx or no response, and the service still responds', async (_, request) => {
    const { status } = await send(service.url, [request], true);
    expect(status === 0 || (status >= 400 && status < 500)).toBe(true);
    expect((await call(service, { path: '/health' })).status).toBe(200);
  });

  test('unfinished requests do not delay other clients', async () => {
    const close = await halfOpen(service.url, 100, head('Content-Length: 100'));
    const closeHeads = await halfOpen(service.url, 100, 'GET /v1/products HTTP/1.1\r\nHost: x\r\n');
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => call(service, { path: '/v1/me', as: 'user' })),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    close();
    closeHeads();
    expect((await call(service, { path: '/ready' })).status).toBe(200);
  });
});
