/**
 * The OWASP API Security Top 10 (2023): one or more tests across all resources for each risk. Risks 7 and 10 are in
 * security-outbound.test.ts. SECURITY.md also names the tests of single resources.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from './support/data/catalog.ts';
import { addPerson, type Person } from './support/data/people.ts';
import { contractAt, type Operation } from './support/http/contract.ts';
import { call } from './support/http/http.ts';
import { send } from './support/http/raw.ts';
import { play } from './support/http/scenario.ts';
import { writesNothing } from './support/service/contents.ts';
import { describeOnDatabases } from './support/service/databases.ts';
import { startTestService, type TestService } from './support/service/service.ts';

/** The ids of a customer's resources, by path: `/v1/orders/{id}` → id. */
type Possessions = Readonly<Record<string, number>>;

async function possessionsOf(service: TestService, owner: Person): Promise<Possessions> {
  const { headers } = owner;
  const made = async (path: string, body: object) =>
    (await call(service, { method: 'POST', path, headers, body })).body;
  const product = await addProduct(service);
  const post = await call(service, {
    method: 'POST',
    path: '/v1/posts',
    as: 'editor',
    body: { title: 'Spring', body: 'New lamps.' },
  });
  const order = await made(`${owner.path}/orders`, { items: [{ productId: product.id, quantity: 1 }] });
  await made(`/v1/orders/${order.id}/payment`, {});
  await service.settle();
  const first = async (path: string) => (await call(service, { path, headers })).body.data[0].id;
  return {
    '/v1/users/{id}': owner.id,
    '/v1/orders/{id}': order.id,
    '/v1/invoices/{id}': await first('/v1/invoices'),
    '/v1/notifications/{id}': await first('/v1/notifications'),
    '/v1/todos/{id}': (await made('/v1/todos', { title: 'Mine' })).data.id,
    '/v1/reviews/{id}': (await made(`${pathOf(product)}/reviews`, { rating: 5 })).id,
    '/v1/comments/{id}': (await made(`/v1/posts/${post.body.id}/comments`, { body: 'Mine' })).id,
  };
}

/** Operations by which every caller may read resources of any author. */
const readable = ['GET /v1/reviews/{id}', 'GET /v1/comments/{id}'];
/** Responds to every caller in the same way, and does nothing for strangers. */
const concealing = 'POST /v1/users/{id}/password-reset';

