/** Clients that begin long requests and do not complete them are limited; others, and short requests, are not. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** The bytes of an upload, and those that are sent of it. */
const [declared, sent] = [19_000_000, 4_100_000];
/** More than 128 MiB of what has been sent, which is what one caller may leave unfinished. */
const count = 40;

describe('requests that nobody completes', () => {
  let service: TestService;
  let product: Product;
  beforeAll(async () => {
    service = await startTestService('sqlite');
    product = await addProduct(service);
  });
  afterAll(() => service.stop());

  test.each([
    ['of a declared length', `Content-Length: ${declared}`, ''],
    ['in chunks', 'Transfer-Encoding: chunked', `${declared.toString(16)}\r\n`],
  ])('are limited for each caller: %s', async (_, header, prefix) => {
    const { hostname, port } = new URL(service.url);
    const part = Buffer.alloc(sent);
    const begin = (): Promise<Socket> => {
      const { promise, resolve } = Promise.withResolvers<Socket>();
      const socket = connect(Number(port), hostname, () => {
        const lines = [
          `POST ${pathOf(product)}/images HTTP/1.1`,
          'Host: localhost',
          `Authorization: Bearer ${service.tokens.editor}`,
          'Content-Type: image/png',
          header,
        ];
        socket.write(`${lines.join('\r\n')}\r\n\r\n${prefix}`);
        socket.write(part, () => resolve(socket));
      });
      // A connection whose request was refused is closed.
      socket.on('error', () => resolve(socket));
      return promise;
    };
    const upload = (as: 'editor' | 'admin', length: number) =>
      call(service, {
        method: 'POST',
        path: `${pathOf(product)}/images`,
        as,
        headers: { 'Content-Type': 'image/png' },
        body: Buffer.alloc(length),
      });
    const unfinished: Socket[] = [];
    for (let index = 0; index < count; index++) unfinished.push(await begin());
    let refused = await upload('editor', declared);
    while (refused.status === 415) refused = await upload('editor', declared);
    expect([refused.status, refused.body.error]).toEqual([429, 'RATE_LIMITED']);
    expect(refused.body.message).toMatch(
      /^1[12]\d MiB of earlier requests of yours are still being received/,
    );
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await upload('admin', declared)).status).toBe(415);
    expect((await upload('editor', 200_000)).status).toBe(415);
    for (const socket of unfinished) socket.destroy();
    let accepted = await upload('editor', declared);
    while (accepted.status === 429) accepted = await upload('editor', declared);
    expect(accepted.status).toBe(415);
  });
});
