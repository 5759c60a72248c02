/** Reading NDJSON as found in users' files. */
import { describe, expect, test } from 'bun:test';
import { bigLine, brief, bytesOf, notUtf8, readAll } from '../support/samples/records.ts';

describe('reading NDJSON files', () => {
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
      notUtf8('{"a":"', '"}\n{"a":"é"}\n'),
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
      `${bigLine}é\n{"a":1}\n${bigLine}${bigLine}\n\n${bigLine}x`,
      [
        [1, 'is longer than 8 MiB'],
        [2, { a: 1 }],
        [3, 'is longer than 8 MiB'],
        [5, 'is longer than 8 MiB'],
      ],
    ],
    [
      'a line of exactly the longest length',
      `{"a":1}${' '.repeat(8 * 1024 * 1024 - 7)}\n{"a":2}\n`,
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

  test('a line that is not JSON is reported with its text, and the next is read', async () => {
    const records = await readAll('{"a":1}\n{"a":\n{"a":2}\n', 'ndjson');
    expect(records.map(record => record.line)).toEqual([1, 2, 3]);
    expect(records[1]?.error).toStartWith('is not valid JSON: ');
    expect(records[1]?.raw).toBe('{"a":');
    expect(records[2]?.value).toEqual({ a: 2 });
  });

  test('only the first 500 characters of a line that is too long are kept', async () => {
    const [record] = await readAll(`${'é'.repeat(5_000_000)}\n`, 'ndjson');
    expect(record?.raw).toBe('é'.repeat(500));
  });
});
