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

/** A service in a program of its own with few open files. */
async function startLimited() {
  const place = await createCatalog('sqlite', { HOST: '127.0.0.1', ...account });
  const service = place.start(['serve', '--port', '0'], limited);
  const [, url = ''] = await waitFor(service.stderr, /ready at (http:\S+)/);
  const send = createClient(url, await signIn(url, account.ADMIN_EMAIL, account.ADMIN_PASSWORD));
  const countFiles = () => readdirSync(`/proc/${service.pid}/fd`).length;
  return {
    send,
    /** @returns the id of the invoice of an order for a product with this name */
    async invoice(name: string) {
      const { id: product } = await send('POST', '/v1/products', { name, price: 5 });
      const { id: user } = await send('GET', '/v1/me');
      const order = { items: [{ productId: Number(product), quantity: 1 }] };
      const { id: placed } = await send('POST', `/v1/users/${user}/orders`, order);
      expect((await send('POST', `/v1/orders/${placed}/payment`)).status).toBe(200);
      return (await send('GET', '/v1/invoices?sort=id&order=desc')).id;
    },
    /** @returns a function that closes the connections */
    async exhaust() {
      const close = await halfOpen(url, maxFiles, 'GET /health');
      while (countFiles() < maxFiles) await send('GET', '/ready');
      return async () => {
        close();
        while (countFiles() > maxFiles / 2) await send('GET', '/ready');
      };
    },
    async stop() {
      service.kill('SIGTERM');
      expect(await service.exited).toBe(0);
      place.remove();
    },
  };
}

const isMeasurable = existsSync('/proc/self/fd');

test.skipIf(!isMeasurable)(
  'connections up to the limit of open files',
  async () => {
    const { send, exhaust, invoice: create, stop } = await startLimited();
    const invoice = await create('Lamp');
    expect((await send('GET', '/metrics')).status).toBe(200);

    const close = await exhaust();
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

    await close();
    expect(await send('GET', `/v1/invoices/${invoice}`)).toMatchObject({
      status: 200,
      text: expect.stringContaining('%PDF'),
    });
    expect((await send('GET', '/v1/search?q=candle')).text).toContain('Candle');
    expect((await send('GET', '/docs/reader.css')).status).toBe(200);
    await stop();
  },
  60_000,
);

test.skipIf(!isMeasurable)(
  'a font that could not be read for lack of open files is read for the next PDF',
  async () => {
    const { send, exhaust, invoice, stop } = await startLimited();
    // The characters of the two are in different files.
    const [first, second] = [await invoice('ランプ'), await invoice('東京')];
    expect((await send('GET', `/v1/invoices/${first}`)).status).toBe(200);
    const close = await exhaust();
    expect((await send('GET', `/v1/invoices/${second}`)).status).toBe(500);
    await close();
    expect((await send('GET', `/v1/invoices/${second}`)).status).toBe(200);
    await stop();
  },
  60_000,
);
