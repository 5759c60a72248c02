/** Check digits of GTINs: one digit that is wrong, and most that are swapped, are found. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { gtin, isGtin, toComparableGtin } from '../../src/resources/products/members/gtin.ts';

const digits = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .filter(all => all.some(digit => digit > 0));
/** All but the check digit, of the lengths there are. */
const body = fc.oneof(...[7, 11, 12, 13].map(digits));

/** By the definition: weights 3 and 1 in turn, 3 for the digit before the check digit. */
function withCheckDigit(all: readonly number[]): string {
  const sum = all.toReversed().reduce((total, digit, index) => total + digit * (index % 2 === 0 ? 3 : 1), 0);
  return `${all.join('')}${(10 - (sum % 10)) % 10}`;
}

test('exactly one of the ten check digits is valid, and the schema accepts it', () => {
  fc.assert(
    fc.property(body, all => {
      const right = withCheckDigit(all);
      const taken = Array.from({ length: 10 }, (_, last) => `${right.slice(0, -1)}${last}`).filter(isGtin);
      expect(taken).toEqual([right]);
      expect(gtin.parse(` ${right} `)).toBe(right);
    }),
  );
});

test('any single wrong digit is detected', () => {
  fc.assert(
    fc.property(body, fc.nat(), fc.integer({ min: 1, max: 9 }), (all, at, change) => {
      const right = [...withCheckDigit(all)].map(Number);
      const place = at % right.length;
      right[place] = ((right[place] ?? 0) + change) % 10;
      expect(isGtin(right.join(''))).toBe(false);
    }),
  );
});

test('leading zeros change neither the check digit nor the result of comparisons', () => {
  fc.assert(
    fc.property(digits(11), all => {
      const [short, long] = [withCheckDigit(all), withCheckDigit([0, ...all])];
      expect(long).toBe(`0${short}`);
      expect(toComparableGtin(long)).toBe(toComparableGtin(short));
    }),
  );
});
