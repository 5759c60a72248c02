/**
 * Long work leaves turns of the event loop to other requests. The order of responses shows it: the tests share the loop
 * with the service, so a request that is answered during the work had a turn.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTurnQueue } from '../../../src/turns/index.ts';
import { call } from '../../support/http/http.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const large = 250;
const text = 'word of a long text '.repeat(450);

let service: TestService;
let ids: number[];
beforeAll(async () => {
  service = await startTestService('sqlite');
  const body = { name: 'Large', price: 1, category: 'large' };
  const made = Array.from({ length: large }, () =>
    call(service, { method: 'POST', path: '/v1/products', as: 'admin', body }),
  );
  ids = (await Promise.all(made)).map(({ body }) => body.id);
});
afterAll(() => service.stop());

/** The number of consecutive requests that are answered before the response to a long one. */
async function answeredDuring(long: Promise<Response>): Promise<number> {
  let isDone = false;
  const done = long.then(async response => {
    expect(response.status).toBe(200);
    await response.bytes();
    isDone = true;
  });
  let answered = 0;
  for (; !isDone; answered++) expect((await fetch(`${service.url}/health`)).status).toBe(200);
  await done;
  return answered - 1;
}

test('other requests are answered during a patch of many large products', async () => {
  const patch = fetch(`${service.url}/v1/products`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${service.tokens.admin}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ids, update: { description: text } }),
  });
  expect(await answeredDuring(patch)).toBeGreaterThan(5);
  const { body } = await call(service, { path: '/v1/products?category=large&perPage=100', as: 'admin' });
  const texts: string[] = body.data.map(({ description }: { description: string }) => description);
  expect([texts.length, new Set(texts)]).toEqual([100, new Set([text])]);
});

test('other requests are answered while the document is first created', async () => {
  const fresh = await startTestService('sqlite');
  const [first, second] = await Promise.all([
    answeredDuring(fetch(`${fresh.url}/openapi.json`)),
    fetch(`${fresh.url}/openapi.json`).then(response => response.text()),
  ]);
  expect(first).toBeGreaterThan(5);
  expect(await (await fetch(`${fresh.url}/openapi.json`)).text()).toBe(second);
  await fresh.stop();
});

test('in an ordered queue no caller passes a waiting one, even if there is time', async () => {
  const takeTurn = createTurnQueue({ isInOrder: true });
  const served: string[] = [];
  const enter = async (name: string) => {
    await takeTurn();
    served.push(name);
  };
  expect(takeTurn()).toBeUndefined();
  const end = performance.now() + 20;
  while (performance.now() < end);
  // More than a turn serves, although each takes hardly any time.
  const waiting = Array.from({ length: 200 }, (_, index) => `waiting ${index}`);
  const entered = waiting.map(enter);
  await new Promise(resolve => setImmediate(resolve));
  const some = served.length;
  entered.push(enter('late'));
  await Promise.all(entered);
  expect(some).toBeLessThan(waiting.length);
  expect(served).toEqual([...waiting, 'late']);
});

test('thousands of /health requests sent at once on one connection are not served in one turn', async () => {
  const { hostname, port } = new URL(service.url);
  const first = Promise.withResolvers<void>();
  const handlers = { data: () => first.resolve() };
  const socket = await Bun.connect({ hostname, port: Number(port), socket: handlers });
  const count = 10_000;
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count));
  const countServed = () => service.log().filter(({ target }) => target === '/health').length;
  const before = countServed();
  await first.promise;
  expect(countServed() - before).toBeLessThan(count / 2);
  socket.end();
});

test('of concurrent requests /health passes waiting ones, and all are answered', async () => {
  const order: string[] = [];
  const ask = async (name: string, path: string) => {
    const headers = {
      Authorization: `Bearer ${service.tokens.admin}`,
      Accept: 'application/hal+json, */*;q=0.1',
    };
    const { status } = await fetch(`${service.url}${path}`, { method: 'HEAD', headers });
    expect([name, status]).toEqual([name, 200]);
    order.push(name);
  };
  const lists = Array.from({ length: 30 }, (_, index) => `list ${index}`);
  await Promise.all([
    // A different page each time: cached ones take so little time that one turn would serve them all.
    ...lists.map((name, index) => ask(name, `/v1/products?category=large&perPage=${100 - index}`)),
    ask('health', '/health'),
  ]);
  // How many lists are served first depends on how many fit into a turn.
  expect(order.indexOf('health')).toBeLessThan(lists.length - 5);
  expect(order.length).toBe(lists.length + 1);
});
