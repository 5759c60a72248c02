/**
 * Reading text from outside must take time linear in its length, because all other requests wait for it. These are the
 * places that need texts made for them.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { z } from 'zod';
import { allow } from '../../../src/http/access.ts';
import { createEndpoint } from '../../../src/http/endpoint.ts';
import { createQueryParser } from '../../../src/http/request/index.ts';
import { replyOk } from '../../../src/http/response/reply.ts';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { excessiveTime, superlinearGrowth } from '../../support/service/growth.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

type Text = (length: number) => string;
const run =
  (unit: string, end = ''): Text =>
  length =>
    unit.repeat(Math.floor(length / unit.length)) + end;

/** Four times this length, with the rest of the head, is within the 16 kB that a head may have. */
const inHead = 3_700;
const inBody = 100_000;

const headers: [name: string, text: Text, method?: string][] = [
  ['Access-Control-Request-Headers', length => `a${' '.repeat(length)}b`, 'OPTIONS'],
  ['Access-Control-Request-Headers', run('a,'), 'OPTIONS'],
  ['Accept', run(' ', 'x')],
  ['Accept', run(';charset=', 'x')],
  ['Accept', length => `text/x;charset${' '.repeat(length)}x`],
  ['Accept', run('a/b;q="\\",', 'x')],
  ['Accept', run('a/b,')],
  ['Accept', length => `text/x${';q=1'.repeat(length / 4)}`],
  ['Accept-Encoding', run('gzip,')],
  ['Accept-Encoding', run(' ', 'x')],
  ['Accept-Encoding', run('br;q=1;', 'x')],
  ['If-None-Match', run('"', 'x')],
  ['If-None-Match', run('W/"a",')],
  ['If-None-Match', run('"a-gzip-br",')],
  ['If-Modified-Since', length => `Mon, ${' '.repeat(length)}x`],
  ['If-Modified-Since', length => `Mon, ${'('.repeat(length)}`],
  ['Prefer', run('handling ', '=strict')],
  ['Prefer', run('a;b,')],
  ['Prefer', run('"\\"', ',handling=strict')],
  ['X-Forwarded-For', run('1.', ':1')],
  ['X-Forwarded-For', run(':')],
  ['X-Forwarded-For', run('1.1.1.1,')],
  ['X-Forwarded-Host', run('a.', ',')],
  ['X-Request-ID', run(' ', '\u00e9')],
  ['Authorization', length => `Bearer ${'.'.repeat(length)}`],
  ['Authorization', length => `Bearer ${' '.repeat(length)}x y`],
  ['X-API-Key', run('ck_')],
];

const parameters: [path: string, text: Text][] = [
  ['/v1/products?minPrice=', run('1', 'x')],
  ['/v1/products?minPrice=', run('1', '.x')],
  ['/v1/products?page=', run('1', 'x')],
  ['/v1/products?cursor=', run('A')],
  ['/v1/products?', run('a=b&')],
  ['/v1/products?', run('&')],
  ['/v1/products?category=', run('%20', 'x')],
  ['/v1/search?q=', run('a+')],
  ['/v1/search?q=', run('%22')],
  ['/v1/search?q=', run('%CC%81')],
  ['/v1/search?q=', run('a')],
  ['/v1/search?q=', run('-')],
  ['/v1/products/', run('1', 'x')],
  ['/', run('/')],
  ['/v1/data/weather?city=', run('a%20')],
];

/** A quarter of the maximum length of a description: longer ones are refused before they are processed. */
const inDescription = 24_000;
/** Descriptions that are slow to split into words: marks to reorder, letters that expand to several words, markup. */
const descriptions: Text[] = [
  run('\u0301\u0323'),
  run('\ufdfa'),
  run('\ufdfa '),
  run('\u3300'),
  run('<script><', '>'),
  run('<p>'),
  run('5\u2033'),
];

const bodies: [method: string, path: string, member: string, text: Text, type?: string][] = [
  ['PATCH', '/v1/todos/1', 'done', run(' ', 'x')],
  ['PATCH', '/v1/todos/1', 'done', run('\u2028', 'false')],
  ['PATCH', '/v1/todos/1', 'title', run(' ', 'x')],
  ['PATCH', '/v1/todos/1', 'title', run('\u{1f469}\u200d')],
  ['POST', '/v1/todos', 'title', run(' x')],
  ['POST', '/v1/auth/login', 'email', run('a', '@')],
  ['POST', '/v1/auth/login', 'email', run('a.', '@a')],
  ['POST', '/v1/auth/login', 'email', length => `a@${'a-'.repeat(length / 2)}`],
  ['POST', '/v1/users', 'email', length => `a@${'a.'.repeat(length / 2)}`],
  ['POST', '/v1/auth/refresh', 'refreshToken', run('.')],
  ['POST', '/v1/products', 'currency', run('A')],
  ['POST', '/v1/products', 'name', run('a ')],
  ['POST', '/v1/products', 'description', run('\u0301')],
  ['POST', '/v1/products', 'description', run('ab ')],
];

// A head has room for four thousand of them, too few to measure.
test('time grows at most linearly with the number of values of a parameter', async () => {
  const endpoint = createEndpoint({
    method: 'GET',
    path: '/lamps',
    operationId: 'listLamps',
    summary: 'List lamps',
    tag: 'Lamps',
    access: allow.public,
    query: z.object({ id: z.array(z.string()).optional() }),
    responses: {},
    handle: () => replyOk({}),
  });
  const parse = createQueryParser();
  const growth = await superlinearGrowth(
    length => expect(parse(endpoint, 'id=&'.repeat(length))).toEqual({ id: new Array(length).fill('') }),
    5000,
  );
  expect(growth).toBeUndefined();
});

