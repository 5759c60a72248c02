import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { z } from 'zod';
import { MappingError, mapRecord, parseMapping, productFields } from '../src/files/map.ts';
import { detectFormat, type FileFormat, peek, readRecords, type SourceRecord } from '../src/files/read.ts';
import { csvHeader, csvRow, ndjsonRow } from '../src/files/write.ts';
import { sampleProducts } from '../src/sample/products.ts';

type Fields = Record<string, unknown>;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The bytes as a stream, cut into chunks of the given sizes in turn. */
function streamOf(
  content: string | Uint8Array,
  sizes: readonly number[] = [64 * 1024],
): ReadableStream<Uint8Array> {
  const bytes = typeof content === 'string' ? bytesOf(content) : content;
  let at = 0;
  let turn = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const size = sizes[turn++ % sizes.length] ?? 1;
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

async function readAll(
  content: string | Uint8Array,
  format: FileFormat,
  options: { sizes?: readonly number[]; path?: string } = {},
): Promise<SourceRecord[]> {
  const all: SourceRecord[] = [];
  const path = options.path === undefined ? {} : { path: options.path };
  for await (const batch of readRecords(streamOf(content, options.sizes), format, path)) all.push(...batch);
  return all;
}

/** What matters of a record in a table: its line and either its value or its error. */
const brief = (records: readonly SourceRecord[]): unknown[] =>
  records.map(record => [record.line, record.error ?? { ...record.value }]);

const mapped = (records: readonly SourceRecord[]): Fields[] =>
  records.map(record => {
    if (record.value === undefined) throw new Error(`line ${record.line} ${record.error}`);
    return mapRecord(record.value, new Map(), productFields);
  });

const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
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
const product: fc.Arbitrary<Fields> = fc.record(
  {
    name: text,
    sku: text,
    price: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(Math.abs),
    currency: fc.constantFrom('EUR', 'USD'),
    description: text,
    category: text,
    tags: fc.array(text, { minLength: 1, maxLength: 4 }),
    status: fc.constantFrom('active', 'archived'),
  },
  { requiredKeys: ['name', 'price'] },
);
const products = fc.array(product, { maxLength: 12 });
const chunkSizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 });
const space = fc
  .array(fc.constantFrom(' ', '\n', '\r\n', '\t'), { maxLength: 4 })
  .map(parts => parts.join(''));

