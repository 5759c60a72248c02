/** Amounts, weights, lists, keys and encodings as found in users' files. */

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { toAttributeKey } from '../../src/attribute-key.ts';
import { createAttributeKeyMaker } from '../../src/cli/import/presets/attributes.ts';
import { type AmountOptions, readAmount } from '../../src/files/cells/amount.ts';
import { parseAttributeValue, toAttributeCell } from '../../src/files/cells/attribute.ts';
import { keepDeepestPaths, splitAddresses, splitList, toPath } from '../../src/files/cells/list.ts';
import { readWeight } from '../../src/files/cells/weight.ts';
import { detectEncoding, toUtf8 } from '../../src/files/encoding.ts';
import { bytesOf, streamOf } from '../support/samples/records.ts';
import { superlinearGrowth } from '../support/service/growth.ts';

const comma: AmountOptions = { decimal: 'comma' };
const point: AmountOptions = { decimal: 'point' };
const eitherWay = 'is ambiguous: add --decimal point or --decimal comma';
const commaAlone = 'must be a number: for a decimal comma, use --decimal comma';

const amounts: [text: string, options: AmountOptions, read: [number, string?] | string][] = [
  ['12.5', {}, [12.5]],
  [' 352 AED ', {}, [352, 'AED']],
  ['$12.99', {}, [12.99, 'USD']],
  ['$12.99', { currency: 'CAD' }, [12.99, 'CAD']],
  ['$12.99', { currency: 'EUR' }, [12.99, 'USD']],
  ['1.234,50 €', {}, [1234.5, 'EUR']],
  ['€ 1,234.50', {}, [1234.5, 'EUR']],
  ['12,50 €', {}, [12.5, 'EUR']],
  ['-3.5', {}, [-3.5]],
  ['.5', {}, [0.5]],
  ['$.99', {}, [0.99, 'USD']],
  [',5', comma, [0.5]],
  ['EUR 7', {}, [7, 'EUR']],
  ['Rs.100', {}, [100, 'INR']],
  ['Rs.1,299.50', {}, [1299.5, 'INR']],
  ['S/.250', {}, [250, 'PEN']],
  ['5 Fr.', {}, [5, 'CHF']],
  ["1'234.50 CHF", {}, [1234.5, 'CHF']],
  ['1 234,50 zł', comma, [1234.5, 'PLN']],
  ['1\u00A0234\u202F567', {}, [1234567]],
  ['1,234,567', {}, [1234567]],
  ['1.234.567', {}, [1234567]],
  ['0,123', comma, [0.123]],
  ['1.234', comma, [1234]],
  ['1,234', point, [1234]],
  ['1.234', {}, [1.234]],
  ['1,234', {}, eitherWay],
  ['1,234 USD', {}, eitherWay],
  ['1.234 €', {}, eitherWay],
  ['Rp 12.000', {}, eitherWay],
  ['$ 1.234', point, [1.234, 'USD']],
  ['1.234 €', comma, [1234, 'EUR']],
  ['1.2345 €', {}, [1.2345, 'EUR']],
  ['0.125 €', {}, [0.125, 'EUR']],
  ['1.234 KWD', {}, [1.234, 'KWD']],
  ['12,50', {}, commaAlone],
  ['12.50', comma, 'must be a number with a decimal comma'],
  ['1.23,4.5', {}, 'must be a number'],
  ['12 pieces', {}, 'must be a number'],
  ['12 pcs', {}, 'must be a number'],
  ['PCS 12', {}, 'must be a number'],
  ['$5.00 USD', {}, [5, 'USD']],
  ['CAD $12.99', {}, [12.99, 'CAD']],
  ['US $12.99', { currency: 'CAD' }, [12.99, 'USD']],
  ['€ 5 USD', {}, 'must be a number'],
  ['15 000 Fcfa', {}, [15000, 'XOF']],
  ['15 000 F CFA', { currency: 'XAF' }, [15000, 'XAF']],
  ['1 250,00 руб.', comma, [1250, 'RUB']],
  ['￥1,980', {}, [1980, 'JPY']],
  ['￥1,980', { currency: 'CNY' }, eitherWay],
  ['12,900원', {}, [12900, 'KRW']],
  ['CLP 12.990', {}, [12990, 'CLP']],
  ['CLP 12.99', {}, [12.99, 'CLP']],
  ['CLP 0.990', {}, [0.99, 'CLP']],
  ['１９８０', {}, [1980]],
  ['from 5', {}, 'must be a number'],
  ['', {}, 'must be a number'],
  ['1e999', {}, 'must be a number'],
];

