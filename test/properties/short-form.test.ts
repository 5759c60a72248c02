/** What is stored of products and variants, without their defaults, gives back every one of them, letter by letter. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { storedProduct } from '../../src/resources/products/members/stored.ts';
import { storedVariant } from '../../src/resources/variants/stored.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
  fc.constantFrom('a\nb', ',\n', '"', '\\n', '[', '],\n[', ',"name":', 'null', '\u2028'),
);
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 2 });
const amount = fc.oneof(
  fc.constantFrom(0, 1, 0.1, 1e21),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
);
const moment = fc
  .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
  .map(at => at.toISOString());
const count = fc.integer({ min: 0, max: 3 });
const stock = orNull(
  fc.record({ tracked: fc.boolean(), onHand: count, reserved: count, backorder: fc.boolean() }),
);
const weight = orNull(fc.record({ value: amount, unit: fc.constantFrom('kg', 'g') }));

const product = fc.record({
  category: orNull(text),
  categories: fc.array(text, { maxLength: 2 }),
  name: text,
  price: amount,
  currency: orNull(fc.constantFrom('EUR', 'USD')),
  status: fc.constantFrom('active' as const, 'archived' as const),
  description: orNull(fc.oneof(text, fc.constant(''))),
  sku: orNull(text),
  tags: fc.array(text, { maxLength: 2 }),
  createdAt: moment,
  updatedAt: moment,
  rating: fc.oneof(
    fc.constant({ average: null, count: 0 }),
    fc.record({ average: fc.constantFrom(1, 4.67), count: fc.integer({ min: 1, max: 3 }) }),
  ),
  brand: orNull(text),
  gtin: orNull(text),
  mpn: orNull(text),
  externalId: orNull(text),
  compareAtPrice: orNull(amount),
  weight,
  attributes: fc.dictionary(text, fc.oneof(text, amount, fc.boolean(), fc.array(text)), { maxKeys: 2 }),
  options: fc.array(fc.record({ name: text, values: fc.array(text) }), { maxLength: 2 }),
  images: fc.array(
    fc.record({
      id: count,
      url: text,
      alt: orNull(text),
      width: orNull(count),
      height: orNull(count),
      colour: orNull(text),
      type: orNull(text),
    }),
    { maxLength: 2 },
  ),
  stock,
  variantCount: count,
  priceRange: fc.record({ min: amount, max: amount }),
  available: fc.boolean(),
  basePrice: fc.option(amount, { nil: undefined }),
});

const variant = fc.record({
  productId: count,
  sku: orNull(text),
  gtin: orNull(text),
  options: fc.dictionary(text, text, { maxKeys: 2 }),
  price: orNull(amount),
  compareAtPrice: orNull(amount),
  weight,
  stock,
  imageId: orNull(count),
  position: count,
  available: fc.boolean(),
  createdAt: moment,
  updatedAt: moment,
});

interface Form<Members> {
  documentOf(members: Members): string;
  membersOf(document: string): Members;
  jsonOf(id: number, document: string): string;
  shown(id: number, document: string): string;
  toEvent(id: number, document: string): string;
}

function holds<Members extends object>(form: Form<Members>, id: number, members: Members): void {
  const json = JSON.stringify({ id, ...members });
  const withoutId = json.slice(`{"id":${id},`.length);
  for (const stored of [form.documentOf(members), withoutId, json]) {
    expect(form.jsonOf(id, stored)).toBe(json);
    expect(JSON.stringify({ id, ...form.membersOf(stored) })).toBe(json);
    expect(form.shown(id, stored)).toBe(json);
    const event = form.toEvent(id, stored);
    expect(() => JSON.parse(event)).not.toThrow();
    expect(form.jsonOf(id, event)).toBe(json);
  }
}

test('the short form of products keeps every member', () => {
  fc.assert(
    fc.property(product, fc.nat(), (members, id) => holds(storedProduct, id, members)),
    { numRuns: 500 },
  );
});

test('the short form of variants keeps every member', () => {
  fc.assert(
    fc.property(variant, fc.nat(), (members, id) => holds(storedVariant, id, members)),
    { numRuns: 300 },
  );
});
