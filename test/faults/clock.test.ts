/** A clock that is set forward and back, and days, months and years that end while the service runs. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { act, placeOrder } from '../support/data/orders.ts';
import { type Call, call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { emailOf, signIn, startTestService, type TestService } from '../support/service/service.ts';
import { conclude } from './outcome.ts';

const hour = 3_600_000;
const second = 1000;

interface Jump {
  readonly name: string;
  /** @param now epoch milliseconds @returns what the clock shows next */
  to(now: number): number;
}

const lastSecondOf = (year: number, month: number, day: number) =>
  Date.UTC(year, month, day, 23, 59, 59, 900);

const jumps: readonly Jump[] = [
  { name: 'an hour on', to: now => now + hour },
  { name: 'an hour back', to: now => now - hour },
  { name: 'a second back', to: now => now - second },
  { name: 'the end of a day', to: () => lastSecondOf(2026, 0, 20) },
  { name: 'the next day', to: now => now + 200 },
  { name: 'the end of a month', to: () => lastSecondOf(2026, 0, 31) },
  { name: 'the next month', to: now => now + 200 },
  { name: 'the end of a short month', to: () => lastSecondOf(2026, 1, 28) },
  { name: 'the month after it', to: now => now + 200 },
  { name: 'an hour back over the end of a month', to: now => now - hour },
  { name: 'the end of a year', to: () => lastSecondOf(2026, 11, 31) },
  { name: 'the next year', to: now => now + 200 },
  { name: 'a leap day', to: () => Date.UTC(2028, 1, 29, 12) },
];

describeOnDatabases('a clock that jumps, on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('loses no write, reverses no order and locks no user out', async () => {
    const broken: string[] = [];
    const acknowledged: string[] = [];
    let tokens = service.tokens;
    const ask = (request: Call) => call({ url: service.url, tokens }, request);
    const wrong = (where: string, what: unknown) => broken.push(`${where}: ${JSON.stringify(what)}`);
    const made = await ask({
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      body: { name: 'C', price: 1 },
    });
    const path = `/v1/products/${made.body.id}`;
    let before: string = made.body.updatedAt;
    for (const [index, { name, to }] of jumps.entries()) {
      service.clock.advance(to(service.clock.now()) - service.clock.now());
      // Tokens signed before the jump may have expired. Signing in again must succeed.
      tokens = {
        admin: await signIn(service.url, emailOf('admin')),
        editor: await signIn(service.url, emailOf('editor')),
        user: await signIn(service.url, emailOf('user')),
      };
      const patched = await ask({ method: 'PATCH', path, as: 'editor', body: { price: index + 2 } });
      if (patched.status !== 200) wrong(name, patched.body);
      else if (patched.body.updatedAt < before) wrong(name, `${patched.body.updatedAt} after ${before}`);
      else acknowledged.push(`price ${index + 2}`);
      before = patched.body.updatedAt;
      const shown = await ask({ path, as: 'user' });
      if (shown.body.price !== index + 2) wrong(name, shown.body);
      const stale = await ask({
        path,
        as: 'user',
        headers: { 'If-None-Match': String(made.headers.get('ETag')) },
      });
      if (stale.status !== 200) wrong(name, `an old tag is ${stale.status}`);
      const placed = await placeOrder({ ...service, tokens });
      const paid = await act({ ...service, tokens }, placed, 'payment');
      if (paid.status !== 200) wrong(name, paid.body);
      else acknowledged.push(`order ${placed.order.id}`);
    }
    await service.settle();

    const found: string[] = [];
    const events = await ask({
      path: '/v1/events?resource=product&type=product.updated&limit=100',
      as: 'admin',
    });
    for (const { after } of events.body.data)
      if (after.id === made.body.id) found.push(`price ${after.price}`);
    const invoices = (await ask({ path: '/v1/invoices?perPage=100&sort=id', as: 'admin' })).body.data;
    for (const { orderId } of invoices) found.push(`order ${orderId}`);
    const numbers = invoices.map(({ number }: { number: string }) => number);
    const inOrder = jumps.map((_, index) => `INV-${String(index + 1).padStart(6, '0')}`);
    if (!Bun.deepEquals(numbers, inOrder)) wrong('numbers of invoices', numbers);
    const told = await ask({ path: '/v1/notifications?perPage=100', as: 'user' });
    const isPaid = ({ type }: { type: string }) => type === 'order.paid';
    if (told.body.data.filter(isPaid).length !== jumps.length) wrong('notifications', told.body.meta);
    const ids = new Set(events.body.data.map(({ id }: { id: number }) => id));
    expect(ids.size).toBe(events.body.data.length);

    const database = kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    const done = 'set ±1 h, over the ends of days, months and a year, and to a leap day';
    conclude({ name: 'Clock jumps', done, database, rounds: jumps.length }, { acknowledged, found, broken });
  });
});