describe('what is written reads back the same, wherever the chunks end', () => {
  test('CSV', async () => {
    await fc.assert(
      fc.asyncProperty(
        products,
        chunkSizes,
        fc.shuffledSubarray([...productFields], { minLength: 8 }),
        async (rows, sizes, fields) => {
          const file = csvHeader(fields) + rows.map(row => csvRow(fields, row)).join('');
          expect(mapped(await readAll(file, 'csv', { sizes }))).toEqual(rows);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('NDJSON', async () => {
    await fc.assert(
      fc.asyncProperty(products, chunkSizes, async (rows, sizes) => {
        expect(mapped(await readAll(rows.map(ndjsonRow).join(''), 'ndjson', { sizes }))).toEqual(rows);
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
      csvHeader(productFields) + sampleProducts.map(item => csvRow(productFields, { ...item })).join('');
    expect(mapped(await readAll(file, 'csv', { sizes: [7, 1000] }))).toEqual(
      sampleProducts.map(item => ({ ...item })),
    );
  });
});

/** The line on which each element starts, counted in the plainest way. */
function elementLines(file: string, array: string, items: readonly string[], gap: string): number[] {
  let at = file.indexOf(array) + gap.length + 1 + gap.length;
  return items.map(item => {
    const line = file.slice(0, at).split('\n').length;
    at += item.length + 1 + 2 * gap.length;
    return line;
  });
}

describe('of any text, the chunks decide nothing and nothing is thrown', () => {
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
  };
  for (const format of ['csv', 'ndjson', 'json'] as const) {
    test(format, async () => {
      const content = fc
        .array(fc.constantFrom(...alphabet[format]), { maxLength: 30 })
        .map(parts => parts.join(''));
      const opening = fc.constantFrom('', 'a,b\n', '[', '{"k":', '{"k":[{}', '[{"a":1},');
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

const big = 'x'.repeat(1024 * 1024);
const invalid = (before: string, after: string): Uint8Array =>
  Buffer.concat([bytesOf(before), Uint8Array.of(0xe9, 0x28), bytesOf(after)]);

describe('CSV files as people have them', () => {
  const cases: [name: string, file: string | Uint8Array, expected: unknown[]][] = [
    ['an empty file', '', []],
    ['a header alone', 'name,price\n', []],
    ['a BOM', '\uFEFFname\nx\n', [[2, { name: 'x' }]]],
    [
      'CRLF and no newline at the end',
      'name,price\r\na,1\r\nb,2',
      [
        [2, { name: 'a', price: '1' }],
        [3, { name: 'b', price: '2' }],
      ],
    ],
    ['semicolons', 'name;price\n"a;b";1,5\n', [[2, { name: 'a;b', price: '1,5' }]]],
    ['tabs', 'name\tprice\na,b\t1\n', [[2, { name: 'a,b', price: '1' }]]],
    ['a quoted header with another delimiter inside', '"a;b;c",d\n1,2\n', [[2, { 'a;b;c': '1', d: '2' }]]],
    ['blank lines, which count', 'name\n\n\r\nx\n', [[4, { name: 'x' }]]],
    [
      'quoted newlines, which count',
      'n,m\n"a\nb\r\nc",1\nd,2\n',
      [
        [2, { n: 'a\nb\r\nc', m: '1' }],
        [5, { n: 'd', m: '2' }],
      ],
    ],
    ['columns without a name', 'name,,\nx,y,z\n', [[2, { name: 'x' }]]],
    ['a column with any name', 'constructor,a.b\nx,y\n', [[2, { constructor: 'x', 'a.b': 'y' }]]],
    [
      'a wrong number of fields',
      'a,b\n1\n1,2,3\n"1"\n1,2\n',
      [
        [2, 'has 1 fields where the header has 2'],
        [3, 'has 3 fields where the header has 2'],
        [4, 'has 1 fields where the header has 2'],
        [5, { a: '1', b: '2' }],
      ],
    ],
    [
      'an unclosed quotation mark spoils its own line only',
      'a,b\n"1,2\n3,4\n5,6\n',
      [
        [2, 'has a quotation mark that is not closed'],
        [3, { a: '3', b: '4' }],
        [4, { a: '5', b: '6' }],
      ],
    ],
    [
      'quotation marks in the wrong place',
      'a,b\n5" pipe,1\n"x"y,2\n"x"\r,2\n3,4\n',
      [
        [2, 'has a quotation mark inside a field that does not begin with one'],
        [3, 'has text after a closing quotation mark'],
        [4, 'has text after a closing quotation mark'],
        [5, { a: '3', b: '4' }],
      ],
    ],
    [
      'bytes that are not UTF-8',
      invalid('a,b\n1,2\nx', ',3\né,5\n'),
      [
        [2, { a: '1', b: '2' }],
        [3, 'is not valid UTF-8 text; save the file as UTF-8'],
        [4, { a: 'é', b: '5' }],
      ],
    ],
    [
      'bytes that are not UTF-8 early in a row of two lines',
      invalid('a\n"x', '\ny"\nz\n'),
      [
        [2, 'is not valid UTF-8 text; save the file as UTF-8'],
        [4, { a: 'z' }],
      ],
    ],
    ['a column twice', 'a,b,a\n1,2,3\n', [[1, 'is the header and has the column "a" twice']]],
    ['a header that is not closed', '"a,b\n1,2\n', [[1, 'has a quotation mark that is not closed']]],
    [
      'a line that is too long',
      `a,b\n1,2\n${big}x\n3,4\n`,
      [
        [2, { a: '1', b: '2' }],
        [3, 'is longer than 1 MiB'],
        [4, { a: '3', b: '4' }],
      ],
    ],
    [
      'a line that is too long inside an open quotation',
      `a,b\n"1,2\n${big}x\n3,4\n`,
      [
        [2, 'has a quotation mark that is not closed'],
        [3, 'is longer than 1 MiB'],
        [4, { a: '3', b: '4' }],
      ],
    ],
  ];
  for (const [name, file, expected] of cases) {
    test(name, async () => {
      const long = file.length > 10_000;
      for (const sizes of [[long ? 5000 : 1], [long ? 300_001 : 3], [10_000_000]]) {
        expect(brief(await readAll(file, 'csv', { sizes }))).toEqual(expected);
      }
    });
  }

  test('a column named __proto__ is a column like any other', async () => {
    const [record] = await readAll('__proto__\nx\n', 'csv');
    expect(Object.entries(record?.value ?? {})).toEqual([['__proto__', 'x']]);
  });

  test('a quotation left open for more than 1 MiB costs its line, not the file', async () => {
    const file = `a\n"open\n${'line\n'.repeat(300_000)}`;
    const records = await readAll(file, 'csv');
    expect(records.length).toBe(300_001);
    expect(records.filter(record => record.error !== undefined).map(record => record.line)).toEqual([2]);
    expect(records.at(-1)?.line).toBe(300_002);
  });
});

describe('NDJSON files as people have them', () => {
  const cases: [name: string, file: string | Uint8Array, expected: unknown[]][] = [
    ['an empty file', '', []],
    [
      'blank lines, CRLF, a BOM, no newline at the end',
      '\uFEFF{"a":1}\r\n\r\n \t\n{"a":2}',
      [
        [1, { a: 1 }],
        [4, { a: 2 }],
      ],
    ],
    [
      'lines that are no objects',
      '[1]\n"x"\nnull\n{"a":1}\n',
      [
        [1, 'is not a JSON object'],
        [2, 'is not a JSON object'],
        [3, 'is not a JSON object'],
        [4, { a: 1 }],
      ],
    ],
    [
      'bytes that are not UTF-8',
      invalid('{"a":"', '"}\n{"a":"é"}\n'),
      [
        [1, 'is not valid UTF-8 text; save the file as UTF-8'],
        [2, { a: 'é' }],
      ],
    ],
    [
      'a file that ends inside a character',
      Buffer.concat([bytesOf('{"a":1}\n'), Uint8Array.of(0xf0, 0x9f)]),
      [
        [1, { a: 1 }],
        [2, 'is not valid UTF-8 text; save the file as UTF-8'],
      ],
    ],
    [
      'lines that are too long, first, in the middle and last',
      `${big}é\n{"a":1}\n${big}${big}\n\n${big}x`,
      [
        [1, 'is longer than 1 MiB'],
        [2, { a: 1 }],
        [3, 'is longer than 1 MiB'],
        [5, 'is longer than 1 MiB'],
      ],
    ],
    [
      'a line of exactly the longest length',
      `{"a":1}${' '.repeat(1024 * 1024 - 7)}\n{"a":2}\n`,
      [
        [1, { a: 1 }],
        [2, { a: 2 }],
      ],
    ],
  ];
  for (const [name, file, expected] of cases) {
    test(name, async () => {
      const long = file.length > 10_000;
      for (const sizes of [[long ? 5000 : 1], [long ? 300_001 : 3], [10_000_000]]) {
        expect(brief(await readAll(file, 'ndjson', { sizes }))).toEqual(expected);
      }
    });
  }

  test('a line that is not JSON says so, keeps its text and stops nothing', async () => {
    const records = await readAll('{"a":1}\n{"a":\n{"a":2}\n', 'ndjson');
    expect(records.map(record => record.line)).toEqual([1, 2, 3]);
    expect(records[1]?.error).toStartWith('is not valid JSON: ');
    expect(records[1]?.raw).toBe('{"a":');
    expect(records[2]?.value).toEqual({ a: 2 });
  });

  test('what is kept of a line that is too long is short', async () => {
    const [record] = await readAll(`${'é'.repeat(600_000)}\n`, 'ndjson');
    expect(record?.raw).toBe('é'.repeat(500));
  });
});

describe('JSON files as people have them', () => {
  const cases: [name: string, file: string | Uint8Array, path: string | undefined, expected: unknown[]][] = [
    ['an empty array', ' [ ] ', undefined, []],
    [
      'the first array of objects',
      '{"total":1,"x":[1,2],"e":[],"o":{"p":[{"no":1}]},"items":[{"a":1}],"b":[{"a":2}]}',
      undefined,
      [[1, { a: 1 }]],
    ],
    ['a BOM', '\uFEFF[{"a":1}]', undefined, [[1, { a: 1 }]]],
    [
      'an element that is no object',
      '[1,\n"]",\nnull,{"a":1}]',
      undefined,
      [
        [1, 'is not a JSON object'],
        [2, 'is not a JSON object'],
        [3, 'is not a JSON object'],
        [3, { a: 1 }],
      ],
    ],
    [
      'brackets, quotes and backslashes in strings',
      '[{"a":"]}\\"[\\\\"},\n{"a":"\\\\\\""}]',
      undefined,
      [
        [1, { a: ']}"[\\' }],
        [2, { a: '\\"' }],
      ],
    ],
    [
      'numbers that a newline ends',
      '[1\n,2\n\n,{"a":1}]',
      undefined,
      [
        [1, 'is not a JSON object'],
        [2, 'is not a JSON object'],
        [4, { a: 1 }],
      ],
    ],
    [
      'an array that does not end',
      '[{"a":1},\n\n',
      undefined,
      [
        [1, { a: 1 }],
        [3, 'ends before its array does'],
      ],
    ],
    [
      'an element that does not end',
      '[{"a":1},\n{"a":[\n2',
      undefined,
      [
        [1, { a: 1 }],
        [2, 'is not finished when the file ends'],
      ],
    ],
    [
      'a missing comma',
      '[{"a":1}\n{"a":2}]',
      undefined,
      [
        [1, { a: 1 }],
        [2, 'is not valid JSON: a comma or the end of the array is expected'],
      ],
    ],
    [
      'a comma too many',
      '[{"a":1},\n]',
      undefined,
      [
        [1, { a: 1 }],
        [2, 'is not valid JSON: an element is expected'],
      ],
    ],
    [
      'text after the array',
      '[{"a":1}]\n[{"a":2}]',
      undefined,
      [
        [1, { a: 1 }],
        [2, 'is not valid JSON: text follows the end of the array'],
      ],
    ],
    ['nothing', '', undefined, [[1, 'has no array of objects']]],
    ['an object without an array of objects', '{"a":[1]}', undefined, [[1, 'has no array of objects']]],
    ['text that is no JSON', 'name,price', undefined, [[1, 'has no array of objects']]],
    ['no such member', '{"a":[{}],\n"b":1}', 'c', [[2, 'has no array at "c"']]],
    ['a member that is no array', '{"a":{"b":1}}', 'a.b', [[1, 'has no array at "a.b"']]],
    ['a path where the array is the root', '[{}]', 'a', [[1, 'has no array at "a"']]],
    [
      'bytes that are not UTF-8',
      invalid('[{"a":"', '"},\n{"a":"é"}]'),
      undefined,
      [
        [1, 'is not valid UTF-8 text; save the file as UTF-8'],
        [2, { a: 'é' }],
      ],
    ],
    [
      'an element that is too long',
      `[{"a":"${big}"},\n{"a":1}]`,
      undefined,
      [
        [1, 'is longer than 1 MiB'],
        [2, { a: 1 }],
      ],
    ],
  ];
  for (const [name, file, path, expected] of cases) {
    test(name, async () => {
      const long = file.length > 10_000;
      for (const size of [long ? 5000 : 1, long ? 300_001 : 3, 10_000_000]) {
        const options = { sizes: [size], ...(path === undefined ? {} : { path }) };
        expect(brief(await readAll(file, 'json', options))).toEqual(expected);
      }
    });
  }

  test('an element that is not valid is reported and the next is read', async () => {
    const records = await readAll('[{"a":NaN},\n{"a":1,},\n{"a":2}]', 'json');
    expect(records.map(record => [record.line, record.error?.startsWith('is not valid JSON: ')])).toEqual([
      [1, true],
      [2, true],
      [3, undefined],
    ]);
    expect(records[0]?.raw).toBe('{"a":NaN}');
  });
});

describe('batches and streams', () => {
  test('a batch holds at most 1000 records, and all come in order', async () => {
    const sizes: number[] = [];
    const lines: number[] = [];
    for await (const batch of readRecords(streamOf('{}\n'.repeat(2500)), 'ndjson')) {
      sizes.push(batch.length);
      lines.push(...batch.map(record => record.line));
    }
    expect(sizes).toEqual([1000, 1000, 500]);
    expect(lines).toEqual(Array.from({ length: 2500 }, (_, index) => index + 1));
  });

  test('stopping early closes the source', async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: controller => controller.enqueue(bytesOf('{"a":1}\n'.repeat(1000))),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of readRecords((await peek(endless, 10)).source, 'ndjson')) break;
    expect(cancelled).toBe(true);
  });

  test('peek loses nothing', async () => {
    for (const length of [1, 10, 1000]) {
      const { firstBytes, source } = await peek(streamOf('{"a":1}\n{"a":2}\n', [3]), length);
      expect(firstBytes.length).toBe(Math.min(16, Math.ceil(length / 3) * 3));
      const all = await Array.fromAsync(readRecords(source, 'ndjson'));
      expect(brief(all.flat())).toEqual([
        [1, { a: 1 }],
        [2, { a: 2 }],
      ]);
    }
  });

  // In a process of its own, away from what the tests before left behind. The peak is sampled because the
  // kernel's own figure (maxRSS) starts at that of the parent.
  const measure = `
    import { readRecords } from ${JSON.stringify(`${import.meta.dir}/../src/files/read.ts`)};
    const [format, unit, times] = process.argv.slice(1);
    const bytes = new TextEncoder().encode(unit.repeat(Number(times)));
    let left = Math.ceil(250e6 / bytes.length);
    let peak = 0;
    const source = new ReadableStream({
      pull(controller) {
        peak = Math.max(peak, process.memoryUsage.rss());
        return left-- > 0 ? controller.enqueue(bytes.slice()) : controller.close();
      },
    });
    let count = 0;
    for await (const batch of readRecords(source, format)) count += batch.length;
    console.log(JSON.stringify([count, peak / 2 ** 20]));
  `;
  const files: [what: string, format: FileFormat, unit: string, times: number, records: number][] = [
    ['many CSV rows', 'csv', `${'x'.repeat(99)}\n`, 1000, 2_499_999],
    ['many NDJSON lines', 'ndjson', `{"name":"${'x'.repeat(88)}"}\n`, 1000, 2_500_000],
    ['one NDJSON line', 'ndjson', 'x', 100_000, 1],
    ['one CSV line', 'csv', 'x', 100_000, 1],
    ['one JSON element', 'json', '[', 100_000, 1],
  ];
  for (const [what, format, unit, times, records] of files) {
    test(`250 MB of ${what} are read in less than 150 MB of memory`, async () => {
      const child = Bun.spawn([process.execPath, '-e', measure, format, unit, String(times)]);
      const result: unknown = await new Response(child.stdout).json();
      const [count, peakMiB] = z.tuple([z.number(), z.number()]).parse(result);
      expect(count).toBe(records);
      expect(peakMiB).toBeLessThan(150);
    }, 30_000);
  }
});

describe('the format of a file', () => {
  const cases: [name: string | undefined, start: string, format: FileFormat][] = [
    ['a.csv', '[', 'csv'],
    ['a.TSV', 'x', 'csv'],
    ['a.ndjson', '', 'ndjson'],
    ['a.jsonl', '', 'ndjson'],
    ['a.json', '[{', 'json'],
    ['a.json', '', 'json'],
    ['a.json', '{"a":1}\n{"a":2}\n', 'ndjson'],
    ['a.json', '{\n  "items": [', 'json'],
    [undefined, '\uFEFF \n[', 'json'],
    [undefined, '{"items":[{"a":1}]}\n', 'json'],
    [undefined, '{"name":"x","tags":["y"]}\n', 'ndjson'],
    [undefined, '{"name":"x"}', 'ndjson'],
    [undefined, '{"items":[{"a":1},{', 'json'],
    [undefined, 'name,price\n', 'csv'],
    ['a.txt', 'name\tprice\n', 'csv'],
  ];
  for (const [name, start, format] of cases) {
    test(`${name ?? 'standard input'} that begins ${JSON.stringify(start)} is ${format}`, () => {
      expect(detectFormat(name, bytesOf(start))).toBe(format);
    });
  }
});

describe('mapping', () => {
  test('pairs, spaces, an equals sign in the column', () => {
    expect([...parseMapping(' name = title,price=a=b ')]).toEqual([
      ['name', 'title'],
      ['price', 'a=b'],
    ]);
    expect([...parseMapping('')]).toEqual([]);
  });

  const refused: [text: string, message: string][] = [
    ['name', 'a mapping is FIELD=COLUMN pairs with commas between them, not "name"'],
    ['name=', 'a mapping is FIELD=COLUMN pairs with commas between them, not "name="'],
    ['=x', 'a mapping is FIELD=COLUMN pairs with commas between them, not "=x"'],
    ['name=a,', 'a mapping is FIELD=COLUMN pairs with commas between them, not ""'],
    ['nam=a', `a mapping's field is one of ${productFields.join(', ')}, not "nam"`],
    ['name=a,name=b', 'a mapping gives each field once, but "name" twice'],
  ];
  for (const [text, message] of refused) {
    test(`"${text}" is refused`, () => expect(() => parseMapping(text)).toThrow(new MappingError(message)));
  }

  const cases: [what: string, map: string, record: Fields, expected: Fields][] = [
    ['the same name in another case', '', { NAME: 'x', Price: 1 }, { name: 'x', price: 1 }],
    ['the exact name before another case', '', { NAME: 'x', name: 'y' }, { name: 'y' }],
    ['no guessing', '', { product_name: 'x', unit_price: '1' }, {}],
    ['a mapped column hides the same-named one', 'name=title', { name: 'x' }, {}],
    ['a dotted column as a path', 'sku=ids.Own', { ids: { own: 'S' } }, { sku: 'S' }],
    ['a dotted column as a name', 'sku=ids.own', { 'ids.own': 'S' }, { sku: 'S' }],
    ['a path that leads nowhere', 'sku=ids.own', { ids: 'S' }, {}],
    ['an inherited member is no column', 'name=constructor', {}, {}],
    ['empty and null are absent', '', { name: '', sku: null, tags: '' }, {}],
    ['a price with a point', '', { price: ' 12.50 ' }, { price: 12.5 }],
    ['a price with an exponent', '', { price: '1e-7' }, { price: 1e-7 }],
    ['no price: decimal comma', '', { price: '12,50' }, { price: '12,50' }],
    ['no price: currency sign', '', { price: '$12' }, { price: '$12' }],
    ['no price: hexadecimal', '', { price: '0x10' }, { price: '0x10' }],
    ['no price: infinite', '', { price: '1e999' }, { price: '1e999' }],
    ['a number as a sku', 'sku=id', { id: 77 }, { sku: '77' }],
    ['tags between semicolons or bars', '', { tags: 'a; b||c' }, { tags: ['a', 'b', 'c'] }],
    ['tags as JSON', '', { tags: '["a;b"]' }, { tags: ['a;b'] }],
    ['tags that are almost JSON', '', { tags: '[a' }, { tags: '[a' }],
    ['tags as an array', '', { tags: ['a'] }, { tags: ['a'] }],
    ['discontinued: 1', 'status=Discontinued', { Discontinued: '1' }, { status: 'archived' }],
    ['discontinued: false', 'status=isDiscontinued', { isDiscontinued: false }, { status: 'active' }],
    ['archived: TRUE', 'status=meta.is_archived', { meta: { is_archived: 'TRUE' } }, { status: 'archived' }],
    ['discontinued: anything else', 'status=Discontinued', { Discontinued: 'maybe' }, { status: 'maybe' }],
    ['yes or no in another column', 'status=visible', { visible: '1' }, { status: '1' }],
    ['status in words', '', { status: 'archived' }, { status: 'archived' }],
  ];
  for (const [what, map, record, expected] of cases) {
    test(what, () => expect(mapRecord(record, parseMapping(map), productFields)).toEqual(expected));
  }
});

describe('rows', () => {
  test('quoting, tags, absent values', () => {
    const fields = ['name', 'price', 'tags', 'sku', 'more'];
    expect(csvHeader(fields)).toBe('name,price,tags,sku,more\r\n');
    expect(
      csvRow(fields, { name: 'a "b", c', price: 1.5, tags: ['x', 'y'], sku: null, more: { z: 1 } }),
    ).toBe('"a ""b"", c",1.5,x;y,,"{""z"":1}"\r\n');
    expect(csvRow(['tags'], { tags: ['a;b', ' c'] })).toBe('"[""a;b"","" c""]"\r\n');
    expect(csvRow(['name'], {})).toBe('""\r\n');
  });

  test('cells that look like formulas stay what they are', () => {
    expect(csvRow(['name'], { name: '=1+1' })).toBe('=1+1\r\n');
  });
});

test('the sample catalog is what it says', () => {
  const distinct = (values: readonly string[]): number => new Set(values).size;
  expect(sampleProducts.length).toBe(240);
  expect(distinct(sampleProducts.map(item => item.sku))).toBe(240);
  expect(distinct(sampleProducts.map(item => item.name))).toBe(240);
  expect(distinct(sampleProducts.map(item => item.category))).toBe(15);
  expect(sampleProducts.filter(item => item.status === 'archived').length).toBe(10);
});
