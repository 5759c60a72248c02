/** Clients that send slowly, read slowly or are silent, and other clients, which must not notice them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { createPlace, type Place, type Running, waitFor } from '../cli/program.ts';
import { signIn } from '../support/data/sign-in.ts';
import { readHead } from '../support/http/raw.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { readNames } from './load.ts';
import { conclude, isShort, skipped } from './outcome.ts';

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
/** Between two chunks (RFC 9112 section 7.1). */
const chunkHead = /\r\n[0-9a-f]+\r\n/g;
/** The number of files this process may open; the service may open as many. */
const openFiles = Number(Bun.spawnSync(['sh', '-c', 'ulimit -n']).stdout.toString()) || 1024;
const wanted = isShort ? 500 : 8000;
const idleConnections = Math.min(wanted, Math.floor(openFiles * 0.8));
if (idleConnections < wanted)
  skipped(`${wanted - idleConnections} of ${wanted} idle connections`, `ulimit -n is ${openFiles}`);
/** Seconds after which the service closes a silent connection. */
const idleTimeout = 30;

interface Connection {
  readonly socket: Socket;
  /** Resolves with all received text once it contains `end`. @throws Error when the connection ends before */
  received(end: string): Promise<string>;
  readonly closed: Promise<void>;
}

function open(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const closed = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let text = '';
  let check = () => {};
  let fail = (error: Error) => reject(error);
  socket.on('data', chunk => {
    text += chunk.toString('latin1');
    check();
  });
  socket.on('error', error => fail(error));
  socket.on('close', () => {
    fail(new Error(`the connection ended: ${text.slice(0, 200)}`));
    closed.resolve();
  });
  socket.on('connect', () =>
    resolve({
      socket,
      closed: closed.promise,
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

const openMany = (url: string, count: number) => Promise.all(Array.from({ length: count }, () => open(url)));

describeOnDatabases('slow clients on %s', kind => {
  const database = kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  let place: Place;
  let child: Running;
  let url: string;
  let token: string;
  beforeAll(async () => {
    place = await createPlace(kind, {
      ...{ ...administrator, HOST: '127.0.0.1', RATE_LIMIT: '100000000', LOG_LEVEL: 'error' },
    });
    child = place.start(['serve', '--port', '0']);
    url = (await waitFor(child.stderr, /ready at (http:\S+)/))[1] ?? '';
    token = await signIn(url, administrator.ADMIN_EMAIL);
  });
  afterAll(async () => {
    child.kill('SIGKILL');
    await child.exited;
    place.remove();
  });

  const post = (length: number) =>
    [
      'POST /v1/products HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      ...['', ''],
    ].join('\r\n');
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;

  /** Other clients' work in the same time: a write and a read, and the conclusion about all of them. */
  function others(category: string) {
    const acknowledged: string[] = [];
    const broken: string[] = [];
    let serial = 0;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    return {
      acknowledged,
      broken,
      async create(fields: object = {}): Promise<void> {
        const name = `meanwhile ${++serial}`;
        const body = JSON.stringify({ name, price: 1, category, ...fields });
        // A kept connection may reach the end of its idle time while a test waits for others to be closed.
        const made = await fetch(`${url}/v1/products`, { method: 'POST', headers, body, keepalive: false });
        if (made.status !== 201) broken.push(`${name}: ${made.status}`);
        else acknowledged.push(name);
        const { id } = (await made.json()) as { id: number };
        const read = await fetch(`${url}/v1/products/${id}`, { headers });
        if (read.status !== 200) broken.push(`the read of ${name}: ${read.status}`);
      },
      async conclude(name: string, done: string): Promise<void> {
        const found = await readNames(url, token, category);
        conclude(
          { name, done, database, rounds: 1 },
          { acknowledged, found: found.names, broken: [...broken, ...found.broken] },
        );
      },
    };
  }

  test('requests that arrive a few bytes at a time are read completely, and others are served in between', async () => {
    const meanwhile = others('slow');
    const names = Array.from({ length: 50 }, (_, index) => `slow ${String(index).padStart(2, '0')}`);
    const slow = await openMany(url, names.length);
    const requests = names.map(name => {
      const body = JSON.stringify({ name, price: 1, category: 'slow' });
      return `${post(body.length)}${body}`;
    });
    const [whole = ''] = requests;
    for (let at = 0; at < whole.length - 1; ) {
      const step = at < whole.length / 3 ? 8 : 2;
      const next = Math.min(at + step, whole.length - 1);
      for (const [index, { socket }] of slow.entries()) socket.write(requests[index]?.slice(at, next) ?? '');
      at = next;
      await meanwhile.create();
    }
    for (const [index, { socket, received }] of slow.entries()) {
      socket.write(requests[index]?.slice(-1) ?? '');
      expect(await received(`"name":"${names[index]}"`)).toStartWith('HTTP/1.1 201 ');
      meanwhile.acknowledged.push(names[index] ?? '');
      socket.destroy();
    }
    await meanwhile.conclude('Slow headers and bodies', '50 clients send a few bytes at a time');
  });

  test('a response that is not read delays no other client, and is complete when it is read', async () => {
    const meanwhile = others('long');
    // Six bytes each in JSON: 6 MB for a list, while the system buffers 4 MB for a connection that no client reads.
    const description = '\u0001'.repeat(10_000);
    const products = 100;
    await Promise.all(Array.from({ length: products }, () => meanwhile.create({ description })));
    const slow = await openMany(url, 10);
    for (const { socket } of slow) {
      socket.pause();
      socket.write(get(`/v1/products?category=long&perPage=${products}`));
    }
    const beside = others('beside');
    for (let turn = 0; turn < 20; turn++) await beside.create();
    for (const { socket, received } of slow) {
      socket.resume();
      // The end of the envelope; the descriptions before it contain nothing similar.
      const text = (await received(`"total":${products}`)).replace(chunkHead, '');
      expect(text).toStartWith('HTTP/1.1 200 ');
      expect(text.match(/"description":"[^"]{60000}"/g)).toHaveLength(products);
      socket.destroy();
    }
    await beside.conclude('Slow readers', '10 clients do not read answers of 6 MB');
  });

  test('responses that nobody reads take a bounded part of memory, however many callers request them', async () => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const create = (path: string, body: object) =>
      fetch(`${url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const body = '\u0001'.repeat(100_000);
    for (let title = 0; title < 32; title++)
      expect((await create('articles', { title: `${title}`, body })).status).toBe(201);
    const statuses: number[] = [];
    const unread: (() => void)[] = [];
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) {
      const { key } = (await (await create('keys', { name, scopes: ['content:read'] })).json()) as {
        key: string;
      };
      const lines = ['GET /v1/articles?perPage=32 HTTP/1.1', 'Host: localhost', `X-API-Key: ${key}`, '', ''];
      for (let count = 0; count < 4; count++) {
        const { status, disconnect } = await readHead(url, lines.join('\r\n'));
        statuses.push(status);
        unread.push(disconnect);
      }
    }
    // 19 MB each, of which the system buffers 4: three to one caller. When three quarters of the room are taken, each
    // further caller gets one.
    const [first, later] = [
      [200, 200, 200, 429],
      [200, 503, 503, 503],
    ];
    expect(statuses).toEqual([first, first, first, later, later, later].flat());
    const meanwhile = others('unread');
    for (let turn = 0; turn < 10; turn++) await meanwhile.create();
    for (const disconnect of unread) disconnect();
    await meanwhile.conclude('Unread responses', '6 callers request 24 pages of 19 MB and read none');
  });

  test(`${idleConnections} idle connections are kept, and others are served beside them`, async () => {
    const meanwhile = others('idle');
    const idle: Connection[] = [];
    // The backlog of a listening socket has room for this many connections that are not yet accepted.
    while (idle.length < idleConnections)
      idle.push(...(await openMany(url, Math.min(250, idleConnections - idle.length))));
    await Promise.all(
      idle.map(async ({ socket, received }, index) => {
        // Half of the connections have had a response, and half have sent nothing yet.
        if (index % 2 === 1) return;
        socket.write(get('/health'));
        await received('"ok"');
      }),
    );
    for (let turn = 0; turn < 10; turn++) await meanwhile.create();
    // All of them can still be used.
    await Promise.all(
      idle.map(async ({ socket, received }) => {
        socket.write(get('/v1/products/2147483647'));
        await received('"NOT_FOUND"');
        socket.destroy();
      }),
    );
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    const done = `${idleConnections.toLocaleString('en')} connections, half of which have sent nothing yet`;
    await meanwhile.conclude('Idle connections', done);
  }, 120_000);

  test.skipIf(isShort)(
    'silent connections are closed, whatever they have begun to send',
    async () => {
      const beginnings = [
        '',
        'GET /health HT',
        `${get('/health').slice(0, -2)}X-Slow: `,
        `${post(100)}{"name":`,
      ];
      const silent = await openMany(url, beginnings.length);
      for (const [index, { socket }] of silent.entries()) socket.write(beginnings[index] ?? '');
      const start = performance.now();
      await Promise.all(silent.map(({ closed }) => closed));
      expect(performance.now() - start).toBeLessThan((idleTimeout + 15) * 1000);
    },
    (idleTimeout + 30) * 1000,
  );
});
