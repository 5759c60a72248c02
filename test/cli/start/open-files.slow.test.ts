/** A limit of open files that clients exhaust by opening connections: the service keeps running, and says 503. */
import { expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { halfOpen } from '../../support/http/raw.ts';
import { signIn } from '../../support/service/service.ts';
import { createCatalog, waitFor } from '../program.ts';

const maxFiles = 200;
const limited = ['sh', '-c', `ulimit -n ${maxFiles}; exec "$@"`, 'sh'];
const account = { ADMIN_EMAIL: 'a@shop.example', ADMIN_PASSWORD: 'correct-horse-9' };

/** Sends requests one after the other, which share a connection. */
const createClient = (url: string, token: string) => async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: path.startsWith('/v1/invoices/') ? 'application/pdf' : '*/*',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, id: /"id":(\d+)/.exec(text)?.[1] };
};

test.skipIf(!existsSync('/proc/self/fd'))(
  'connections up to the limit of open files',
  async () => {
    const place = await createCatalog('sqlite', { HOST: '127.0.0.1', ...account });
    const service = place.start(['serve', '--port', '0'], limited);
    const [, url = ''] = await waitFor(service.stderr, /ready at (http:\S+)/);
    const send = createClient(url, await signIn(url, account.ADMIN_EMAIL, account.ADMIN_PASSWORD));
    const { id: product } = await send('POST', '/v1/products', { name: 'Lamp', price: 5 });
    const { id: user } = await send('GET', '/v1/me');
    const order = { items: [{ productId: Number(product), quantity: 1 }] };
    const { id: placed } = await send('POST', `/v1/users/${user}/orders`, order);
    expect((await send('POST', `/v1/orders/${placed}/payment`)).status).toBe(200);
    const { id: invoice } = await send('GET', '/v1/invoices');
    expect((await send('GET', '/metrics')).status).toBe(200);

    const close = await halfOpen(url, maxFiles, 'GET /health');
    while (readdirSync(`/proc/${service.pid}/fd`).length < maxFiles) await send('GET', '/ready');
    // Each of these starts a thread.
    expect(await send('GET', `/v1/invoices/${invoice}`)).toMatchObject({
      status: 503,
      text: expect.stringContaining('SERVICE_BUSY'),
    });
    expect((await send('GET', '/v1/search?q=lamp')).status).toBe(503);
    expect(await send('GET', '/metrics')).toMatchObject({
      status: 200,
      text: expect.stringContaining('process_cpu_seconds_total'),
    });
    expect((await send('GET', '/docs/reader.css')).status).toBe(500);
    expect((await send('POST', '/v1/products', { name: 'Candle', price: 5 })).status).toBe(201);

    close();
    while (readdirSync(`/proc/${service.pid}/fd`).length > maxFiles / 2) await send('GET', '/ready');
    expect(await send('GET', `/v1/invoices/${invoice}`)).toMatchObject({
      status: 200,
      text: expect.stringContaining('%PDF'),
    });
    expect((await send('GET', '/v1/search?q=candle')).text).toContain('Candle');
    expect((await send('GET', '/docs/reader.css')).status).toBe(200);
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    place.remove();
  },
  60_000,
);