describe('amounts', () => {
  for (const [text, options, expected] of amounts) {
    test(`${JSON.stringify(text)} with ${JSON.stringify(options)}`, () => {
      const read = readAmount(text, options);
      expect(typeof read === 'string' ? read : [read.value, read.currency]).toEqual(
        typeof expected === 'string' ? expected : [expected[0], expected[1]],
      );
    });
  }

  test('a number is read back from each way of writing it', () => {
    const cents = fc.nat(1_000_000_000_00);
    fc.assert(
      fc.property(
        cents,
        fc.constantFrom('de-DE', 'en-US', 'de-CH'),
        fc.constantFrom('', ' EUR'),
        (all, place, ending) => {
          const value = all / 100;
          const text = `${value.toLocaleString(place, { minimumFractionDigits: 2 })}${ending}`;
          const decimal = place === 'de-DE' ? 'comma' : 'point';
          expect(readAmount(text, { decimal })).toMatchObject({ value });
        },
      ),
    );
  });
});

test.each([
  ['1.5 kg', { value: 1.5, unit: 'kg' }],
  ['500g', { value: 500, unit: 'g' }],
  ['1 Kilogramm', { value: 1, unit: 'kg' }],
  ['500 grammes', { value: 500, unit: 'g' }],
  ['2 lbs', { value: 2, unit: 'lb' }],
  ['2 lb.', { value: 2, unit: 'lb' }],
  ['500gr.', { value: 500, unit: 'g' }],
  ['１.５ｋｇ', { value: 1.5, unit: 'kg' }],
  ['2 st.', 'must be a number and one of g, kg, oz, lb'],
  [`1${'\u0300\u0323'.repeat(500)}`, 'must be a number and one of g, kg, oz, lb'],
  ['3', { value: 3, unit: 'oz' }],
  ['.5', { value: 0.5, unit: 'oz' }],
  ['0', undefined],
  ['', undefined],
  ['2 stone', 'must be a number and one of g, kg, oz, lb'],
  ['-1 kg', 'must be more than 0'],
  ['kg', 'must be a number'],
] as const)('the weight %p', (text, expected) => {
  expect(readWeight(text, 'oz', {})).toEqual(expected);
});

test('lists, paths and addresses', () => {
  expect(splitList('a, b\\, c,,d ', ',')).toEqual(['a', 'b, c', 'd']);
  expect(toPath('Men / Tops/Shirts', '/')).toBe('Men > Tops > Shirts');
  expect(keepDeepestPaths(['A', 'A > B', 'C', 'A > B'])).toEqual(['A > B', 'C']);
  const cases: [text: string, found: string[]][] = [
    ['https://a/1.jpg, https://a/2.jpg', ['https://a/1.jpg', 'https://a/2.jpg']],
    ['https://a/w_1,h_2/1.jpg,https://a/2.jpg', ['https://a/w_1,h_2/1.jpg', 'https://a/2.jpg']],
    [
      'https://a/1.jpg|https://a/2.jpg\nhttps://a/3.jpg',
      ['https://a/1.jpg', 'https://a/2.jpg', 'https://a/3.jpg'],
    ],
    ['/m/1.jpg,/m/2.jpg', ['/m/1.jpg', '/m/2.jpg']],
    ['1.jpg,2.jpg', ['1.jpg', '2.jpg']],
    ['', []],
  ];
  for (const [text, found] of cases) expect(splitAddresses(text)).toEqual(found);
});

describe('attributes', () => {
  test.each([
    ['Fabric Type', 'fabric_type'],
    ['Meta: _care', 'meta_care'],
    ['Größe (außen)', 'grosse_aussen'],
    ['2nd colour', 'x_2nd_colour'],
    ['サイズ', 'x_30b5_30a4_30ba'],
    ['a.b-c', 'a.b-c'],
    ['__', 'x_5f_5f'],
    ['Вес', 'x_412_435_441'],
    ['Вес, кг (1)', 'x_412_435_441_43a_433_1'],
    ['Dicke (µm)', 'dicke_b5_m'],
    ['Højde ½', 'hojde_1_2'],
    ['Temperatur °C', 'temperatur_c'],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['a'.repeat(65), `${'a'.repeat(55)}_635361c4`],
    ['a'.repeat(66), `${'a'.repeat(55)}_ac137fce`],
  ])('the key of %p', (name, key) => {
    expect(toAttributeKey(name)).toBe(key);
  });

  test('any name becomes a valid key, and a valid key stays the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), name => {
        const key = toAttributeKey(name);
        expect(key).toMatch(/^[a-z][a-z0-9_.-]{0,63}$/);
        expect(toAttributeKey(key)).toBe(key);
      }),
    );
  });

  test('a value is read back from its cell', () => {
    const texts = fc.oneof(fc.string(), fc.constantFrom('', '1', '01', 'true', '[1]', '"x"', ' 1 '));
    const values = fc.oneof(
      texts,
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.array(texts),
    );
    fc.assert(
      fc.property(values, value =>
        expect(parseAttributeValue(toAttributeCell(value))).toEqual(Object.is(value, -0) ? 0 : value),
      ),
    );
  });
});

