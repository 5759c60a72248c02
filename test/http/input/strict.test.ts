/** `Prefer: handling=strict`: unknown members and parameters are refused and named; otherwise they are ignored. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { type Call, call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const strict = { Prefer: 'handling=strict' };

interface Refusal {
  readonly name: string;
  readonly request: Omit<Call, 'path'> & { readonly path?: string };
  readonly problems: readonly (readonly [field: string, rule: string])[];
  readonly message: string;
}

const [merge, patch] = ['application/merge-patch+json', 'application/json-patch+json'];
const product = { name: 'Lamp', price: 5 };
const unknown = (name: string, near: string) => `${name}: is not known; the nearest known name is ${near}`;

/** Requests on product 1, as an editor. */
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
    name: 'a parameter whose prefix is not known, with the nearest one',
    request: { path: '/v1/products?atr.foo=2&attr[foo]=2' },
    problems: [
      ['atr.foo', 'unknown'],
      ['attr[foo]', 'unknown'],
    ],
    message: [unknown('atr.foo', 'attr.foo'), unknown('attr[foo]', 'attr.{name}')].join('; '),
  },
  {
    name: 'a parameter that is near to none of few, with all of them',
    request: { path: `/media/${'0'.repeat(64)}?width=64` },
    problems: [['width', 'unknown']],
    message: 'width: is not known; the known names are w, h, fit and format',
  },
  {
    name: 'the name that the document has for all parameters with a prefix',
    request: { path: '/v1/products?attributes=x' },
    problems: [['attributes', 'unknown']],
    message: 'attributes: is not known; perhaps attr.attributes is meant',
  },
  {
    name: 'an attribute without the prefix of filters by attributes',
    request: { path: '/v1/products?colour=red' },
    problems: [['colour', 'unknown']],
    message: 'colour: is not known; perhaps attr.colour is meant',
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
          { productId: 1, quantity: 1, qauntity: 2, name: 'Lamp' },
        ],
        total: 5,
      },
    },
    problems: [
      ['items.1.qauntity', 'unknown'],
      ['items.1.name', 'readOnly'],
      ['total', 'readOnly'],
    ],
    message: unknown('items.1.qauntity', 'quantity'),
  },
  {
    name: 'a read-only member, which would be ignored',
    request: { method: 'PUT', body: { ...product, id: 7 } },
    problems: [['id', 'readOnly']],
    message: 'id: is read-only',
  },
  {
    name: 'read-only members of what is to be made',
    request: {
      method: 'POST',
      path: '/v1/products',
      body: { ...product, id: 5, createdAt: 'x', rating: null, stock: { onHnad: 1 } },
    },
    problems: [
      ['id', 'readOnly'],
      ['createdAt', 'readOnly'],
      ['rating', 'readOnly'],
      ['stock.onHnad', 'unknown'],
    ],
    message: `id: is read-only; createdAt: is read-only; rating: is read-only; ${unknown('stock.onHnad', 'onHand')}`,
  },
  {
    name: 'read-only members of what is changed together with others',
    request: { method: 'PATCH', path: '/v1/products', body: { ids: [1], update: { id: 2 }, updated: 1 } },
    problems: [
      ['update.id', 'readOnly'],
      ['updated', 'unknown'],
    ],
    message: 'update.id: is read-only; updated: is not known; the nearest known name is update',
  },
  {
    name: 'what a response has that is no representation of the body',
    request: { method: 'POST', path: '/v1/auth/login', body: { accessToken: 'x' } },
    problems: [['accessToken', 'unknown']],
    message: 'accessToken: is not known; the known names are email and password',
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
        { op: 'replace', path: '/name', value: 'Lamp', vaule: 'Lamp', extra: 'Lamp' },
      ],
    },
    problems: [
      ['0.path', 'unknown'],
      ['1.from', 'unknown'],
      ['2.vaule', 'unknown'],
      ['2.extra', 'unknown'],
    ],
    message: [
      '0.path: names "pirce", which is not known; the nearest known name is price',
      '1.from: names "nmae", which is not known; the nearest known name is name',
      unknown('2.vaule', 'value'),
      '2.extra: is not known; the known names are op, path, value and from',
    ].join('; '),
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
    message: 'body: must be absent: this operation does not read a body',
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
      const path = request.path ?? '/v1/products/1';
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

  test('unknown names are ignored without the preference, also right after a refusal', async () => {
    const path = '/v1/products?perpage=5&sort=price';
    await call(service, { path, as: 'user' });
    expect((await call(service, { path, as: 'user', headers: strict })).status).toBe(400);
    const response = await call(service, { path, as: 'user' });
    expect([response.status, response.headers.get('Preference-Applied')]).toEqual([200, null]);
    // Caches must learn of the preference from responses to other clients (RFC 9110 §12.5.5).
    expect(response.headers.get('Vary')).toContain('Prefer');
    const made = await addProduct(service, { ...product, catgeory: 'x' });
    const sent = { method: 'PATCH', path: pathOf(made), as: 'editor' } as const;
    const changed = await call(service, { ...sent, body: { id: 7, pirce: 6, price: 6 } });
    expect(changed.body).toMatchObject({ id: made.id, price: 6 });
  });

  test('a JSON Patch may test read-only members and append to arrays', async () => {
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

  test('a merge patch may contain read-only members with their current values', async () => {
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
    ['handling="s\\trict"', true],
    ['handling="strict', false],
    ['respond-async, handling=strict; wait=10', true],
    ['handling=lenient, handling=strict', false],
    ['handling=lenient', false],
    ['handling', false],
    ['return=minimal', false],
    ['note="a, handling=strict"', false],
  ])('%s', async (prefer, applies) => {
    const headers = { Prefer: prefer };
    const response = await call(service, { path: '/v1/products?colour=red', as: 'user', headers });
    expect([response.status, response.headers.has('Preference-Applied')]).toEqual([
      applies ? 400 : 200,
      applies,
    ]);
    if (applies) expect(response.body.message).toBe('colour: is not known; perhaps attr.colour is meant');
  });

  test('the error for very many unknown members names a hundred of them', async () => {
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`member${index}`, index]));
    const sent = { method: 'POST', path: '/v1/products', as: 'editor', headers: strict, body: many } as const;
    const { body } = await call(service, sent);
    expect(body.details).toHaveLength(100);
    expect(body.message).toContain('and 95 more, see details');
  });
});
