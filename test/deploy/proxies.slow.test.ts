/** The proxies of deploy/proxy/, with their configurations, in front of the service. Tests those that are installed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { readHead, send } from '../support/http/raw.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
const proxies: [
  program: string,
  file: string,
  args: (file: string, folder: string, port: number) => string[],
][] = [
  [
    'nginx',
    'nginx.conf',
    (file, folder) => ['-c', file, '-p', folder, '-g', `daemon off; pid ${folder}/pid;`],
  ],
  ['haproxy', 'haproxy.cfg', file => ['-db', '-f', file]],
  [
    'varnishd',
    'varnish.vcl',
    (file, folder, port) => [
      '-F',
      '-f',
      file,
      '-a',
      `127.0.0.1:${port}`,
      '-n',
      folder,
      '-p',
      'http_gzip_support=off',
      '-p',
      'backend_idle_timeout=25',
      '-j',
      'none',
    ],
  ],
  ['caddy', 'Caddyfile', file => ['run', '--adapter', 'caddyfile', '--config', file]],
];

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
  });
  return promise;
}

for (const [program, file, args] of proxies) {
  const binary = Bun.which(program, { PATH });
  if (binary === null) console.log(`skip: ${program} is not installed, so deploy/proxy/${file} is not tried`);
  describe.skipIf(binary === null)(`behind ${program}`, () => {
    let service: TestService;
    let proxy: ReturnType<typeof Bun.spawn>;
    let url: string;
    const folder = mkdtempSync(join(tmpdir(), 'catalog-proxy-'));
    beforeAll(async () => {
      service = await startTestService('sqlite', { TRUST_PROXY: 'true' });
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      const written = await Bun.file(join(import.meta.dir, '../../deploy/proxy', file)).text();
      const own = new URL(service.url).port;
      const configured = written
        .replaceAll('127.0.0.1:3000', `127.0.0.1:${own}`)
        .replace('.port = "3000"', `.port = "${own}"`)
        .replace('listen 8080', `listen 127.0.0.1:${port}`)
        .replace('127.0.0.1:8080', `127.0.0.1:${port}`);
      const path = join(folder, file);
      await Bun.write(path, configured);
      const options = { stdout: 'ignore', stderr: 'ignore', env: { ...process.env, HOME: folder } } as const;
      proxy = Bun.spawn([binary ?? '', ...args(path, folder, port)], options);
      const until = performance.now() + 15_000;
      while ((await fetch(`${url}/health`).catch(() => undefined))?.status !== 200) {
        if (performance.now() > until) throw new Error(`${program} does not answer`);
        await Bun.sleep(50);
      }
    });
    afterAll(async () => {
      proxy.kill();
      await proxy.exited;
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const editor = () => ({
      Authorization: `Bearer ${service.tokens.editor}`,
      'Content-Type': 'application/json',
    });
    const post = (body: object) =>
      fetch(`${url}/v1/products`, { method: 'POST', headers: editor(), body: JSON.stringify(body) });

    test.each([
      ['small', 300],
      ['large', 5000],
    ])('the entity tag of a %s response works for 304 and If-Match in every coding', async (_, length) => {
      const made = await post({ name: 'Lamp', price: 1, description: 'x'.repeat(length) });
      expect(made.status).toBe(201);
      const location = made.headers.get('Location') ?? '';
      expect(location).toStartWith(`${url}/v1/products/`);
      for (const coding of ['gzip', 'br', 'identity']) {
        const headers = { ...editor(), 'Accept-Encoding': coding };
        const read = await fetch(location, { headers });
        const etag = read.headers.get('ETag') ?? '';
        expect([coding, read.status, etag]).toEqual([coding, 200, expect.stringMatching(/^"[^"]+"$/)]);
        const again = await fetch(location, { headers: { ...headers, 'If-None-Match': etag } });
        expect([coding, again.status, again.headers.get('ETag')]).toEqual([coding, 304, etag]);
        const change = { method: 'PATCH', headers: { ...headers, 'If-Match': etag } };
        const statuses = [];
        for (const price of [2, 3])
          statuses.push(
            (await fetch(location, { ...change, body: `{"price":${price},"tags":["${coding}"]}` })).status,
          );
        expect([coding, ...statuses]).toEqual([coding, 200, 412]);
      }
    });

    test('a client that names no coding gets the same entity tag with GET, HEAD and 304', async () => {
      const made = await post({ name: 'Lamp', price: 1, description: 'x'.repeat(5000) });
      const { pathname } = new URL(made.headers.get('Location') ?? '');
      const read = async (method: string, more = '') => {
        const lines = [
          `${method} ${pathname} HTTP/1.1`,
          `Host: ${new URL(url).host}`,
          `Authorization: ${editor().Authorization}`,
        ];
        const { status, text } = await send(url, [
          `${lines.join('\r\n')}\r\n${more}Connection: close\r\n\r\n`,
        ]);
        return [status, /^etag: *(.*)\r$/im.exec(text)?.[1]];
      };
      const [status, etag] = await read('GET');
      expect([status, etag]).toEqual([200, expect.stringMatching(/^"[0-9a-f.]+"$/)]);
      expect(await read('HEAD')).toEqual([200, etag]);
      expect(await read('GET', `If-None-Match: ${etag}\r\n`)).toEqual([304, etag]);
    });

    test('forged X-Forwarded headers change neither links nor the logged caller', async () => {
      const forged = {
        'X-Forwarded-For': '203.0.113.9',
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'https',
      };
      const page = await fetch(`${url}/v1/products?perPage=1`, { headers: { ...editor(), ...forged } });
      expect(((await page.json()) as { links: { first: string } }).links.first).toStartWith(`${url}/v1/`);
      await fetch(`${url}/v1/products`, { headers: forged });
      expect(service.log().at(-1)?.caller).toBe('ip:127.0.0.1');
    });

    test('the proxy refuses requests that Bun answers badly', async () => {
      const { host } = new URL(url);
      const unknown = await send(url, [
        `FOO /v1/products HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      ]);
      expect([405, 501]).toContain(unknown.status);
      const two = await send(url, [
        `GET /v1/me HTTP/1.1\r\nHost: ${host}\r\nHost: x\r\nConnection: close\r\n\r\n`,
      ]);
      expect(two.status).toBe(400);
    });

    test('a client gets 100 (Continue) however it writes its expectation', async () => {
      const { host } = new URL(url);
      const head = Object.entries({ ...editor(), Host: host, Expect: '100-Continue', 'Content-Length': '2' });
      const lines = head.map(([name, value]) => `${name}: ${value}`);
      const { status, disconnect } = await readHead(
        url,
        `POST /v1/products HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`,
      );
      disconnect();
      expect(status).toBe(100);
    });

    // The other proxies do not poll on their own.
    test.skipIf(program !== 'haproxy')('/ready is polled at least once per STOP_DELAY', async () => {
      const requested = () => service.log().filter(({ target }) => target === '/ready').length;
      const [before, begun] = [requested(), performance.now()];
      const { STOP_DELAY } = loadConfig({});
      while (requested() < before + 3 && performance.now() < begun + 3000 * STOP_DELAY) await Bun.sleep(20);
      expect(requested()).toBeGreaterThanOrEqual(before + 3);
    });

    // The other proxies pass trailers on: docs/operation.md.
    test.skipIf(program !== 'nginx' && program !== 'caddy')(
      'the proxy leaves out trailers of a chunked body',
      async () => {
        const { host } = new URL(url);
        const body = JSON.stringify({ name: 'Lamp', price: 1 });
        const head = [
          'POST /v1/products HTTP/1.1',
          `Host: ${host}`,
          ...Object.entries(editor()).map(([n, v]) => `${n}: ${v}`),
        ];
        const chunked = `${head.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Trailer: 1\r\n\r\n`;
        const trailed = await send(url, [chunked]);
        expect([trailed.status, trailed.text.match(/HTTP\/1\.1 \d{3}/g)?.length]).toEqual([201, 1]);
      },
    );
  });
}
