/** What no client library would send: bodies beyond the limit, lengths that lie, requests that never end. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writesNothing } from '../support/contents.ts';
import { call } from '../support/http.ts';
import { halfOpen, send } from '../support/raw.ts';
import { databaseKinds, startTestService, type TestService } from '../support/service.ts';

const mebibyte = 1024 * 1024;
const lamp = JSON.stringify({ name: 'Lamp', price: 1 });
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe.each([...databaseKinds])('connections on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
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
  /** A refusal is written before anything else, and with a body. */
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

  test('a body that declares 20 MB is refused before it is sent', () =>
    writesNothing(service, async () =>
      isTooLarge(await send(service.url, [head(`Content-Length: ${20 * mebibyte}`)])),
    ));

  test('a body of 20 MB is refused with an answer that has a body', () =>
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
  ])('%s does no harm', async (_, request) => {
    const { status } = await send(service.url, [request], true);
    expect(status === 0 || (status >= 400 && status < 500)).toBe(true);
    expect((await call(service, { path: '/health' })).status).toBe(200);
  });

  test('requests that are begun and not ended keep nobody else waiting', async () => {
    const close = await halfOpen(service.url, 100, head('Content-Length: 100'));
    const closeHeads = await halfOpen(service.url, 100, 'GET /v1/products HTTP/1.1\r\nHost: x\r\n');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call(service, { path: '/v1/me', as: 'user' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    close();
    closeHeads();
    expect((await call(service, { path: '/ready' })).status).toBe(200);
  });
});
