/** API keys: shown once, stored hashed, scoped, expiring, revocable. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, pathOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addPerson, userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { contentsOf } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const refused: [name: string, body: unknown, problems: [string, string][]][] = [
  [
    'nothing',
    {},
    [
      ['name', 'required'],
      ['scopes', 'required'],
    ],
  ],
  ['a blank name', { name: ' ', scopes: ['products:read'] }, [['name', 'blank']]],
  ['a name of 101 characters', { name: 'x'.repeat(101), scopes: ['products:read'] }, [['name', 'maxLength']]],
  ['no scopes', { name: 'k', scopes: [] }, [['scopes', 'minItems']]],
  ['an unknown scope', { name: 'k', scopes: ['products:read', 'everything'] }, [['scopes.1', 'enum']]],
  ['no requests at all', { name: 'k', scopes: ['products:read'], rateLimit: 0 }, [['rateLimit', 'minimum']]],
  ['half a request', { name: 'k', scopes: ['products:read'], rateLimit: 1.5 }, [['rateLimit', 'type']]],
  ['scopes that are text', { name: 'k', scopes: 'products:read' }, [['scopes', 'type']]],
  [
    'an expiry that is no moment',
    { name: 'k', scopes: ['products:read'], expiresAt: 'tomorrow' },
    [['expiresAt', 'format']],
  ],
  [
    'an expiry in the past',
    { name: 'k', scopes: ['products:read'], expiresAt: '2026-01-01T00:00:00Z' },
    [['expiresAt', 'future']],
  ],
  [
    'an expiry that is in the year 10000 in UTC',
    { name: 'k', scopes: ['products:read'], expiresAt: '9999-12-31T23:59:59-00:01' },
    [['expiresAt', 'maximum']],
  ],
];

describeOnDatabases('API keys on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const create = async (fields: object = {}) => {
    const body = { name: 'Import', scopes: ['products:read'], ...fields };
    return call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body });
  };
  const use = (key: string, at: TestService = service, path = '/v1/products') =>
    call(at, { path, headers: { 'X-API-Key': key } });

  test('a repeated request gets the key again, even once it has expired', async () => {
    const headers = { 'Idempotency-Key': `short-lived-${kind}` };
    const expiresAt = new Date(service.clock.now() + 60_000).toISOString();
    const body = { name: 'Import', scopes: ['products:read'], expiresAt };
    const post = () => call(service, { method: 'POST', path: '/v1/keys', as: 'admin', headers, body });
    const first = await post();
    expect(first.status).toBe(201);
    service.clock.advance(61_000);
    const again = await post();
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await use(again.body.key)).status).toBe(401);
  });

  test('a key is shown once, and stored as a hash', async () => {
    const body = { name: ' Import ', scopes: ['products:read', 'products:write', 'products:read'] };
    const made = await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body });
    const { id, key } = made.body;
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id,
      name: 'Import',
      scopes: ['products:read', 'products:write'],
      rateLimit: null,
      prefix: key.slice(0, 9),
      expiresAt: null,
      lastUsedAt: null,
      createdAt: nowOf(service),
      key: expect.stringMatching(/^ck_[\w-]{43}$/),
    });
    expect(made.headers.get('Cache-Control')).toBe('no-store');
    expect(made.headers.get('ETag')).toBeNull();
    expect(made.headers.get('Location')).toBe(`${service.url}/v1/keys/${id}`);
    const { key: _, ...shown } = made.body;
    const one = await call(service, { path: `/v1/keys/${id}`, as: 'admin' });
    const all = await call(service, { path: '/v1/keys?order=desc&perPage=100', as: 'admin' });
    expect(one.body).toEqual(shown);
    expect(all.body.data).toContainEqual(shown);
    expect(one.text + all.text).not.toContain(key);
    expect((await contentsOf(service)).join()).not.toContain(key);
    expect((await create()).body.key).not.toBe(key);
  });

  test.each(refused)('refuses %s', async (name, body, problems) => {
    await play(service, { name, method: 'POST', path: '/v1/keys', as: 'admin', body, status: 400, problems });
  });

  test('creating and revoking a key write events that do not hold the key', async () => {
    const { key, ...made } = (await create()).body;
    const path = `/v1/keys/${made.id}`;
    const gone = await Promise.all(
      [1, 2, 3].map(() => call(service, { method: 'DELETE', path, as: 'admin' })),
    );
    expect(gone.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const events = await eventsOf(service, 'key', made.id);
    const id = await userIdOf(service, 'admin');
    expect(events).toEqual([
      { type: 'key.created', actor: `user:${id}`, before: null, after: made },
      { type: 'key.revoked', actor: `user:${id}`, before: made, after: null },
    ]);
    expect(JSON.stringify(events)).not.toContain(key);
    const listed = await call(service, { path: '/v1/events?resource=key&order=desc', as: 'admin' });
    expect(listed.body.data[0]).toMatchObject({ type: 'key.revoked', resourceId: made.id, after: null });
  });

  test('an administrator who is demoted during the request cannot create a key', async () => {
    const maker = await addPerson(service, 'admin', { name: 'Maker' });
    const body = { name: 'Late', scopes: ['users:write'] };
    const making = Array.from({ length: 8 }, () =>
      call(service, { method: 'POST', path: '/v1/keys', headers: maker.headers, body }),
    );
    const role = { role: 'user' };
    const demoted = await call(service, {
      method: 'PATCH',
      path: `/v1/users/${maker.id}`,
      as: 'admin',
      body: role,
    });
    expect(demoted.status).toBe(200);
    const rights = await call(service, { path: '/v1/events?order=desc&perPage=100', as: 'admin' });
    for (const { status } of await Promise.all(making)) expect([201, 401]).toContain(status);
    // All keys were made before the demotion; no key follows.
    const later = await call(service, { path: '/v1/events?order=desc&perPage=100', as: 'admin' });
    const keysIn = ({ body }: typeof later) =>
      body.data.filter(
        ({ type, actor }: { type: string; actor: string }) =>
          type === 'key.created' && actor === `user:${maker.id}`,
      ).length;
    expect(keysIn(later)).toBe(keysIn(rights));
    const late = { name: 'after', method: 'POST', path: '/v1/keys', headers: maker.headers, body };
    await play(service, { ...late, status: 401, error: 'UNAUTHORIZED' });
  });

  test('a key is limited to its scopes', async () => {
    const { key } = (await create({ scopes: ['products:read'] })).body;
    const headers = { 'X-API-Key': key };
    const product = await addProduct(service);
    expect((await use(key)).status).toBe(200);
    expect((await use(key, service, pathOf(product))).body).toEqual(product);
    const body = { name: 'Lamp', price: 1 };
    const forbidden = { headers, status: 403, error: 'FORBIDDEN' } as const;
    const denied = await play(service, {
      name: 'write',
      method: 'POST',
      path: '/v1/products',
      body,
      ...forbidden,
    });
    expect(denied.body.message).toContain('products:write');
    await play(service, { name: 'keys', path: '/v1/keys', ...forbidden });
    await play(service, {
      name: 'make a key',
      method: 'POST',
      path: '/v1/keys',
      body: { name: 'k', scopes: ['products:write'] },
      ...forbidden,
    });
    await play(service, { name: 'me', path: '/v1/me', ...forbidden });
    await play(service, {
      name: 'review',
      method: 'POST',
      path: `${pathOf(product)}/reviews`,
      body: { rating: 1 },
      ...forbidden,
    });
    const writer = (await create({ scopes: ['products:write'] })).body.key;
    expect(
      (await call(service, { method: 'DELETE', path: pathOf(product), headers: { 'X-API-Key': writer } }))
        .status,
    ).toBe(204);
    expect((await use(writer)).status).toBe(403);
  });

  test('a revoked key is refused at once, on every replica', async () => {
    await using replica = await service.replica();
    const { id, key } = (await create()).body;
    for (const at of [service, replica]) expect((await use(key, at)).status).toBe(200);
    const path = `/v1/keys/${id}`;
    // A key has no date: whether it has changed since one cannot be known.
    const now = new Date(service.clock.now()).toUTCString();
    for (const stale of [{ 'If-Match': '"another"' }, { 'If-Unmodified-Since': now }] as const)
      await play(service, {
        name: 'stale',
        method: 'DELETE',
        path,
        as: 'admin',
        headers: stale,
        status: 412,
        error: 'PRECONDITION_FAILED',
      });
    expect((await call(service, { method: 'DELETE', path, as: 'admin' })).status).toBe(204);
    for (const at of [service, replica]) expect((await use(key, at)).status).toBe(401);
    await play(service, {
      name: 'again',
      method: 'DELETE',
      path,
      as: 'admin',
      status: 404,
      error: 'NOT_FOUND',
    });
  });

  test.each(['', 'ck_', 'ck_short', `ck_${'A'.repeat(43)}`, `ck_${'A'.repeat(44)}`, "' or 1=1 --", 'null'])(
    'a key that was never issued is refused: %j',
    async key => {
      const response = await play(service, {
        name: key,
        path: '/v1/products',
        headers: { 'X-API-Key': key },
        status: 401,
      });
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="catalog"');
    },
  );

  test('the api_key parameter is accepted, and the key is never logged', async () => {
    const { key } = (await create()).body;
    const before = service.log().length;
    const response = await call(service, { path: `/v1/products?perPage=1&api_key=${key}&sort=price` });
    expect(response.status).toBe(200);
    expect(response.text).not.toContain(key);
    await call(service, { path: `/v1/unknown?api_key=${key}` });
    const lines = service.log().slice(before);
    const targets = lines.map(({ target }) => target);
    expect(targets).toContain('/v1/products?perPage=1&api_key=[redacted]&sort=price');
    expect(JSON.stringify(service.log())).not.toContain(key);
  });

  test('an empty X-API-Key hides neither the parameter api_key nor a token', async () => {
    const { key } = (await create()).body;
    const headers = { 'X-API-Key': '' };
    expect((await call(service, { path: `/v1/products?api_key=${key}`, headers })).status).toBe(200);
    expect((await call(service, { path: '/v1/products?api_key=ck_wrong', headers })).status).toBe(401);
    // A token beside a key is ignored here: this one must not be ignored for an empty key.
    const weather = { path: '/v1/data/weather?city=Berlin', as: 'admin', headers } as const;
    expect((await call(service, weather)).body.message).toBe('This operation accepts API keys only.');
  });

  test('the last use is noted, to the minute', async () => {
    const { id, key } = (await create()).body;
    const lastUse = async () => {
      await service.settle();
      return (await call(service, { path: `/v1/keys/${id}`, as: 'admin' })).body.lastUsedAt;
    };
    expect(await lastUse()).toBeNull();
    await use(key);
    const first = nowOf(service);
    expect(await lastUse()).toBe(first);
    service.clock.advance(59_000);
    await use(key);
    expect(await lastUse()).toBe(first);
    service.clock.advance(1000);
    await use(key);
    expect(await lastUse()).toBe(nowOf(service));
  });

  test('a key ends at its expiry', async () => {
    const expiresAt = new Date(service.clock.now() + 30_000).toISOString();
    const { key, expiresAt: shown } = (await create({ expiresAt: expiresAt.replace('Z', '+00:00') })).body;
    expect(shown).toBe(expiresAt);
    service.clock.advance(29_999);
    expect((await use(key)).status).toBe(200);
    service.clock.advance(1);
    expect((await use(key)).status).toBe(401);
  });
});