describeOnDatabases('the ten risks on %s', kind => {
  let service: TestService;
  let operations: readonly Operation[];
  let stranger: Person;
  beforeAll(async () => {
    service = await startTestService(kind);
    operations = (await contractAt(service.url)).operations;
    stranger = await addPerson(service);
  });
  afterAll(() => service.stop());
  const nameOf = ({ method, path }: Operation) => `${method} ${path}`;

  test('1 object level: a user can call no operation on resources of another user, nested ones included', async () => {
    const owner = await addPerson(service);
    const possessions = Object.entries(await possessionsOf(service, owner));
    const tried: string[] = [];
    for (const operation of operations) {
      const [root, id] =
        possessions.find(([path]) => operation.path === path || operation.path.startsWith(`${path}/`)) ?? [];
      if (root === undefined || id === undefined || readable.includes(nameOf(operation))) continue;
      const { method, body } = operation;
      const path = operation.path.replace(root, root.replace('{id}', String(id))).replace(/\{\w+\}/, '1');
      const type = Object.keys(body ?? {})[0] ?? '';
      const sent =
        body === undefined ? {} : { body: exampleOf(body[type]), headers: { 'Content-Type': type } };
      const response = await writesNothing(service, () =>
        call(service, { method, path, ...sent, headers: { ...stranger.headers, ...sent.headers } }),
      );
      const expected = nameOf(operation) === concealing ? [202] : [403, 404];
      expect([nameOf(operation), response.status, expected.includes(response.status)]).toEqual([
        nameOf(operation),
        response.status,
        true,
      ]);
      tried.push(nameOf(operation));
    }
    expect(tried.length).toBeGreaterThan(20);
    for (const list of ['/v1/invoices', '/v1/notifications', '/v1/todos']) {
      const { body } = await call(service, { path: list, headers: stranger.headers });
      expect([list, body.data]).toEqual([list, []]);
    }
  });

  test('2 authentication: an access token alone changes no password, and only listed operations require no token', async () => {
    const request = { name: 'without the password', method: 'PUT', path: '/v1/me/password' } as const;
    const { headers } = stranger;
    const body = { currentPassword: 'not the password', newPassword: 'a password of a thief' };
    await play(service, { ...request, headers, body, status: 403, error: 'WRONG_PASSWORD' });
    const open = operations.filter(({ isPublic }) => isPublic).map(nameOf);
    expect(open.filter(name => name.includes(' /v1/')).sort()).toEqual(withCredentialsOfTheirOwn);
    expect(open.filter(name => !name.includes(' /v1/') && !name.startsWith('GET '))).toEqual([]);
  });
  /** Operations with passwords, refresh tokens, mailed tokens or signatures in their bodies or headers. */
  const withCredentialsOfTheirOwn = [
    'POST /v1/auth/forgot-password',
    'POST /v1/auth/login',
    'POST /v1/auth/logout',
    'POST /v1/auth/password-reset',
    'POST /v1/auth/refresh',
    'POST /v1/auth/restore-address',
    'POST /v1/auth/verify',
    'POST /v1/webhooks/stripe',
  ];

  test('3 properties: only listed members hold secrets, and clients cannot write members of the service', async () => {
    const document = await (await fetch(`${service.url}/openapi.json`)).text();
    const { schemas } = JSON.parse(document).components as {
      schemas: Record<string, { properties?: object; allOf?: readonly { properties?: object }[] }>;
    };
    const secret = /password|secret|hash|token|^key$/i;
    const holders = Object.entries(schemas).flatMap(([name, { properties, allOf = [] }]) =>
      [properties, ...allOf.map(part => part.properties)]
        .flatMap(members => Object.keys(members ?? {}))
        .filter(member => secret.test(member))
        .map(member => `${name}.${member}`),
    );
    const own = ['createdAt', 'updatedAt', 'version', 'rating', 'id'];
    const sent = { name: 'Lamp', price: 1, ...Object.fromEntries(own.map(member => [member, 4_711])) };
    const made = await call(service, { method: 'POST', path: '/v1/products', as: 'editor', body: sent });
    expect(made.status).toBe(201);
    for (const member of own) expect([member, made.body[member]]).not.toEqual([member, 4_711]);
    // The key of an attribute is its name, not a secret.
    const found = holders.filter(name => !/Attribute(Hal)?\.key$/.test(name));
    expect(found.sort()).toEqual(secretMembers);
  });
  /** Secrets that requests contain, and those that are shown once to the caller they are created for. */
  const secretMembers = [
    'AccessToken.accessToken',
    'AccountDeletion.currentPassword',
    'AddressRestoration.password',
    'AddressRestoration.token',
    'ApiKeyWithSecret.key',
    'CreateUser.password',
    'Credentials.password',
    'PasswordChange.currentPassword',
    'PasswordChange.newPassword',
    'PasswordReset.password',
    'PasswordReset.token',
    'PatchUser.currentPassword',
    'Payment.clientSecret',
    'RefreshRequest.refreshToken',
    'ReplaceUser.currentPassword',
    'TokenPair.accessToken',
    'TokenPair.refreshToken',
    'Verification.token',
    'VerifyRequest.token',
  ];

  test('4 resources: every text and array in a request has a limit, and every list has pages', async () => {
    const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
    const unlimited: string[] = [];
    const walk = (node: Record<string, unknown>, at: string): void => {
      if (node.type === 'array' && node.maxItems === undefined) unlimited.push(at);
      const isFree = node.enum === undefined && node.const === undefined && node.format === undefined;
      if (node.type === 'string' && isFree && node.maxLength === undefined) unlimited.push(at);
      for (const [name, child] of Object.entries((node.properties ?? {}) as Record<string, typeof node>))
        walk(child, `${at}.${name}`);
      if (typeof node.items === 'object') walk(node.items as typeof node, `${at}[]`);
    };
    const written = Object.entries(
      document.components.schemas as Record<string, Record<string, unknown>>,
    ).filter(([name]) => /^(Create|Replace|Patch|Bulk|Write)/.test(name));
    expect(written.length).toBeGreaterThan(10);
    for (const [name, schema] of written) walk(schema, name);
    expect(unlimited).toEqual([]);
    for (const list of ['/v1/products', '/v1/orders', '/v1/users', '/v1/events'])
      for (const query of ['perPage=101', 'limit=101', 'perPage=1000000000'])
        await play(service, { name: query, path: `${list}?${query}`, as: 'admin', status: 400 });
  });

  test('5 functions: no other role and no method override reaches operations of administrators', async () => {
    const { id } = await addPerson(service);
    const override = {
      'X-HTTP-Method-Override': 'DELETE',
      'X-Original-URL': `/v1/users/${id}`,
      'X-Role': 'admin',
    };
    for (const as of ['editor', 'user'] as const) {
      await play(service, { name: 'delete', method: 'DELETE', path: `/v1/users/${id}`, as, status: 403 });
      await play(service, { name: 'list', path: '/v1/users', as, headers: override, status: 403 });
      await play(service, {
        name: 'role',
        path: '/v1/events?role=admin',
        as,
        headers: override,
        status: 403,
      });
    }
    expect((await call(service, { path: `/v1/users/${id}`, as: 'admin', headers: override })).status).toBe(
      200,
    );
    expect((await call(service, { path: `/v1/users/${id}`, as: 'admin' })).status).toBe(200);
  });

  test('6 business flows: an order has the prices of the shop and deliverable quantities', async () => {
    const product = await addProduct(service, { price: 80 });
    const path = `${stranger.path}/orders`;
    const item = { productId: product.id, quantity: 1, unitPrice: 0.01, price: 0.01, total: 0.01 };
    const body = { items: [item], total: 0.01, status: 'PAID', paidAt: '2026-01-01T00:00:00Z' };
    const made = await call(service, { method: 'POST', path, headers: stranger.headers, body });
    expect(made.body).toMatchObject({ total: 80, status: 'PENDING', paidAt: null });
    for (const quantity of [0, -1, 0.5, 10_001, 2 ** 40]) {
      const sent = { items: [{ productId: product.id, quantity }] };
      const { headers } = stranger;
      await play(service, { name: String(quantity), method: 'POST', path, headers, body: sent, status: 400 });
    }
  });

  test('8 configuration: every response forbids sniffing, and none names the software', async () => {
    for (const [path, status] of [
      ['/v1/products', 200],
      ['/v1/products/0', 404],
      ['/v1/nothing', 404],
      ['/v1/products?page=x', 400],
      ['/health', 200],
      ['/docs', 200],
    ] as const) {
      const { headers, text, ...response } = await call(service, { path, as: 'user' });
      expect([path, response.status, headers.get('X-Content-Type-Options')]).toEqual([
        path,
        status,
        'nosniff',
      ]);
      for (const name of ['Server', 'X-Powered-By']) expect([path, headers.get(name)]).toEqual([path, null]);
      if (status >= 400) expect(text).not.toMatch(/ at \/|node_modules|\.ts:|sqlite|postgres/i);
    }
    // On a socket, because HTTP clients may refuse to send TRACE, or send something else.
    const token = service.tokens.user;
    const head = `TRACE /v1/products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const traced = await send(service.url, [head]);
    expect(traced.status).toBe(405);
    expect(traced.text).not.toContain(token);
  });

  test('9 inventory: only operations in the document are served', async () => {
    const guesses = [
      '/admin',
      '/debug',
      '/v0/products',
      '/v2/products',
      '/v1/admin',
      '/v1/graphql',
      '/.env',
      '/.git/config',
      '/data/catalog.db',
      '/openapi.yaml',
      '/v1/users/1/password',
      '/v1/sessions',
    ];
    for (const path of guesses) await play(service, { name: path, path, as: 'admin', status: 404 });
  });
});

/** The document's example for a body. */
function exampleOf(content: { readonly example?: unknown } | undefined): unknown {
  return content?.example ?? {};
}
