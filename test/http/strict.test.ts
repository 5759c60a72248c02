/** `Prefer: handling=strict`: what an operation does not know is refused and named, and else ignored. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../support/catalog.ts';
import { writesNothing } from '../support/contents.ts';
import { contractAt, type Operation } from '../support/contract.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { type Call, call } from '../support/http.ts';
import { play } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Walk, walkOf, webhookSecret } from '../support/walk.ts';

const strict = { Prefer: 'handling=strict' };

const operations = await (async () => {
  const service = await startTestService('sqlite');
  const contract = await contractAt(service.url);
  await service.stop();
  return contract.operations;
})();

interface Refusal {
  readonly name: string;
  readonly request: Omit<Call, 'path'> & { readonly path?: string };
  readonly problems: readonly (readonly [field: string, rule: string])[];
  readonly message: string;
}

const merge = 'application/merge-patch+json';
const patch = 'application/json-patch+json';
const product = { name: 'Lamp', price: 5 };
const unknown = (name: string, near: string) => `${name}: is not known; the nearest known name is ${near}`;
const at = (path: string) => path.replace('{id}', '1');

/** On the product 1, as an editor. */
const refusals: readonly Refusal[] = [
  {
    name: 'a parameter',
    request: { path: '/v1/products?perpage=5' },
    problems: [['perpage', 'unknown']],
    message: unknown('perpage', 'perPage'),
  },
  {
    name: 'each parameter once, with those that are known',
    request: { path: '/v1/products?sku_=A&page=1&sku_=B&sotr=id&api_key=x' },
    problems: [
      ['sku_', 'unknown'],
      ['sotr', 'unknown'],
    ],
    message: `${unknown('sku_', 'sku')}; ${unknown('sotr', 'sort')}`,
  },
  {
    name: 'a parameter of an operation that has none',
    request: { path: '/v1/products/1?fields=name&apikey=x' },
    problems: [
      ['fields', 'unknown'],
      ['apikey', 'unknown'],
    ],
    message: `fields: is not known; there are none; ${unknown('apikey', 'api_key')}`,
  },
  {
    name: 'the name that the document has for all parameters with a prefix',
    request: { path: '/v1/products?attributes=x' },
    problems: [['attributes', 'unknown']],
    message: 'attributes: is not known',
  },
  {
    name: 'a member',
    request: { method: 'POST', path: '/v1/products', body: { ...product, catgeory: 'lighting' } },
    problems: [['catgeory', 'unknown']],
    message: unknown('catgeory', 'category'),
  },
  {
    name: 'a member of a member',
    request: { method: 'PATCH', path: '/v1/products', body: { ids: [1], update: { statsu: 'archived' } } },
    problems: [['update.statsu', 'unknown']],
    message: unknown('update.statsu', 'status'),
  },
  {
    name: 'a member of an item',
    request: {
      method: 'POST',
      path: '/v1/users/1/orders',
      body: {
        items: [
          { productId: 1, quantity: 1 },
          { productId: 1, quantity: 1, qty: 2 },
        ],
      },
    },
    problems: [['items.1.qty', 'unknown']],
    message: unknown('items.1.qty', 'quantity'),
  },
  {
    name: 'a read-only member, which would be ignored',
    request: { method: 'PUT', body: { ...product, id: 7 } },
    problems: [['id', 'readOnly']],
    message: 'id: is read-only',
  },
  {
    name: 'a partial object',
    request: { method: 'PATCH', body: { pirce: 6 } },
    problems: [['pirce', 'unknown']],
    message: unknown('pirce', 'price'),
  },
  {
    name: 'a merge patch',
    request: { method: 'PATCH', headers: { 'Content-Type': merge }, body: { pirce: null } },
    problems: [['pirce', 'unknown']],
    message: unknown('pirce', 'price'),
  },
  ...Object.entries({ id: 4, rating: { average: 5, count: 1 }, available: false }).map(([name, value]) => ({
    name: `a merge patch of ${name}, which is read-only`,
    request: { method: 'PATCH' as const, headers: { 'Content-Type': merge }, body: { [name]: value } },
    problems: [[name, 'readOnly'] as const],
    message: `${name}: is read-only`,
  })),
  {
    name: 'a merge patch of a member that is read-only within another',
    request: {
      method: 'PATCH',
      headers: { 'Content-Type': merge },
      body: { stock: { reserved: 5 } },
    },
    problems: [['stock.reserved', 'readOnly']],
    message: 'stock.reserved: is read-only',
  },
  {
    name: 'the pointers and members of a JSON Patch',
    request: {
      method: 'PATCH',
      headers: { 'Content-Type': patch },
      body: [
        { op: 'add', path: '/pirce', value: 6 },
        { op: 'copy', from: '/nmae', path: '/description' },
        { op: 'replace', path: '/name', value: 'Lamp', vaule: 'Lamp' },
      ],
    },
    problems: [
      ['0.path', 'unknown'],
      ['1.from', 'unknown'],
      ['2.vaule', 'unknown'],
    ],
    message: '0.path: names "pirce", which is not known; the nearest known name is price',
  },
  {
    name: 'the value of a JSON Patch',
    request: {
      method: 'PATCH',
      headers: { 'Content-Type': patch },
      body: [{ op: 'replace', path: '', value: { ...product, colour: 'red' } }],
    },
    problems: [['0.value.colour', 'unknown']],
    message: '0.value.colour: is not known',
  },
  {
    name: 'a body that is not read',
    request: { method: 'DELETE', body: { reason: 'sold' } },
    problems: [['body', 'unknown']],
    message: 'body: is not read: this operation takes none',
  },
];

