/** Records of an import go from thread to thread as JSON: they arrive as they were sent. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  createRecordCheck,
  type ImportRecord,
  isGiven,
  prepareRecord,
  type RecordCheck,
} from '../../src/resources/products/import/prepared.ts';

const at = Date.UTC(2026, 0, 15);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  fc.constantFrom('a\nb', 'a\u0001b', '"', '\\0', 'null', ' ', '\u0000'),
);
const record = fc.record(
  {
    name: text,
    price: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    currency: fc.option(fc.constantFrom('EUR', 'USD')),
    status: fc.constantFrom('active', 'archived'),
    description: fc.option(fc.oneof(text, fc.constant(''))),
    sku: fc.option(text),
    category: fc.option(text),
    tags: fc.array(text, { maxLength: 5 }),
  },
  { requiredKeys: ['name', 'price'] },
);

const optional = ['currency', 'status', 'description', 'category', 'tags'] as const;

const isRecord = (checked: ReturnType<RecordCheck>): checked is ImportRecord => !Array.isArray(checked);

test('every valid record arrives in another thread as it was prepared', () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.array(record, { maxLength: 20 }), inputs => {
      const checkRecord = createRecordCheck();
      const records = inputs.map(input => checkRecord(input)).filter(isRecord);
      taken += records.length;
      const prepared = records.map(checked => prepareRecord(checked, 'EUR', at));
      // As between threads.
      expect(JSON.parse(JSON.stringify(prepared))).toEqual(prepared);
      for (const field of optional) {
        expect(prepared.map(own => isGiven(own, field))).toEqual(
          records.map(own => own[field] !== undefined),
        );
      }
    }),
    { numRuns: 300 },
  );
  expect(taken).toBeGreaterThan(300);
});
