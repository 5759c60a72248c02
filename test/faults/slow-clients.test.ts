/** Clients that are slow to send, slow to read or silent, and the others, who must notice nothing of them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { addProduct } from '../support/catalog.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Open files this process may have: both ends of each connection are in it, and half are left to everything else. */
const openFiles = Number(Bun.spawnSync(['sh', '-c', 'ulimit -n']).stdout.toString());
const idleConnections = Math.min(2000, Math.floor((openFiles || 1024) / 4));

interface Connection {
  readonly socket: Socket;
  /** Resolves with all that came once it holds `end`. @throws Error when the connection ends before */
  received(end: string): Promise<string>;
}

function open(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let text = '';
  let check = () => {};
  let fail = (error: Error) => reject(error);
  socket.on('data', chunk => {
    text += chunk.toString('latin1');
    check();
  });
  socket.on('error', error => fail(error));
  socket.on('close', () => fail(new Error(`the connection ended: ${text.slice(0, 200)}`)));
  socket.on('connect', () =>
    resolve({
      socket,
      received(end) {
        const waiting = Promise.withResolvers<string>();
        check = () => text.includes(end) && waiting.resolve(text);
        fail = waiting.reject;
        check();
        return waiting.promise;
      },
    }),
  );
  return promise;
}

describeOnDatabases('slow clients on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    await addProduct(service);
  });
  afterAll(() => service.stop());

  const post = (length: number) =>
    [
      'POST /v1/products HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${service.tokens.editor}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      ...['', ''],
    ].join('\r\n');
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.tokens.user}\r\n\r\n`;

  /** A write and a read of somebody else, from beginning to end. */
  async function othersAreServed(): Promise<void> {
    const made = await addProduct(service, { name: 'Meanwhile' });
    expect((await call(service, { path: `/v1/products/${made.id}`, as: 'user' })).status).toBe(200);
  }

  test('bodies that come byte by byte are read whole, and others are served between any two bytes', async () => {
    const body = JSON.stringify({ name: 'Slow', price: 1 });
    const slow = await Promise.all(Array.from({ length: 50 }, () => open(service.url)));
    for (const { socket } of slow) socket.write(post(body.length));
    for (const byte of body.slice(0, -1)) {
      for (const { socket } of slow) socket.write(byte);
      await othersAreServed();
    }
    for (const { socket } of slow) socket.write(body.slice(-1));
    for (const { socket, received } of slow) {
      expect(await received('"name":"Slow"')).toStartWith('HTTP/1.1 201 ');
      socket.destroy();
    }
  });

  test('an answer that is not read holds up nobody, and is whole when it is read', async () => {
    // Six bytes each in JSON: 6 MB a list, while the system buffers 4 MB for a connection that nobody reads.
    const description = '\u0001'.repeat(10_000);
    const products = 100;
    await Promise.all(
      Array.from({ length: products }, () => addProduct(service, { category: 'long', description })),
    );
    const slow = await Promise.all(Array.from({ length: 10 }, () => open(service.url)));
    for (const { socket } of slow) {
      socket.pause();
      socket.write(get(`/v1/products?category=long&perPage=${products}`));
    }
    for (let turn = 0; turn < 20; turn++) await othersAreServed();
    for (const { socket, received } of slow) {
      socket.resume();
      // The end of the envelope; the descriptions before it hold nothing like it.
      const text = await received(`"total":${products}`);
      expect(text).toStartWith('HTTP/1.1 200 ');
      expect(text.match(/"description":"[^"]{60000}"/g)).toHaveLength(products);
      socket.destroy();
    }
  });

  test(`${idleConnections} idle connections are kept, and others are served beside them`, async () => {
    const idle = await Promise.all(
      Array.from({ length: idleConnections }, async (_, index) => {
        const connection = await open(service.url);
        // Half have had an answer and half have said nothing yet.
        if (index % 2 === 0) {
          connection.socket.write(get('/health'));
          await connection.received('"ok"');
        }
        return connection;
      }),
    );
    for (let turn = 0; turn < 10; turn++) await othersAreServed();
    // Every one of them can still be used.
    await Promise.all(
      idle.map(async ({ socket, received }) => {
        socket.write(get('/v1/products/2147483647'));
        await received('"NOT_FOUND"');
        socket.destroy();
      }),
    );
    expect((await call(service, { path: '/ready' })).status).toBe(200);
  });
});