describe('encodings', () => {
  const text = 'Größe, €, “quoted”, naïve\n'.repeat(40);
  const decoded = async (bytes: Uint8Array, sizes: readonly number[]) => {
    let found = 0;
    const parts: Uint8Array[] = [];
    const counted = () => {
      found += 1;
    };
    for await (const part of toUtf8(streamOf(bytes, sizes), detectEncoding(bytes), counted, 'f'))
      parts.push(part);
    return { text: Buffer.concat(parts).toString('utf8'), found };
  };
  const windows1252 = Buffer.from(
    [...text].map(letter => ({ '€': 0x80, '“': 0x93, '”': 0x94 })[letter] ?? letter.charCodeAt(0)),
  );

  test('are detected, wherever the chunks end', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        async sizes => {
          expect(await decoded(bytesOf(text), sizes)).toEqual({ text, found: 0 });
          const marked = Buffer.from(`\uFEFF${text}`, 'utf16le');
          expect(await decoded(marked, sizes)).toEqual({ text, found: 0 });
          expect(await decoded(Buffer.from(marked).swap16(), sizes)).toEqual({ text, found: 0 });
          expect(await decoded(Buffer.from(text, 'utf16le'), sizes)).toEqual({ text, found: 0 });
          expect(await decoded(windows1252, sizes)).toEqual({ text, found: 1 });
        },
      ),
      { numRuns: 20 },
    ));

  test('a chunk that ends with what may be the beginning of a character does not decide', async () => {
    const cut = Uint8Array.of(...bytesOf('caf'), 0xe9, 0x94, ...bytesOf(' and'));
    expect(await decoded(cut, [5, 100])).toEqual({ text: 'café” and', found: 1 });
  });

  test('damaged UTF-8 is not taken for Windows-1252', async () => {
    const bytes = Buffer.concat([bytesOf('é à ü'), Uint8Array.of(0xff), bytesOf(' é')]);
    expect((await decoded(bytes, [100])).found).toBe(0);
    // Windows-1252 has no character for this byte.
    const without = Buffer.concat([bytesOf('a'), Uint8Array.of(0x81), bytesOf('bc')]);
    expect((await decoded(without, [100])).found).toBe(0);
  });
});

test('the time for a name of very many marks grows linearly', async () => {
  const named = (length: number) => toAttributeKey(`a${'\u0301\u0323'.repeat(length / 2)}`);
  expect(await superlinearGrowth(named, 6000)).toBeUndefined();
});

test('the time for an amount of very many marks grows linearly', async () => {
  const read = (length: number) =>
    expect(readAmount(`1${'\u0301\u0323'.repeat(length / 2)}`)).toBe('must be a number');
  expect(await superlinearGrowth(read, 6000)).toBeUndefined();
});

test('the time for a list of very many escaped separators grows linearly', async () => {
  const split = (length: number) => expect(splitList('a,b\\,'.repeat(length), ',')).toHaveLength(length + 1);
  expect(await superlinearGrowth(split, 5000)).toBeUndefined();
});

test('the time for very many paths of categories grows linearly', async () => {
  const keep = (length: number) => {
    const paths = Array.from({ length }, (_, index) => `A > ${index}`);
    expect(keepDeepestPaths(['A', ...paths])).toEqual(paths);
  };
  expect(await superlinearGrowth(keep, 5000)).toBeUndefined();
});

test('the time to number very many attributes with one key grows linearly', async () => {
  const number = (length: number) => {
    const keyOf = createAttributeKeyMaker(() => undefined);
    const toMarks = (index: number) => index.toString(2).replaceAll('0', '?').replaceAll('1', '!');
    const keys = Array.from({ length }, (_, index) => keyOf(`a${toMarks(index)}`));
    expect(keys.slice(0, 3)).toEqual(['a', 'a_2', 'a_3']);
    expect(new Set(keys).size).toBe(length);
  };
  expect(await superlinearGrowth(number, 1000)).toBeUndefined();
});
