/** Laws of the three formats: written records read back the same, however the bytes are cut into chunks. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { productFields } from '../../src/files/cells/map.ts';
import type { FileFormat } from '../../src/files/read.ts';
import { formatCsvHeader, formatCsvRow, formatNdjsonRow } from '../../src/files/write.ts';
import { sampleProducts } from '../../src/sample/products.ts';
import { type Fields, mapped, readAll } from '../support/samples/records.ts';
import { anyTextOf } from '../support/samples/texts.ts';

const anyText = anyTextOf({ minLength: 1, maxLength: 40 });
const awkwardText = fc
  .array(
    fc.constantFrom(
      'a',
      '"',
      '""',
      ',',
      ';',
      '|',
      '\r',
      '\n',
      '\r\n',
      '\t',
      ' ',
      'é',
      '😀',
      '\uFEFF',
      '=',
      '-',
      '＠',
      "'",
      '\uFFFD',
    ),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map(parts => parts.join(''));
const text = fc.oneof(anyText, awkwardText);
/** Most texts of a product must not be blank: cells of spaces are empty. */
const visible = text.filter(value => value.trim() !== '');
const product: fc.Arbitrary<Fields> = fc.record(
  {
    name: visible,
    sku: visible,
    price: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(Math.abs),
    currency: fc.constantFrom('EUR', 'USD'),
    description: text,
    category: visible,
    tags: fc.array(visible, { minLength: 1, maxLength: 4 }),
    status: fc.constantFrom('active', 'archived'),
  },
  { requiredKeys: ['name', 'price'] },
);
const products = fc.array(product, { maxLength: 12 });
const chunkSizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 });
const space = fc
  .array(fc.constantFrom(' ', '\n', '\r\n', '\t'), { maxLength: 4 })
  .map(parts => parts.join(''));

describe('written files read back the same, wherever the chunks end', () => {
  test('CSV', async () => {
    await fc.assert(
      fc.asyncProperty(
        products,
        chunkSizes,
        fc.shuffledSubarray([...productFields.slice(0, 8)], { minLength: 8 }),
        fc.boolean(),
        async (rows, sizes, fields, safe) => {
          const file = formatCsvHeader(fields) + rows.map(row => formatCsvRow(fields, row, safe)).join('');
          expect(mapped(await readAll(file, 'csv', { sizes, safe }))).toEqual(rows);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('NDJSON', async () => {
    await fc.assert(
      fc.asyncProperty(products, chunkSizes, async (rows, sizes) => {
        expect(mapped(await readAll(rows.map(formatNdjsonRow).join(''), 'ndjson', { sizes }))).toEqual(rows);
      }),
      { numRuns: 300 },
    );
  });

  test('a JSON array in any layout, alone or inside an object', async () => {
    const place = fc.constantFrom(undefined, 'items', 'data.items');
    await fc.assert(
      fc.asyncProperty(
        products,
        chunkSizes,
        space,
        fc.nat(3),
        place,
        async (rows, sizes, gap, indent, path) => {
          const items = rows.map(row => JSON.stringify(row, null, indent));
          const array = `${gap}[${gap}${items.join(`${gap},${gap}`)}${gap}]${gap}`;
          const before = '{"count": [1, {"items": [{}]}], "tex\\"t": "]}\\"[{", "none": []';
          const inside = path === 'items' ? `"items":${array}` : `"data"${gap}:{"x": {}, "items":${array}}`;
          const file = path === undefined ? array : `${before}, ${inside}, "after": [{"name": "no"}]}`;
          const records = await readAll(file, 'json', { sizes, ...(path === undefined ? {} : { path }) });
          expect(mapped(records)).toEqual(rows);
          expect(records.map(record => record.line)).toEqual(elementLines(file, array, items, gap));
        },
      ),
      { numRuns: 400 },
    );
  });

  test('the sample catalog', async () => {
    const file =
      formatCsvHeader(productFields) +
      sampleProducts.map(item => formatCsvRow(productFields, { ...item })).join('');
    expect(mapped(await readAll(file, 'csv', { sizes: [7, 1000] }))).toEqual(
      sampleProducts.map(item => ({ ...item })),
    );
  });
});

/** The line on which each element starts, counted in the simplest way. */
function elementLines(file: string, array: string, items: readonly string[], gap: string): number[] {
  let at = file.indexOf(array) + gap.length + 1 + gap.length;
  return items.map(item => {
    const line = file.slice(0, at).split('\n').length;
    at += item.length + 1 + 2 * gap.length;
    return line;
  });
}

describe('any text reads the same in any chunks, and nothing is thrown', () => {
  const alphabet: Record<FileFormat, readonly string[]> = {
    csv: ['a', 'é', '"', '""', ',', '\n', '\r\n', '\r', ' ', '\uFEFF', 'a,b\n', '"x\ny",'],
    ndjson: ['{"a":1}', '{"é":"😀"}', '\n', '\r\n', '\r', '{', '}', '"', ' ', '[', '\uFEFF'],
    json: [
      '{"a":1}',
      '{"é":"\\""}',
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      '\\',
      ':',
      '\n',
      ' ',
      '"k":',
      '12',
      'null',
      '\uFEFF',
    ],
    xml: [
      ...['<item>', '</item>', '<g:a>', '</g:a>', '<a href="é">', '</a>', 'x', ' ', '\n', '&amp;', '&'],
      ...['<![CDATA[', ']]>', '<!-- ', ' -->', '<item><a>1</a></item>', '😀', '</feed>', '\uFEFF'],
    ],
  };
  for (const format of ['csv', 'ndjson', 'json', 'xml'] as const) {
    test(format, async () => {
      const content = fc
        .array(fc.constantFrom(...alphabet[format]), { maxLength: 30 })
        .map(parts => parts.join(''));
      const opening = fc.constantFrom('', 'a,b\n', '[', '{"k":', '{"k":[{}', '[{"a":1},', '<feed>');
      await fc.assert(
        fc.asyncProperty(opening, content, chunkSizes, async (start, rest, sizes) => {
          const whole = await readAll(start + rest, format, { sizes: [1_000_000] });
          expect(await readAll(start + rest, format, { sizes })).toEqual(whole);
          for (const record of whole) expect(record.value === undefined).toBe(record.error !== undefined);
        }),
        { numRuns: 500 },
      );
    });
  }
});
