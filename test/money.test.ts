/** Money is computed exactly in decimal digits, despite binary fractions. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { computeAmount, formatMoney, formatPrice, getExponent, toMajor, toMinor } from '../src/money.ts';

const currencies = fc.constantFrom('EUR', 'USD', 'JPY', 'KWD', 'CLF', 'XYZ');
/** Below this, a number stands for a single amount, whatever the currency. */
const unambiguous = 10 ** 15;
const amounts = fc.integer({ min: 0, max: unambiguous - 1 });

const exact: [price: number, currency: string, minor: bigint][] = [
  [0, 'EUR', 0n],
  [79.5, 'EUR', 7950n],
  // In binary, 1.005 is slightly less than that, and 1.005 × 100 is 100.49999999999999.
  [1.005, 'EUR', 101n],
  [1.0049, 'EUR', 100n],
  [8.325, 'EUR', 833n],
  [0.1 + 0.2, 'EUR', 30n],
  [0.005, 'EUR', 1n],
  [0.0049999, 'EUR', 0n],
  [1e-7, 'EUR', 0n],
  [5e-324, 'EUR', 0n],
  [0.5, 'JPY', 1n],
  [0.4, 'JPY', 0n],
  [1234.5678, 'KWD', 1234568n],
  [1.99995, 'CLF', 20000n],
  [1e21, 'EUR', 10n ** 23n],
  [1.5e300, 'JPY', 15n * 10n ** 299n],
];

describe('toMinor', () => {
  test.each(exact)('%p %s are %p', (price, currency, minor) => {
    expect(toMinor(price, currency)).toBe(minor);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('%p is refused as a price', price => {
    expect(() => toMinor(price, 'EUR')).toThrow(RangeError);
  });

  test('rounds the decimal digits half up', () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 15n - 1n });
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 8 }), currencies, (whole, places, currency) => {
        const text = whole.toString().padStart(places + 1, '0');
        const decimal = places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
        const unit = 10n ** BigInt(places);
        const rounded = (2n * whole * 10n ** BigInt(getExponent(currency)) + unit) / (2n * unit);
        expect(toMinor(Number(decimal), currency)).toBe(rounded);
      }),
    );
  });

  test('never decreases when the price increases', () => {
    const price = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(price, price, currencies, (a, b, currency) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        expect(toMinor(low, currency) <= toMinor(high, currency)).toBe(true);
      }),
    );
  });
});

describe('computeAmount', () => {
  /** A price as a number, and as an exact fraction. */
  const price = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 25 }))
    .map(([digits, places]) => {
      const text = digits.toString().padStart(places + 1, '0');
      const decimal = places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
      return { price: Number(decimal), numerator: digits, denominator: 10n ** BigInt(places) };
    });
  const quantity = fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.constantFrom(1, 1000, 10_000));
  const examples: [number, number, string, bigint][] = [
    [0.004, 10_000, 'EUR', 4000n],
    [0.005, 10_000, 'EUR', 5000n],
    [0.0149, 1000, 'EUR', 1490n],
    [99.5, 10, 'JPY', 995n],
    [1.005, 3, 'EUR', 302n],
    [5e-324, 10_000, 'EUR', 0n],
    [1e21, 3, 'EUR', 3n * 10n ** 23n],
  ];

  test.each(examples)('%p × %p %s are %p', (each, many, currency, minor) => {
    expect(computeAmount(each, many, currency)).toBe(minor);
  });

  test('rounds the exact price × quantity half up', () => {
    fc.assert(
      fc.property(price, quantity, currencies, ({ price, numerator, denominator }, many, currency) => {
        const amount = computeAmount(price, many, currency);
        const worth = numerator * BigInt(many) * 10n ** BigInt(getExponent(currency));
        const twiceBeyond = 2n * (worth - amount * denominator);
        expect(-denominator <= twiceBeyond && twiceBeyond < denominator).toBe(true);
        // Anything worth at least half a minor unit is not free.
        expect(amount === 0n).toBe(2n * worth < denominator);
      }),
      { numRuns: 2000 },
    );
  });

  test('is exact for prices of whole minor units', () => {
    fc.assert(
      fc.property(amounts, quantity, currencies, (minor, many, currency) => {
        const amount = computeAmount(toMajor(minor, currency), many, currency);
        expect(amount).toBe(BigInt(minor) * BigInt(many));
      }),
    );
  });
});

test('toMinor is the inverse of toMajor', () => {
  fc.assert(
    fc.property(amounts, currencies, (minor, currency) => {
      expect(toMinor(toMajor(minor, currency), currency)).toBe(BigInt(minor));
    }),
  );
});

test('the total of an order is the sum of the displayed amounts of its lines', () => {
  const lines = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 1, max: 10_000 })),
    { minLength: 1, maxLength: 100 },
  );
  fc.assert(
    fc.property(lines, pairs => {
      const total = pairs.reduce((sum, [unit, quantity]) => sum + unit * quantity, 0);
      const shown = pairs.map(([unit, quantity]) => toMinor(toMajor(unit * quantity, 'EUR'), 'EUR'));
      expect(shown.reduce((sum, line) => sum + line, 0n)).toBe(toMinor(toMajor(total, 'EUR'), 'EUR'));
    }),
  );
});

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['CLF', 4],
  ['XYZ', 2],
])('%s has %p decimal digits', (currency, exponent) => {
  expect(getExponent(currency)).toBe(exponent);
});

test.each([
  [0, 'EUR', 'EUR 0.00'],
  [5, 'EUR', 'EUR 0.05'],
  [123_450, 'EUR', 'EUR 1,234.50'],
  [100_000_000, 'EUR', 'EUR 1,000,000.00'],
  [1234, 'JPY', 'JPY 1,234'],
  [999, 'JPY', 'JPY 999'],
  [1_234_567, 'KWD', 'KWD 1,234.567'],
  [Number.MAX_SAFE_INTEGER, 'EUR', 'EUR 90,071,992,547,409.91'],
])('%p %s is written %s', (minor, currency, text) => {
  expect(formatMoney(minor, currency)).toBe(text);
});

test.each([
  [0, 'EUR', '0.00'],
  [79.5, 'EUR', '79.50'],
  [0.004, 'EUR', '0.004'],
  [1234.5678, 'EUR', '1,234.5678'],
  [99.5, 'JPY', '99.5'],
  [12_000, 'JPY', '12,000'],
  [1e-7, 'EUR', '0.0000001'],
  [1.25e-9, 'KWD', '0.00000000125'],
  [1e21, 'EUR', '1,000,000,000,000,000,000,000.00'],
])('a price of %p %s is written %s', (price, currency, text) => {
  expect(formatPrice(price, currency)).toBe(text);
});

test('a price of whole minor units is written as their amount', () => {
  fc.assert(
    fc.property(amounts, currencies, (minor, currency) => {
      const amount = formatMoney(minor, currency);
      expect(`${currency} ${formatPrice(toMajor(minor, currency), currency)}`).toBe(amount);
    }),
  );
});
