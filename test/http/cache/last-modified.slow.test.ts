/** Last-Modified and the conditions that name it: a date of whole seconds never hides a change (RFC 9110 §8.8.2.2). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { invoiced } from '../../support/data/invoices.ts';
import { userIdOf } from '../../support/data/people.ts';
import { signInAll } from '../../support/data/sign-in.ts';
import { call, type Received } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const hour = 3_600_000;

/** For each kind of resource: how one is created, and two changes to it. */
const resources: [
  name: string,
  make: (service: TestService) => Promise<string>,
  changes: readonly [object, object],
][] = [
  ['product', async service => pathOf(await addProduct(service)), [{ price: 3 }, { price: 4 }]],
  ['article', service => made(service, '/v1/articles', { title: 'A', body: 'a' }), titles()],
  ['post', service => made(service, '/v1/posts', { title: 'A', body: 'a' }), titles()],
  ['todo', service => made(service, '/v1/todos', { title: 'A' }), titles()],
  [
    'user',
    service =>
      made(service, '/v1/users', { name: 'A', email: `${crypto.randomUUID()}@test.example`, role: 'user' }),
    [{ name: 'B' }, { name: 'C' }],
  ],
  [
    'comment',
    async service =>
      made(service, `${await made(service, '/v1/posts', { title: 'A', body: 'a' })}/comments`, { body: 'a' }),
    [{ body: 'b' }, { body: 'c' }],
  ],
  [
    'review',
    async service => made(service, `${pathOf(await addProduct(service))}/reviews`, { rating: 1 }),
    [{ rating: 2 }, { rating: 3 }],
  ],
  [
    'variant',
    async service => {
      const product = await addProduct(service, { options: [{ name: 'Size', values: ['S'] }] });
      return made(service, `${pathOf(product)}/variants`, { options: { Size: 'S' } });
    },
    [{ price: 3 }, { price: 4 }],
  ],
];

function titles(): [object, object] {
  return [{ title: 'B' }, { title: 'C' }];
}

/** @returns the path of the resource that a POST creates */
async function made(service: TestService, path: string, body: object): Promise<string> {
  const response = await call(service, { method: 'POST', path, as: 'admin', body });
  expect(response.status).toBe(201);
  return new URL(response.headers.get('Location') ?? '').pathname;
}

const dateOf = (milliseconds: number) => new Date(milliseconds).toUTCString();

