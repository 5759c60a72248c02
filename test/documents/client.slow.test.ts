/** The typed client when requests fail: it repeats them without doing anything twice, and stops when they are aborted. */
import { expect, test } from 'bun:test';
import { createCatalog } from '../../client/index.ts';
import { addKey, addPerson } from '../support/data/people.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { password, startTestService, type TestService } from '../support/service/service.ts';

/** A server between client and service, which also serves the service below the path /shop. */
async function startBetween(
  service: TestService,
  respond = (pass: () => Promise<Response>): Promise<Response> => pass(),
) {
  const paths: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      paths.push(pathname);
      const { method, headers } = request;
      const body = method === 'GET' ? null : await request.bytes();
      const address = `${service.url}${pathname.replace(/^\/shop/, '')}${search}`;
      return respond(() => fetch(address, { method, headers, body }));
    },
  });
  const { 'X-API-Key': apiKey } = await addKey(service, 'products:read', 'products:write');
  return {
    url: `http://127.0.0.1:${server.port}`,
    credentials: { apiKey },
    /** The paths of all requests so far. */
    paths,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const refuse = (status: number, seconds: number) =>
  Response.json({ error: 'X' }, { status, headers: { 'Retry-After': String(seconds) } });

describeOnDatabases('the client on %s', kind => {
  test('creates once what was created although the response was 503', async () => {
    await using service = await startTestService(kind);
    let sent = 0;
    await using between = await startBetween(service, async pass => {
      const response = await pass();
      sent += 1;
      // What PostgreSQL has committed is unknown when the connection to it is lost in the meantime.
      return sent <= 2 ? refuse(503, 0) : response;
    });
    const catalog = createCatalog({ baseUrl: between.url, credentials: between.credentials });
    const { data, response } = await catalog.POST('/v1/products', { body: { name: 'Lamp', price: 1 } });
    expect([response.status, response.headers.get('Idempotency-Replayed'), sent]).toEqual([201, 'true', 3]);
    const listed = await catalog.GET('/v1/products');
    expect(listed.data?.data.map(({ id }) => id)).toEqual([data?.id ?? 0]);
    const other = await catalog.POST('/v1/products', { body: { name: 'Lamp', price: 1 } });
    expect([other.response.status, other.response.headers.has('Idempotency-Replayed')]).toEqual([201, false]);
  });

  test('repeats no JSON Patch that a 503 has left in doubt, which would add a value twice', async () => {
    await using service = await startTestService(kind);
    await using between = await startBetween(service, async pass => {
      const { status, body, headers } = await pass();
      return status === 200 ? refuse(503, 0) : new Response(body, { status, headers });
    });
    const catalog = createCatalog({ baseUrl: between.url, credentials: between.credentials });
    const { data } = await catalog.POST('/v1/products', { body: { name: 'Lamp', price: 1 } });
    const path = { id: data?.id ?? 0 };
    const patch = (type: string, body: object) =>
      catalog.PATCH('/v1/products/{id}', { params: { path }, headers: { 'Content-Type': type }, body });
    const added = [{ op: 'add', path: '/tags/-', value: 'new' }];
    expect((await patch('application/json-patch+json', added)).response.status).toBe(503);
    expect(between.paths.length).toBe(2);
    expect((await patch('application/json', { price: 2 })).response.status).toBe(503);
    expect(between.paths.length).toBe(8);
    const read = await call(service, { path: `/v1/products/${path.id}`, as: 'user' });
    expect([read.body.tags, read.body.price]).toEqual([['new'], 2]);
  });

  test('waits for a first attempt that is still running, and keeps the key of the program', async () => {
    await using service = await startTestService(kind);
    const waits: [seconds: number, status: number][] = [];
    let sent = 0;
    await using between = await startBetween(service, async pass => {
      sent += 1;
      return sent === 1 ? refuse(409, 0) : pass();
    });
    const onWait = (seconds: number, status: number) => void waits.push([seconds, status]);
    const catalog = createCatalog({ baseUrl: between.url, credentials: between.credentials, onWait });
    const create = (name: string) =>
      catalog.POST('/v1/products', {
        params: { header: { 'Idempotency-Key': 'delivery-1' } },
        body: { name, price: 1 },
      });
    expect((await create('Lamp')).response.status).toBe(201);
    expect(waits).toEqual([[0, 409]]);
    expect((await create('Chair')).error?.error).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('returns a conflict that no repetition solves', async () => {
    await using service = await startTestService(kind);
    await using between = await startBetween(service);
    const catalog = createCatalog({ baseUrl: between.url, credentials: between.credentials });
    const create = () => catalog.POST('/v1/products', { body: { name: 'Lamp', price: 1, sku: 'L-1' } });
    const [first, second] = [await create(), await create()];
    expect([first.response.status, second.error?.error]).toEqual([201, 'DUPLICATE']);
  });

  test('stops waiting when the request is aborted', async () => {
    await using service = await startTestService(kind);
    await using between = await startBetween(service, async () => refuse(429, 3600));
    const aborter = new AbortController();
    const onWait = () => aborter.abort(new Error('the page was left'));
    const catalog = createCatalog({ baseUrl: between.url, credentials: between.credentials, onWait });
    const failed = await catalog
      .GET('/v1/products', { signal: aborter.signal })
      .catch((error: unknown) => error);
    expect(String(failed)).toBe('Error: the page was left');
  });

  test('signs in at an address with a path and a final slash, and renews a token that has expired', async () => {
    await using service = await startTestService(kind);
    await using between = await startBetween(service);
    const { paths } = between;
    const { id, email } = await addPerson(service);
    const credentials = { email, password };
    const catalog = createCatalog({ baseUrl: `${between.url}/shop/`, credentials });
    expect((await catalog.GET('/v1/me')).data?.id).toBe(id);
    service.clock.advance(16 * 60_000);
    expect((await catalog.GET('/v1/me')).data?.id).toBe(id);
    const sent = ['auth/login', 'me', 'me', 'auth/refresh', 'me'];
    expect(paths).toEqual(sent.map(path => `/shop/v1/${path}`));
  });

  test('continues a session with its refresh token, renews it, and says when it has ended', async () => {
    await using service = await startTestService(kind);
    await using between = await startBetween(service);
    const { paths } = between;
    const { id, email } = await addPerson(service);
    const anonymous = createCatalog({ baseUrl: between.url, credentials: between.credentials });
    const { data } = await anonymous.POST('/v1/auth/login', { body: { email, password } });
    const refreshToken = data?.refreshToken ?? '';
    const catalog = createCatalog({ baseUrl: between.url, credentials: { refreshToken } });
    expect((await catalog.GET('/v1/me')).data?.id).toBe(id);
    service.clock.advance(16 * 60_000);
    expect((await catalog.GET('/v1/me')).data?.id).toBe(id);
    const sent = ['login', 'refresh', '/me', '/me', 'refresh', '/me'];
    expect(paths.map(path => path.replace('/v1/auth/', '').replace('/v1', ''))).toEqual(sent);
    expect((await catalog.POST('/v1/auth/logout', { body: { refreshToken } })).response.status).toBe(204);
    service.clock.advance(16 * 60_000);
    const ended = await catalog.GET('/v1/me').catch((error: unknown) => error);
    expect(String(ended)).toStartWith('Error: signing in was refused: 401 ');
  });

  test('sends a wrong password, an outdated one and a wrong API key once', async () => {
    await using service = await startTestService(kind);
    await using between = await startBetween(service);
    const { paths } = between;
    const { email } = await addPerson(service);
    const signedIn = createCatalog({ baseUrl: between.url, credentials: { email, password } });
    const body = { email, password: 'not the password' };
    const { error } = await signedIn.POST('/v1/auth/login', { body });
    expect(error?.error).toBe('INVALID_CREDENTIALS');
    expect(paths).toEqual(['/v1/auth/login', '/v1/auth/login']);
    paths.length = 0;
    const outdated = createCatalog({
      baseUrl: between.url,
      credentials: { email, password: 'the former one' },
    });
    for (const _ of [1, 2, 3]) {
      const refused = await outdated.GET('/v1/me').catch((error: unknown) => error);
      expect(String(refused)).toStartWith('Error: signing in was refused: 401 ');
    }
    expect(paths.splice(0)).toEqual(['/v1/auth/login']);
    const withKey = createCatalog({ baseUrl: between.url, credentials: { apiKey: 'ck_wrong' } });
    expect((await withKey.GET('/v1/products')).response.status).toBe(401);
    expect(paths).toEqual(['/v1/products']);
  });
});
