/** What a product may hold: every field at its limits, on creation and replacement. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, pathOf, plainProduct, read } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const lamp = { name: 'Lamp', price: 12.5 };
const emoji = '💡';

/** What is sent besides name and price → what the product then has. */
const accepted: [name: string, sent: object | string, has: object][] = [
  ['name and price only', lamp, { ...plainProduct, ...lamp }],
  ['a name between spaces', { ...lamp, name: ' \t Lamp \n' }, { name: 'Lamp' }],
  ['a name of 200 characters', { ...lamp, name: 'x'.repeat(200) }, { name: 'x'.repeat(200) }],
  [
    'a name of 200 characters beyond U+FFFF',
    { ...lamp, name: emoji.repeat(200) },
    { name: emoji.repeat(200) },
  ],
  ['a name of quotes and markup', { ...lamp, name: `"'\\</script>\u2028` }, { name: `"'\\</script>` }],
  ['price 0', { ...lamp, price: 0 }, { price: 0 }],
  ['price -0', '{"name":"Lamp","price":-0}', { price: 0 }],
  ['price 0.1', { ...lamp, price: 0.1 }, { price: 0.1 }],
  ['the smallest price', { ...lamp, price: 5e-324 }, { price: 5e-324 }],
  ['the largest price', { ...lamp, price: Number.MAX_VALUE }, { price: Number.MAX_VALUE }],
  ['a price with an exponent', '{"name":"Lamp","price":1.5E+1}', { price: 15 }],
  ['status archived', { ...lamp, status: 'archived' }, { status: 'archived' }],
  ['another currency', { ...lamp, currency: 'JPY' }, { currency: 'JPY' }],
  [
    'a description of 100,000 characters',
    { ...lamp, description: 'd'.repeat(100_000) },
    { description: 'd'.repeat(100_000) },
  ],
  ['an empty description', { ...lamp, description: '' }, { description: '' }],
  ['a sku of 255 characters', { ...lamp, sku: 's'.repeat(255) }, { sku: 's'.repeat(255) }],
  ['a category of 100 characters', { ...lamp, category: 'c'.repeat(100) }, { category: 'c'.repeat(100) }],
  [
    '50 tags of 50 characters',
    { ...lamp, tags: Array(50).fill('t'.repeat(50)) },
    { tags: Array(50).fill('t'.repeat(50)) },
  ],
  [
    'null wherever it may be',
    { ...lamp, currency: null, status: null, description: null, sku: null, category: null, tags: null },
    plainProduct,
  ],
  [
    'fields that are not known or not writable',
    { ...lamp, colour: 'red', id: 7, createdAt: 'x', updatedAt: 1 },
    { ...plainProduct, ...lamp },
  ],
  [
    'a member named __proto__',
    '{"name":"Lamp","price":12.5,"__proto__":{"status":"archived"}}',
    { ...plainProduct, ...lamp },
  ],
];

const refused: [name: string, sent: unknown, problems: [string, string][]][] = [
  [
    'nothing',
    {},
    [
      ['name', 'required'],
      ['price', 'required'],
    ],
  ],
  ['no name', { price: 1 }, [['name', 'required']]],
  ['no price', { name: 'Lamp' }, [['price', 'required']]],
  [
    'null name and price',
    { name: null, price: null },
    [
      ['name', 'type'],
      ['price', 'type'],
    ],
  ],
  ['a blank name', { ...lamp, name: ' \t\n\u00a0' }, [['name', 'blank']]],
  ['a name of 201 characters', { ...lamp, name: 'x'.repeat(201) }, [['name', 'maxLength']]],
  ['a name that is a number', { ...lamp, name: 5 }, [['name', 'type']]],
  ['U+0000 in a name', { ...lamp, name: 'a\u0000b' }, [['name', 'characters']]],
  [
    'half a surrogate pair in a description',
    '{"name":"Lamp","price":1,"description":"\\ud800"}',
    [['description', 'characters']],
  ],
  ['U+0000 in a tag', { ...lamp, tags: ['ok', 'a\u0000'] }, [['tags.1', 'characters']]],
  ['a negative price', { ...lamp, price: -0.01 }, [['price', 'minimum']]],
  ['a price in quotes', { ...lamp, price: '1' }, [['price', 'type']]],
  ['a price that is no finite number', '{"name":"Lamp","price":1e400}', [['price', 'type']]],
  ['a price that is true', { ...lamp, price: true }, [['price', 'type']]],
  ['an unknown status', { ...lamp, status: 'gone' }, [['status', 'enum']]],
  ['a currency in small letters', { ...lamp, currency: 'eur' }, [['currency', 'pattern']]],
  [
    'a description of 100,001 characters',
    { ...lamp, description: 'd'.repeat(100_001) },
    [['description', 'maxLength']],
  ],
  ['a sku of 256 characters', { ...lamp, sku: 's'.repeat(256) }, [['sku', 'maxLength']]],
  ['a blank sku', { ...lamp, sku: ' ' }, [['sku', 'blank']]],
  ['a category of 101 characters', { ...lamp, category: 'c'.repeat(101) }, [['category', 'maxLength']]],
  ['51 tags', { ...lamp, tags: Array(51).fill('t') }, [['tags', 'maxItems']]],
  ['a tag of 51 characters', { ...lamp, tags: ['t'.repeat(51)] }, [['tags.0', 'maxLength']]],
  [
    'a blank tag and one that is a number',
    { ...lamp, tags: ['', 1] },
    [
      ['tags.0', 'blank'],
      ['tags.1', 'type'],
    ],
  ],
  ['tags that are text', { ...lamp, tags: 'a,b' }, [['tags', 'type']]],
  ['an array', [lamp], [['body', 'type']]],
  ['null', 'null', [['body', 'type']]],
  ['text', '"Lamp"', [['body', 'type']]],
];

describeOnDatabases('products on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const json = { 'Content-Type': 'application/json' };

  test.each(accepted)('POST accepts %s', async (name, sent, has) => {
    const made = await play(service, {
      name,
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      headers: json,
      body: sent,
      status: 201,
    });
    expect(made.body).toMatchObject({ ...has, createdAt: nowOf(service), updatedAt: nowOf(service) });
    expect(made.headers.get('Location')).toBe(`${service.url}/v1/products/${made.body.id}`);
    service.clock.advance(1000);
    const found = await read(service, made.body);
    expect(found.text).toBe(made.text);
    expect(found.headers.get('ETag')).toBe(made.headers.get('ETag'));
    expect(found.headers.get('Last-Modified')).toBe(new Date(service.clock.now()).toUTCString());
    expect(found.headers.get('Cache-Control')).toBe('private, max-age=0, must-revalidate');
    // Each sku must be free for the same scenario elsewhere.
    await call(service, { method: 'DELETE', path: pathOf(made.body), as: 'editor' });
  });

  test.each(refused)('POST refuses %s', async (name, body, problems) => {
    const request = { path: '/v1/products', as: 'editor', headers: json, body } as const;
    await play(service, { name, method: 'POST', ...request, status: 400, problems });
  });

  test.each(refused)('PUT refuses %s', async (name, body, problems) => {
    const product = await addProduct(service);
    const request = { path: pathOf(product), as: 'editor', headers: json, body } as const;
    await play(service, { name, method: 'PUT', ...request, status: 400, problems });
  });
});