describeOnDatabases('Last-Modified on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  /** The service with tokens of the time; undefined for those of its start. */
  let setBack: Pick<TestService, 'url' | 'tokens'> | undefined;
  /** Tokens from what is now a distant future are refused. */
  const turnBack = async (milliseconds: number) => {
    service.clock.advance(-milliseconds);
    setBack = { url: service.url, tokens: await signInAll(service.url) };
  };
  const get = (path: string, headers = {}) => call(setBack ?? service, { path, as: 'admin', headers });
  const patch = async (path: string, body: object, since?: string): Promise<number> => {
    const headers: Record<string, string> = since === undefined ? {} : { 'If-Unmodified-Since': since };
    return (await call(setBack ?? service, { method: 'PATCH', path, as: 'admin', headers, body })).status;
  };
  const statusSince = async (path: string, since: string) =>
    (await get(path, { 'If-Modified-Since': since })).status;

  test('Date is of the second in which Last-Modified is first shown, never before it', async () => {
    const path = pathOf(await addProduct(service));
    service.clock.advance(1000);
    for (const method of ['GET', 'HEAD'] as const) {
      const { status, headers } = await call(service, { method, path, as: 'admin' });
      const [shown, changed] = [headers.get('Date') ?? '', headers.get('Last-Modified') ?? ''];
      expect([method, status, shown]).toEqual([method, 200, dateOf(service.clock.now())]);
      expect(Date.parse(changed)).toBeLessThanOrEqual(Date.parse(shown));
    }
    const refused = await call(service, { path: '/v1/products/0' });
    expect([refused.status, refused.headers.get('Date')]).toEqual([401, dateOf(service.clock.now())]);
  });

  test.each(resources)(
    '%s: conditions detect a second change within one second',
    async (_, make, [one, another]) => {
      const path = await make(service);
      expect(await patch(path, one)).toBe(200);
      const read = dateOf(service.clock.now());
      const first = await get(path);
      expect(first.headers.get('Last-Modified')).toBeNull();
      service.clock.advance(300);
      expect(await patch(path, another)).toBe(200);
      expect(await patch(path, one, read)).toBe(412);
      expect(await statusSince(path, read)).toBe(200);
      service.clock.advance(700);
      const second = await get(path);
      expect(second.text).not.toBe(first.text);
      const shown = second.headers.get('Last-Modified') ?? '';
      expect(shown).toBe(dateOf(service.clock.now()));
      expect([await statusSince(path, read), await statusSince(path, shown)]).toEqual([200, 304]);
      expect([await patch(path, one, read), await patch(path, one, shown)]).toEqual([412, 200]);
    },
  );

  test.each(resources)(
    '%s: conditions detect a change after the clock was set back',
    async (_, make, [one, another]) => {
      const path = await make(service);
      expect(await patch(path, one)).toBe(200);
      service.clock.advance(2000);
      const first = await get(path);
      const shown = first.headers.get('Last-Modified') ?? '';
      await turnBack(hour);
      expect(await statusSince(path, shown)).toBe(304);
      expect(await patch(path, another, shown)).toBe(200);
      for (const later of [0, hour - 2000, 1000, 1000, 5000]) {
        service.clock.advance(later);
        if (later > 0) setBack = undefined;
        expect([later, await statusSince(path, shown)]).toEqual([later, 200]);
        expect([later, await patch(path, one, shown)]).toEqual([later, 412]);
      }
      const second = await get(path);
      expect(Date.parse(second.headers.get('Last-Modified') ?? '')).toBeGreaterThan(Date.parse(shown));
      if (first.body.updatedAt !== undefined) expect(second.body.updatedAt > first.body.updatedAt).toBe(true);
    },
  );

  test('an invoice sent after the clock was set back counts as changed', async () => {
    const path = `/v1/invoices/${(await invoiced(service)).id}`;
    service.clock.advance(2000);
    const shown = (await get(path)).headers.get('Last-Modified') ?? '';
    expect(await statusSince(path, shown)).toBe(304);
    service.clock.advance(-60_000);
    await call(service, { method: 'POST', path: `${path}/send`, as: 'admin' });
    await service.settle();
    service.clock.advance(120_000);
    await service.settle();
    const sent = await get(path, { 'If-Modified-Since': shown });
    expect([sent.status, sent.body?.status]).toEqual([200, 'sent']);
  });

  test('a Last-Modified date never stands for two representations, in any order of reads, changes and clock jumps', async () => {
    type Step = 'change' | 'read' | number;
    // No twelve of these steps lead back to the second of a change that was already shown.
    const step = fc.constantFrom<Step>('change', 'change', 'read', 'read', 300, 1000, 7100, 70_000, -61_300);
    const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async steps => {
      const path = pathOf(await addProduct(service));
      const began = service.clock.now();
      const seen = new Map<string, string>();
      let price = 1000;
      for (const step of [...steps, 'read'] as const) {
        if (typeof step === 'number' && step < 0) await turnBack(-step);
        else if (typeof step === 'number') service.clock.advance(step);
        else if (step === 'change') expect(await patch(path, { price: ++price })).toBe(200);
        else await compare(path, await get(path), seen);
      }
      service.clock.advance(began - service.clock.now());
      setBack = undefined;
    });
    await fc.assert(property, { numRuns: 25 });
  });

  /** @param seen representations by their Last-Modified date */
  async function compare(path: string, current: Received, seen: Map<string, string>): Promise<void> {
    const shown = current.headers.get('Last-Modified');
    if (shown !== null) {
      expect(Date.parse(shown)).toBeLessThanOrEqual(service.clock.now());
      expect(seen.get(shown) ?? current.text).toBe(current.text);
      seen.set(shown, current.text);
    }
    for (const [date, text] of seen) {
      expect(await statusSince(path, date)).toBe(text === current.text ? 304 : 200);
      if (text !== current.text) expect(await patch(path, { price: 1 }, date)).toBe(412);
    }
  }

  test('an article counts as changed and has no date after its author is deleted', async () => {
    const own = await startTestService(kind);
    const id = await userIdOf(own, 'editor');
    const paths: string[] = [];
    for (const path of ['/v1/articles', '/v1/posts']) {
      const body = { title: 'A', body: 'a' };
      const { headers } = await call(own, { method: 'POST', path, as: 'editor', body });
      paths.push(new URL(headers.get('Location') ?? '').pathname);
    }
    own.clock.advance(2000);
    const dates = await Promise.all(
      paths.map(async path => (await call(own, { path, as: 'user' })).headers.get('Last-Modified') ?? ''),
    );
    expect(await call(own, { method: 'DELETE', path: `/v1/users/${id}`, as: 'admin' })).toHaveProperty(
      'status',
      204,
    );
    for (const [index, path] of paths.entries()) {
      const headers = { 'If-Modified-Since': dates[index] ?? '' };
      const read = await call(own, { path, as: 'user', headers });
      expect([read.status, read.headers.get('Last-Modified')]).toEqual([200, null]);
      expect(Object.keys(read.body._links)).not.toContain('author');
    }
    await own.stop();
  });

  test('HAL has no Last-Modified, because its links can change without the resource', async () => {
    const path = pathOf(await addProduct(service));
    service.clock.advance(2000);
    const shown = (await get(path)).headers.get('Last-Modified') ?? '';
    const asHal = await get(path, { Accept: 'application/hal+json', 'If-Modified-Since': shown });
    expect([asHal.status, asHal.headers.get('Last-Modified')]).toEqual([200, null]);
  });
});