describeOnDatabases('time grows at most linearly with the length of a text on %s', kind => {
  let service: TestService;
  let product: string;
  beforeAll(async () => {
    service = await startTestService(kind, { TRUST_PROXY: 'true' });
    await call(service, { method: 'POST', path: '/v1/todos', as: 'admin', body: { title: 'Dust' } });
    product = `/v1/products/${(await addProduct(service)).id}`;
  });
  afterAll(() => service.stop());

  const isServed = ({ status }: Response) => expect(status).toBeLessThan(500);
  const request = async (path: string, init: RequestInit) => {
    const response = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init });
    await response.bytes();
    isServed(response);
  };
  const authorization = () => ({ Authorization: `Bearer ${service.tokens.admin}` });

  test.each(headers)('header %s', async (name, text, method = 'GET') => {
    const path = name.startsWith('If-') ? product : '/v1/products';
    const growth = await superlinearGrowth(
      length => request(path, { method, headers: { Origin: 'https://a.example', [name]: text(length) } }),
      inHead,
    );
    expect(growth).toBeUndefined();
  });

  test.each(parameters)('%s', async (path, text) => {
    const growth = await superlinearGrowth(
      length => request(`${path}${text(length)}`, { headers: authorization() }),
      inHead,
    );
    expect(growth).toBeUndefined();
  });

  test.each(bodies)('%s %s: %s', async (method, path, member, text) => {
    const headers = { ...authorization(), 'Content-Type': 'application/json' };
    const body = (length: number) => JSON.stringify({ [member]: text(length) });
    const growth = await superlinearGrowth(
      length => request(path, { method, headers, body: body(length) }),
      inBody,
    );
    expect(growth).toBeUndefined();
  });

  test.each(descriptions.map(text => [JSON.stringify(text(16)), text] as const))(
    'a product with the description %s, and a search that shows it',
    async (_, text) => {
      const headers = { ...authorization(), 'Content-Type': 'application/json' };
      let number = 0;
      const growth = await superlinearGrowth(async length => {
        number += 1;
        const name = `Quagga${Bun.hash(text(16))} ${number}`;
        const body = JSON.stringify({ name, price: 1, description: text(length) });
        const written = await fetch(`${service.url}/v1/products`, { method: 'POST', headers, body });
        expect(written.status).toBe(201);
        const query = encodeURIComponent(`"${name}"`);
        await request(`/v1/search?q=${query}`, { headers: authorization() });
      }, inDescription);
      expect(growth).toBeUndefined();
    },
  );

  const patchedWith = (operations: Text) => async () => {
    const headers = { ...authorization(), 'Content-Type': 'application/json-patch+json', 'If-Match': '*' };
    const growth = await superlinearGrowth(
      length => request(product, { method: 'PATCH', headers, body: operations(length) }),
      inBody,
    );
    expect(growth).toBeUndefined();
  };
  const patch = (path: string) => JSON.stringify([{ op: 'test', path, value: 1 }]);
  test(
    'a pointer of many tokens',
    patchedWith(length => patch('/a'.repeat(length / 2))),
  );
  test(
    'a pointer of escapes',
    patchedWith(length => patch(`/${'~1'.repeat(length / 2)}~`)),
  );
  test(
    'a pointer of slashes',
    patchedWith(length => patch('/'.repeat(length))),
  );

  test.each([
    ['POST', '/v1/auth/login', (name: string) => ({ [name]: 1 })],
    ['POST', '/v1/products', (name: string) => ({ name: 'Lamp', price: 1, attributes: { [name]: 1 } })],
  ])('%s %s: a very long name of a member takes about as long as a value', async (method, path, bodyOf) => {
    const headers = { ...authorization(), 'Content-Type': 'application/json', Prefer: 'handling=strict' };
    for (const unit of ['a', '%41', '%2541', 'eyJ-']) {
      const text = run(unit)(900_000);
      const named = JSON.stringify(bodyOf(text));
      const valued = JSON.stringify({ ignored: text });
      const excess = await excessiveTime(
        () => request(path, { method, headers, body: named }),
        () => request(path, { method, headers, body: valued }),
      );
      expect([unit, excess]).toEqual([unit, undefined]);
    }
  });

  test.each([
    ['blanks', (length: number) => ' '.repeat(length)],
    ['open brackets', (length: number) => '['.repeat(length)],
    ['quotation marks', (length: number) => '"'.repeat(length)],
    ['backslashes', (length: number) => `"${'\\'.repeat(length)}`],
    ['digits', (length: number) => '1'.repeat(length)],
    ['members', (length: number) => `{${'"a":1,'.repeat(length / 6)}"b":1}`],
    [
      'different members',
      (length: number) => `{${Array.from({ length: length / 12 }, (_, i) => `"m${i}":1`).join()}}`,
    ],
    ['items', (length: number) => `[${'1,'.repeat(length / 2)}1]`],
  ])('a body of %s, handled strictly', async (_, text) => {
    const headers = { ...authorization(), 'Content-Type': 'application/json', Prefer: 'handling=strict' };
    const growth = await superlinearGrowth(
      length => request('/v1/products', { method: 'POST', headers, body: text(length) }),
      inBody,
    );
    expect(growth).toBeUndefined();
  });
});