describeOnDatabases('strict handling on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    await addProduct(service, { ...product, stock: { onHand: 3 } });
  });
  afterAll(() => service.stop());

  test.each(refusals.map(refusal => [refusal.name, refusal] as const))(
    'refuses %s',
    async (name, { request, problems, message }) => {
      const path = at(request.path ?? '/v1/products/{id}');
      const headers = { ...request.headers, ...strict };
      const expected = {
        status: 400,
        problems,
        responseHeaders: { 'Preference-Applied': 'handling=strict' },
      };
      const response = await play(service, { as: 'admin', ...request, path, headers, name, ...expected });
      expect(response.body.message).toStartWith(message);
      expect(response.headers.get('Vary')).toContain('Prefer');
    },
  );

  test('the same is ignored without the preference, also right after it was refused', async () => {
    const path = '/v1/products?perpage=5&sort=price';
    await call(service, { path, as: 'user' });
    expect((await call(service, { path, as: 'user', headers: strict })).status).toBe(400);
    const response = await call(service, { path, as: 'user' });
    expect([response.status, response.headers.get('Preference-Applied')]).toEqual([200, null]);
    expect(response.headers.get('Vary')).not.toContain('Prefer');
    const made = await addProduct(service, { ...product, catgeory: 'x' });
    const sent = { method: 'PATCH', path: pathOf(made), as: 'editor' } as const;
    const changed = await call(service, { ...sent, body: { id: 7, pirce: 6, price: 6 } });
    expect(changed.body).toMatchObject({ id: made.id, price: 6 });
  });

  test('members may stand where any will do, and pointers may name what is only shown', async () => {
    const made = await addProduct(service, product);
    const operationsOnIt = [
      { op: 'test', path: '/id', value: made.id },
      { op: 'test', path: '/rating/count', value: 0 },
      { op: 'add', path: '/tags/-', value: 'new' },
    ];
    const headers = { ...strict, 'Content-Type': patch };
    const sent = { method: 'PATCH', path: pathOf(made), as: 'editor', headers } as const;
    expect((await call(service, { ...sent, body: operationsOnIt })).body.tags).toEqual(['new']);
  });

  test('a merge patch may have read-only members as they are', async () => {
    const made = await addProduct(service, { ...product, stock: { onHand: 3 } });
    const headers = { ...strict, 'Content-Type': merge };
    const { body } = await call(service, { path: pathOf(made), as: 'editor' });
    const sent = { method: 'PATCH', path: pathOf(made), as: 'editor', headers } as const;
    const response = await call(service, { ...sent, body: { ...body, price: 6 } });
    expect(response).toMatchObject({ status: 200, body: { price: 6, stock: body.stock } });
  });

  test.each([
    ['handling=strict', true],
    ['HANDLING = "Strict"', true],
    ['respond-async, handling=strict; wait=10', true],
    ['handling=lenient, handling=strict', false],
    ['handling=lenient', false],
    ['handling', false],
    ['return=minimal', false],
    ['note="a, handling=strict"', false],
  ])('%s', async (prefer, applies) => {
    const response = await call(service, {
      path: '/v1/products?colour=red',
      as: 'user',
      headers: { Prefer: prefer },
    });
    expect([response.status, response.headers.has('Preference-Applied')]).toEqual([
      applies ? 400 : 200,
      applies,
    ]);
  });

  test('a body of very many unknown members names a hundred of them', async () => {
    const many = Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [`member${index}`, index]));
    const sent = { method: 'POST', path: '/v1/products', as: 'editor', headers: strict } as const;
    const { body } = await call(service, { ...sent, body: { ...product, ...many } });
    expect(body.details).toHaveLength(100);
    expect(body.message).toContain('and 95 more, see details');
  });
});

