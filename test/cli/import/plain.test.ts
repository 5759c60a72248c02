import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isPlainRecord } from '../../../src/resources/products/import/plain.ts';
import { createProduct } from '../../../src/resources/products/schema.ts';
import { anyTextOf } from '../../support/samples/texts.ts';

const odd = fc.constantFrom(
  '',
  ' ',
  'a ',
  '\u00a0a',
  'a\u0000b',
  '\ud800',
  'ab',
  'ü',
  'EUR',
  'eur',
  'EUR\n',
  'active',
  'x'.repeat(51),
  'x'.repeat(101),
  'x'.repeat(201),
);
const plain = fc.string({ minLength: 1, maxLength: 40 });
const text = fc.oneof(
  { weight: 10, arbitrary: plain },

  anyTextOf({ maxLength: 70 }),
  odd,
  fc.string({ minLength: 1, maxLength: 8 }),
);
const anything = fc.oneof(text, fc.constantFrom(null, true, [], {}), fc.double());
const mostly = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 15, arbitrary: usual }, { weight: 1, arbitrary: anything });
/** A member that few records have. */
const few = <T>(name: string, usual: fc.Arbitrary<T>) => ({
  [name]: fc.oneof({ weight: 24, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: usual }),
});
const record: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.record(
  {
    name: mostly(text),
    price: mostly(fc.oneof(fc.double({ min: -1 }), fc.constantFrom(0, -0, Number.POSITIVE_INFINITY))),
    currency: mostly(fc.constantFrom('EUR', 'USD', 'EURO')),
    status: mostly(fc.constantFrom('active', 'archived', 'gone')),
    description: mostly(fc.oneof(text, fc.constant('x'.repeat(100_001)))),
    sku: mostly(text),
    category: mostly(text),
    tags: mostly(fc.oneof(fc.array(text, { maxLength: 3 }), fc.constant(Array(51).fill('t')))),
    ...few('brand', text),
    ...few('gtin', fc.constantFrom('4006381333931', '96385074', '4006381333932', '00000000', ' 96385074')),
    ...few('mpn', text),
    ...few('externalId', fc.oneof(text, fc.constant('x'.repeat(201)))),
    ...few('compareAtPrice', fc.double({ min: -1 })),
    ...few('weight', fc.constant({ value: 1, unit: 'kg' })),
    ...few('categories', fc.constant([' a '])),
    ...few('attributes', fc.dictionary(fc.string(), anything)),
    ...few('options', fc.constant([{ name: ' Size', values: ['S'] }])),
    ...few('images', fc.constant([{ url: 'https://shop.example/a.jpg' }])),
    ...few('stock', fc.constant({ onHand: 1 })),
  },
  { requiredKeys: [] },
);

test('what the fast check takes, the create schema gives back as it is', () => {
  let taken = 0;
  fc.assert(
    fc.property(record, input => {
      if (!isPlainRecord(input)) return;
      taken += 1;
      expect(createProduct.parse(input)).toStrictEqual({ ...input });
    }),
    { numRuns: 8000 },
  );
  // The property says something only if the fast way is the usual way.
  expect(taken).toBeGreaterThan(100);
});
