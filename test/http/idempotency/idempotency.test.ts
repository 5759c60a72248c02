/** Idempotency-Key: a repeated POST does its work once. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addKey, addPerson, signInAs } from '../../support/data/people.ts';
import { type Call, call, type Received } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { contentsOf } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, signIn, startTestService, type TestService } from '../../support/service/service.ts';

const day = 24 * 60 * 60 * 1000;
let keys = 0;
const newKey = () => `key-${++keys}`;
const post = (key: string, body: unknown = { name: 'Lamp', price: 1 }, as: Call['as'] = 'editor'): Call => ({
  method: 'POST',
  path: '/v1/products',
  ...(as === undefined ? {} : { as }),
  headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
  body,
});

describeOnDatabases('Idempotency-Key on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const total = async () =>
    (await call(service, { path: '/v1/products', as: 'admin' })).body.meta.total as number;
  const replayed = ({ headers }: Received) => headers.get('Idempotency-Replayed');

  test('a repeated request gets the first response again and writes nothing', async () => {
    const key = newKey();
    const first = await call(service, post(key));
    expect([first.status, replayed(first)]).toEqual([201, null]);
    const before = await contentsOf(service);
    for (const at of [service, await service.replica()]) {
      const again = await call(at, post(key));
      expect([again.status, again.text, replayed(again)]).toEqual([201, first.text, 'true']);
      for (const name of ['Location', 'ETag', 'Content-Type', 'Cache-Control', 'Last-Modified'])
        expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
      expect(again.headers.get('X-Request-ID')).not.toBe(first.headers.get('X-Request-ID'));
    }
    expect(await contentsOf(service)).toEqual(before);
  });

  test('a repeated request gets the first response even after the resource was deleted', async () => {
    const key = newKey();
    const first = await call(service, post(key));
    await call(service, { method: 'DELETE', path: `/v1/products/${first.body.id}`, as: 'editor' });
    const again = await call(service, post(key));
    expect([again.status, again.text, replayed(again)]).toEqual([201, first.text, 'true']);
  });

  test('a repeated request gets the first response in its own media type, whatever it accepts', async () => {
    for (const type of ['application/json', 'application/hal+json', 'application/vnd.catalog.v1+json']) {
      const request = post(newKey());
      const accepting = (accept: string) =>
        call(service, { ...request, headers: { ...request.headers, Accept: accept } });
      const first = await accepting(type);
      expect([first.status, first.headers.get('Content-Type')]).toEqual([201, type]);
      for (const other of ['application/json', 'application/hal+json', '*/*']) {
        const again = await accepting(other);
        expect([again.headers.get('Content-Type'), again.text, replayed(again)]).toEqual([
          type,
          first.text,
          'true',
        ]);
        expect(again.headers.get('ETag')).toBe(first.headers.get('ETag'));
      }
    }
  });

  test('the same key with another request is refused', async () => {
    const key = newKey();
    await call(service, post(key));
    const refusal = { status: 422, error: 'IDEMPOTENCY_KEY_REUSED' };
    await play(service, { name: 'another body', ...post(key, { name: 'Lamp', price: 2 }), ...refusal });
    await play(service, {
      name: 'another spelling',
      ...post(key, '{ "name": "Lamp", "price": 1 }'),
      ...refusal,
    });
    const elsewhere = { ...post(key, { name: 'k', scopes: ['products:read'] }, 'admin'), path: '/v1/keys' };
    expect((await call(service, elsewhere)).status).toBe(201);
    const product = await call(service, post(newKey()));
    const path = `/v1/products/${product.body.id}/reviews`;
    await play(service, { name: 'another path', ...post(key, { rating: 1 }), path, ...refusal });
  });

  test('each caller has separate keys', async () => {
    const key = newKey();
    const made = [await call(service, post(key)), await call(service, post(key, undefined, 'admin'))];
    const apiKey = await addKey(service, 'products:write');
    const { as: _, ...unnamed } = post(key);
    made.push(await call(service, { ...unnamed, headers: { ...unnamed.headers, ...apiKey } }));
    expect(made.map(replayed)).toEqual([null, null, null]);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(3);
  });

  test('a response to staff is not repeated to the user who has lost that role', async () => {
    const product = await call(service, post(newKey()));
    const [customer, former] = [await addPerson(service), await addPerson(service, 'admin')];
    const key = newKey();
    const order = async () => {
      const { body } = await signInAs(service, former.email);
      return call(service, {
        method: 'POST',
        path: `${customer.path}/orders`,
        headers: { 'Idempotency-Key': key, Authorization: `Bearer ${body.accessToken}` },
        body: { items: [{ productId: product.body.id, quantity: 1 }] },
      });
    };
    const setRole = (role: string) =>
      call(service, { method: 'PATCH', path: former.path, as: 'admin', body: { role } });
    const first = await order();
    expect(first.status).toBe(201);
    for (const role of ['user', 'editor']) {
      expect((await setRole(role)).status).toBe(200);
      const refused = await order();
      expect([role, refused.status, refused.body.error]).toEqual([role, 422, 'IDEMPOTENCY_KEY_REUSED']);
    }
    expect((await setRole('admin')).status).toBe(200);
    const again = await order();
    expect([again.status, again.text, replayed(again)]).toEqual([201, first.text, 'true']);
    const { body } = await call(service, { path: `${customer.path}/orders`, as: 'admin' });
    expect(body.meta.total).toBe(1);
  });

  test('of ten concurrent requests with one key only one is executed', async () => {
    const key = newKey();
    const before = await total();
    await using replica = await service.replica();
    const atOnce = Array.from({ length: 10 }, (_, index) =>
      call(index % 2 === 0 ? service : replica, post(key)),
    );
    const responses = await Promise.all(atOnce);
    expect(await total()).toBe(before + 1);
    expect(responses.filter(response => response.status === 201 && replayed(response) === null)).toHaveLength(
      1,
    );
    const id = responses.find(({ status }) => status === 201)?.body.id;
    for (const response of responses) {
      if (response.status === 201) expect(response.body.id).toBe(id);
      else {
        expect([response.status, response.body.error]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE']);
        expect(response.headers.get('Retry-After')).toBe('1');
      }
    }
    const later = await call(service, post(key));
    expect([later.status, later.body.id, replayed(later)]).toEqual([201, id, 'true']);
  });

  test.each([
    ['empty', ''],
    ['256 characters', 'x'.repeat(256)],
    ['a space', 'two words'],
    ['a letter beyond ASCII', 'sch\u00f6n'],
    ['a tab', 'a\tb'],
  ])('a key is refused: %s', async (name, key) => {
    await play(service, { name, ...post(key), status: 400, error: 'INVALID_IDEMPOTENCY_KEY' });
  });

  test('a key of 255 characters is taken', async () => {
    const key = 'k'.repeat(255);
    const first = await call(service, post(key));
    expect((await call(service, post(key))).body.id).toBe(first.body.id);
  });

  test('a failed request is not stored, so its key can be used for a corrected one', async () => {
    const key = newKey();
    await call(service, post(newKey(), { name: 'Taken', price: 1, sku: `SKU-${key}` }));
    const sku = `SKU-${key}`;
    await play(service, { name: 'validation', ...post(key, { name: '' }), status: 400 });
    await play(service, { name: 'forbidden', ...post(key, undefined, 'user'), status: 403 });
    await play(service, {
      name: 'duplicate',
      ...post(key, { name: 'Lamp', price: 1, sku }),
      status: 409,
      error: 'DUPLICATE',
    });
    const made = await call(service, post(key));
    expect([made.status, replayed(made)]).toEqual([201, null]);
  });

  test('responses with credentials are not stored: signing in twice creates two sessions', async () => {
    const login = {
      ...post(newKey(), { email: emailOf('user'), password: 'correct horse battery' }),
      path: '/v1/auth/login',
    };
    const { as: _, ...anonymous } = login;
    const [first, second] = [await call(service, anonymous), await call(service, anonymous)];
    expect([replayed(first), replayed(second)]).toEqual([null, null]);
    expect(second.body.refreshToken).not.toBe(first.body.refreshToken);
  });

  test('PATCH ignores it', async () => {
    const { body } = await call(service, post(newKey()));
    const key = newKey();
    for (const price of [2, 3]) {
      const change = { ...post(key, { price }), method: 'PATCH', path: `/v1/products/${body.id}` };
      const changed = await call(service, change);
      expect([changed.status, changed.body.price, replayed(changed)]).toEqual([200, price, null]);
    }
  });
});

describeOnDatabases('Idempotency-Key over time on %s', kind => {
  test('a response is kept for 24 hours', async () => {
    const service = await startTestService(kind);
    const key = newKey();
    const send = async () => {
      const { as: _, headers, ...request } = post(key);
      const token = await signIn(service.url, emailOf('editor'));
      return call(service, { ...request, headers: { ...headers, Authorization: `Bearer ${token}` } });
    };
    const first = await send();
    service.clock.advance(day - 1);
    expect((await send()).body.id).toBe(first.body.id);
    service.clock.advance(1);
    const fresh = await send();
    expect([fresh.status, fresh.headers.get('Idempotency-Replayed')]).toEqual([201, null]);
    expect(fresh.body.id).not.toBe(first.body.id);
    expect((await send()).body.id).toBe(fresh.body.id);
    await service.stop();
  });
});