/** What is strict does not depend on the database. */
describe('strict handling of every operation', () => {
  let service: TestService;
  let walk: Walk;
  beforeAll(async () => {
    service = await startTestService('sqlite', { STRIPE_WEBHOOK_SECRET: webhookSecret });
    walk = await walkOf(service, operations);
  }, 30_000);
  afterAll(() => service.stop());

  const named = operations.map(operation => [`${operation.method} ${operation.path}`, operation] as const);
  test.each(named)('%s: takes its own example, and refuses one name more', async (_, operation) => {
    const path = await walk.existingPath(operation);
    const other = `${path}${path.includes('?') ? '&' : '?'}unheardOf=1`;
    await writesNothing(service, async () => {
      expectRefusal(await walk.send(operation, other, { headers: strict }), 'unheardOf');
      for (const request of withUnknownMember(operation)) {
        expectRefusal(await walk.send(operation, path, request), request.field);
      }
    });
    const taken = await walk.send(operation, path, {
      headers: { ...walk.credentials(operation).headers, ...strict },
    });
    expect({ success: taken.status < 300, text: taken.text }).toEqual({ success: true, text: taken.text });
    expect(taken.headers.get('Preference-Applied')).toBe('handling=strict');
  });

  /** The operation's example in each of its media types that are JSON, with a member that it does not know. */
  function withUnknownMember(operation: Operation): (Partial<Call> & { readonly field: string })[] {
    const example = walk.body(operation);
    if (operation.operationId === 'receiveStripeEvent' || typeof example !== 'object') return [];
    const credentials = walk.credentials(operation).headers;
    const types = Object.keys(operation.body ?? {}).filter(type => type.endsWith('json'));
    return types.map(type => {
      const headers = { ...credentials, ...strict, 'Content-Type': type };
      return type === patch
        ? { headers, body: [{ op: 'add', path: '/unheardOf', value: 1 }], field: '0.path' }
        : { headers, body: { ...example, unheardOf: 1 }, field: 'unheardOf' };
    });
  }

  function expectRefusal({ status, body, text }: Awaited<ReturnType<typeof call>>, field: string): void {
    expect([status, text]).toEqual([400, expect.stringContaining(`${field}: `)]);
    if (body.details === undefined) return;
    const found = body.details.find((detail: { field: string }) => detail.field === field);
    expect(found).toMatchObject({ code: 'unknown', message: expect.stringContaining('is not known') });
  }
});
