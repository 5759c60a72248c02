/** The members of products besides name and price: each at its limits, in every kind of write. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  addProduct,
  nowOf,
  pathOf,
  plainProduct,
  read,
  readListedIds,
  whole,
} from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const link = 'https://images.example/a.jpg';
const otherLink = 'http://images.example/b.png?size=2#top';
const shown = { width: null, height: null, colour: null, type: null };
const longest = `https://images.example/${'x'.repeat(2048 - 23)}`;
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));

const accepted: [name: string, sent: object, has: object][] = [
  ['a brand between spaces', { brand: ' Bosch ' }, { brand: 'Bosch' }],
  ['a GTIN of 8 digits', { gtin: '96385074' }, { gtin: '96385074' }],
  ['a GTIN of 12 digits', { gtin: '036000291452' }, { gtin: '036000291452' }],
  ['a GTIN of 13 digits', { gtin: '4006381333931' }, { gtin: '4006381333931' }],
  ['a GTIN of 14 digits', { gtin: '10614141000415' }, { gtin: '10614141000415' }],
  ['a part number and a price before', { mpn: 'A', compareAtPrice: 0 }, { mpn: 'A', compareAtPrice: 0 }],
  ['a weight', { weight: { value: 0.001, unit: 'oz' } }, { weight: { value: 0.001, unit: 'oz' } }],
  ['further categories', { categories: ['a', 'b'] }, { categories: ['a', 'b'] }],
  [
    'attributes of every type, in their order',
    { attributes: { z: 'red', 'a.b_c-1': 12.5, organic: true, of: ['oak', 'steel'], none: [], empty: '' } },
    { attributes: { z: 'red', 'a.b_c-1': 12.5, organic: true, of: ['oak', 'steel'], none: [], empty: '' } },
  ],
  ['100 attributes', { attributes: keys(100) }, { attributes: keys(100) }],
  ['a key called constructor', { attributes: { constructor: 'x' } }, { attributes: { constructor: 'x' } }],
  ['an attribute of 1,000 characters', { attributes: { a: '💡'.repeat(1000) } }, {}],
  [
    'options',
    { options: [{ name: ' Size ', values: ['S', ' M'] }] },
    { options: [{ name: 'Size', values: ['S', 'M'] }] },
  ],
  ['a link as long as may be', { images: [{ url: longest }] }, {}],
  ['a link with @ behind its host', { images: [{ url: 'https://a.example/@b?c=d@e' }] }, {}],
  [
    'stock with what goes without saying',
    { stock: { onHand: 2 } },
    { stock: { tracked: true, onHand: 2, reserved: 0, backorder: false }, available: true },
  ],
  ['no stock left', { stock: { onHand: 0 } }, { available: false }],
  ['no stock left, on backorder', { stock: { onHand: 0, backorder: true } }, { available: true }],
  ['stock that is not tracked', { stock: { tracked: false } }, { available: true }],
  ['what is archived', { status: 'archived', stock: { onHand: 5 } }, { available: false }],
  [
    'members that are read-only',
    { variantCount: 7, priceRange: { min: 1, max: 2 }, available: false },
    { variantCount: 0, priceRange: { min: 12.5, max: 12.5 }, available: true },
  ],
  [
    'null wherever it may be',
    Object.fromEntries(
      [
        'brand',
        'gtin',
        'mpn',
        'externalId',
        'compareAtPrice',
        'weight',
        'categories',
        'attributes',
        'options',
      ]
        .concat(['images', 'stock'])
        .map(member => [member, null]),
    ),
    plainProduct,
  ],
];

const refused: [name: string, sent: object, problems: [string, string][]][] = [
  ['a blank brand', { brand: ' ' }, [['brand', 'blank']]],
  ['a brand of 101 characters', { brand: 'x'.repeat(101) }, [['brand', 'maxLength']]],
  ['a GTIN with a wrong check digit', { gtin: '4006381333932' }, [['gtin', 'checkDigit']]],
  ['a GTIN of zeros', { gtin: '00000000' }, [['gtin', 'pattern']]],
  ['a GTIN of 9 digits', { gtin: '123456789' }, [['gtin', 'pattern']]],
  ['a GTIN that is a number', { gtin: 96_385_074 }, [['gtin', 'type']]],
  ['an external id of 201 characters', { externalId: 'x'.repeat(201) }, [['externalId', 'maxLength']]],
  ['a negative price before', { compareAtPrice: -1 }, [['compareAtPrice', 'minimum']]],
  ['a weight of 0', { weight: { value: 0, unit: 'g' } }, [['weight.value', 'exclusiveMinimum']]],
  ['a weight in stones', { weight: { value: 1, unit: 'st' } }, [['weight.unit', 'enum']]],
  ['a weight without unit', { weight: { value: 1 } }, [['weight.unit', 'enum']]],
  [
    '21 categories',
    { categories: Array.from({ length: 21 }, (_, n) => `c${n}`) },
    [['categories', 'maxItems']],
  ],
  ['101 attributes', { attributes: keys(101) }, [['attributes', 'maxProperties']]],
  ['attributes in a list', { attributes: ['a'] }, [['attributes', 'type']]],
  ['a key in capitals', { attributes: { Colour: 'red', ok: 1 } }, [['attributes.Colour', 'pattern']]],
  [
    'a key of 65 characters',
    { attributes: { ['k'.repeat(65)]: 1 } },
    [[`attributes.${'k'.repeat(65)}`, 'pattern']],
  ],
  ['an attribute that is null', { attributes: { a: null } }, [['attributes.a', 'type']]],
  ['an attribute that is an object', { attributes: { a: {} } }, [['attributes.a', 'type']]],
  ['a number in a list', { attributes: { a: ['x', 1] } }, [['attributes.a.1', 'type']]],
  ['51 texts', { attributes: { a: Array(51).fill('x') } }, [['attributes.a', 'maxItems']]],
  [
    'an attribute of 1,001 characters',
    { attributes: { a: 'x'.repeat(1001) } },
    [['attributes.a', 'maxLength']],
  ],
  ['U+0000 in an attribute', { attributes: { a: ['\u0000'] } }, [['attributes.a.0', 'characters']]],
  [
    '6 options',
    { options: Array.from({ length: 6 }, (_, n) => ({ name: `o${n}`, values: ['x'] })) },
    [['options', 'maxItems']],
  ],
  [
    'an option named twice',
    {
      options: [
        { name: 'A', values: ['x'] },
        { name: 'A ', values: ['x'] },
      ],
    },
    [['options', 'uniqueItems']],
  ],
  [
    'a value named twice',
    { options: [{ name: 'A', values: ['x', 'x'] }] },
    [['options.0.values', 'uniqueItems']],
  ],
  ['an option without values', { options: [{ name: 'A', values: [] }] }, [['options.0.values', 'minItems']]],
  ['an image without url', { images: [{ alt: 'x' }] }, [['images.0.url', 'required']]],
  ['a script for an image', { images: [{ url: 'javascript:alert(1)' }] }, [['images.0.url', 'url']]],
  ['an image at no address', { images: [{ url: 'https://' }] }, [['images.0.url', 'url']]],
  [
    'a password in a link',
    { images: [{ url: link }, { url: 'https://user:secret@a.example/' }] },
    [['images.1.url', 'credentials']],
  ],
  ['an image too far away', { images: [{ url: `${longest}x` }] }, [['images.0.url', 'maxLength']]],
  ['an image twice', { images: [{ url: link }, { url: link }] }, [['images.1.url', 'uniqueItems']]],
  ['an id it has not', { images: [{ id: 5 }] }, [['images.0.id', 'unknown']]],
  ['an upload of no one', { images: [{ url: '/media/abc' }] }, [['images.0.url', 'unknown']]],
  [
    '101 images',
    { images: Array.from({ length: 101 }, (_, n) => ({ url: `${link}?${n}` })) },
    [['images', 'maxItems']],
  ],
  ['half a piece', { stock: { onHand: 0.5 } }, [['stock.onHand', 'type']]],
  ['less than nothing', { stock: { onHand: -1 } }, [['stock.onHand', 'minimum']]],
  ['stock that is a number', { stock: 5 }, [['stock', 'type']]],
];

const strangeImages = [
  [{ id: 5 }, 'images.0.id: must be the id of an image of the product, not 5'],
  [{ url: '/media/abc' }, 'images.0.url: must be the address of an image of the product, not /media/abc'],
] as const;

describeOnDatabases('details of products on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const base = { name: 'Lamp', price: 12.5 };
  const send = (method: string, path: string, body: unknown, type = 'application/json') =>
    call(service, { method, path, as: 'editor', body, headers: { 'Content-Type': type } });
  const idsOf = (query: string) => readListedIds(service, query);

  test.each(accepted)('accepts %s', async (name, sent, has) => {
    const request = { name, method: 'POST', path: '/v1/products', as: 'editor', status: 201 } as const;
    const made = await play(service, { ...request, body: { ...base, ...sent } });
    expect(made.body).toMatchObject(has);
    const found = await read(service, made.body);
    expect(found.text).toBe(made.text);
    // Sent back as it was shown, the product does not change.
    const put = await send('PUT', pathOf(made.body), found.body);
    expect(put.body).toEqual({ ...found.body, updatedAt: nowOf(service) });
  });

  test.each(refused)('refuses %s', async (name, sent, problems) => {
    const request = { name, method: 'POST', path: '/v1/products', as: 'editor', status: 400 } as const;
    await play(service, { ...request, body: { ...base, ...sent }, problems });
  });

  for (const [image, message] of strangeImages) {
    test(`an image that the product does not have is named: ${Object.keys(image)[0]}`, async () => {
      const refused = await send('POST', '/v1/products', { ...base, images: [image] });
      expect([refused.status, refused.body.message]).toEqual([400, message]);
    });
  }

  test('images keep their ids when reordered or given other texts, in every type of patch', async () => {
    const made = await addProduct(service, { images: [{ url: link, alt: 'A' }, { url: otherLink }] });
    const [a, b] = made.images;
    expect(made.images).toEqual([
      { id: a?.id ?? 0, url: link, alt: 'A', ...shown },
      { id: b?.id ?? 0, url: otherLink, alt: null, ...shown },
    ]);
    expect(a?.id).not.toBe(b?.id ?? 0);
    const swapped = await send('PATCH', pathOf(made), { images: [{ id: b?.id, alt: 'B' }, { url: link }] });
    expect(swapped.body.images).toEqual([{ ...b, alt: 'B' }, a]);
    const added = await send(
      'PATCH',
      pathOf(made),
      [{ op: 'add', path: '/images/-', value: { url: `${link}?2` } }],
      'application/json-patch+json',
    );
    expect(added.body.images.slice(0, 2)).toEqual(swapped.body.images);
    expect(added.body.images).toHaveLength(3);
    const removed = await send('PATCH', pathOf(made), { images: [a] }, 'application/merge-patch+json');
    expect(removed.body.images).toEqual([a]);
    const unknown = await send('PATCH', pathOf(made), { images: [{ id: b?.id }] });
    expect([unknown.status, unknown.body.details[0].field]).toEqual([400, 'images.0.id']);
  });

  test('a patch changes one member and leaves the others', async () => {
    const details = { brand: 'B', attributes: { a: 1, b: 'x' }, stock: { onHand: 3, backorder: true } };
    const made = await addProduct(service, details);
    const merged = await send(
      'PATCH',
      pathOf(made),
      { attributes: { b: null, c: true } },
      'application/merge-patch+json',
    );
    expect(merged.body).toEqual({ ...made, attributes: { a: 1, c: true }, updatedAt: nowOf(service) });
    const stocked = await send(
      'PATCH',
      pathOf(made),
      { stock: { onHand: 0 } },
      'application/merge-patch+json',
    );
    expect(stocked.body.stock).toEqual({ tracked: true, onHand: 0, reserved: 0, backorder: true });
    const operations = [{ op: 'replace', path: '/available', value: false }];
    const readOnly = await send('PATCH', pathOf(made), operations, 'application/json-patch+json');
    expect([readOnly.status, readOnly.body.details[0].field]).toEqual([422, 'available']);
    const put = await send('PUT', pathOf(made), base);
    const { id, createdAt } = made;
    const plain = whole({ ...plainProduct, ...base, status: 'active' });
    expect(put.body).toEqual({ ...plain, id, createdAt, updatedAt: nowOf(service), currency: null });
  });

  test('an external id is unique among products, for every kind of write', async () => {
    const first = await addProduct(service, { externalId: 'TAKEN' });
    const second = await addProduct(service, { externalId: 'FREE' });
    for (const [method, path] of [
      ['POST', '/v1/products'],
      ['PUT', pathOf(second)],
      ['PATCH', pathOf(second)],
    ] as const) {
      const response = await send(method, path, { ...base, externalId: 'TAKEN' });
      expect([response.status, response.body.error, response.body.details[0].field]).toEqual([
        409,
        'DUPLICATE',
        'externalId',
      ]);
    }
    expect((await read(service, second)).body).toEqual(second);
    expect(await idsOf('externalId=TAKEN')).toEqual([first.id]);
    await call(service, { method: 'DELETE', path: pathOf(first), as: 'editor' });
    expect((await send('PATCH', pathOf(second), { externalId: 'TAKEN' })).status).toBe(200);
    expect(await idsOf('externalId=TAKEN')).toEqual([second.id]);
  });
});
