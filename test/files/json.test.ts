/** Reading JSON as found in users' files. */
import { describe, expect, test } from 'bun:test';
import { bigLine, brief, notUtf8, readAll } from '../support/samples/records.ts';

describe('reading JSON files', () => {
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
        [2, 'is incomplete: the file ends'],
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
    [
      'an object after the one with the array',
      '{"a":[{"a":1}],"b":"]}{\\""}\n{"a":[{"a":2}]}',
      undefined,
      [
        [1, { a: 1 }],
        [
          2,
          'is not valid JSON: text follows the end of the object; several objects must be on lines of their own',
        ],
      ],
    ],
    [
      'an object after one with an empty array',
      '{"a":[]}{"a":[{"a":2}]}',
      undefined,
      [
        [
          1,
          'is not valid JSON: text follows the end of the object; several objects must be on lines of their own',
        ],
      ],
    ],
    [
      'an object after the one with the path',
      '{"a":{"b":[{"a":1}],"c":[{}]},"d":{}}{',
      'a.b',
      [
        [1, { a: 1 }],
        [
          1,
          'is not valid JSON: text follows the end of the object; several objects must be on lines of their own',
        ],
      ],
    ],
    ['members after the array', '{"a":[{"a":1}],"b":[{"c":[1]}]}\n\n', undefined, [[1, { a: 1 }]]],
    ['an object that ends within a later member', '{"a":[{"a":1}],"b":[', undefined, [[1, { a: 1 }]]],
    ['nothing', '', undefined, [[1, 'has no array of objects']]],
    ['an object without an array of objects', '{"a":[1]}', undefined, [[1, 'has no array of objects']]],
    ['an object with an empty array', '{"meta":{"total":0},"data":[ ]}', undefined, []],
    ['an empty array before another', '{"a":[],"b":[{"c":1}]}', undefined, [[1, { c: 1 }]]],
    ['an empty array in an object that does not end', '{"a":[]', undefined, [[1, 'has no array of objects']]],
    ['text that is no JSON', 'name,price', undefined, [[1, 'has no array of objects']]],
    ['no such member', '{"a":[{}],\n"b":1}', 'c', [[2, 'has no array at "c"']]],
    ['a member that is no array', '{"a":{"b":1}}', 'a.b', [[1, 'has no array at "a.b"']]],
    ['a path where the array is the root', '[{}]', 'a', [[1, 'has no array at "a"']]],
    [
      'bytes that are not UTF-8',
      notUtf8('[{"a":"', '"},\n{"a":"é"}]'),
      undefined,
      [
        [1, 'is not valid UTF-8 text; save the file as UTF-8'],
        [2, { a: 'é' }],
      ],
    ],
    [
      'an element that is too long',
      `[{"a":"${bigLine}"},\n{"a":1}]`,
      undefined,
      [
        [1, 'is longer than 8 MiB'],
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

  test('an invalid element is reported and the next is read', async () => {
    const records = await readAll('[{"a":NaN},\n{"a":1,},\n{"a":2}]', 'json');
    expect(records.map(record => [record.line, record.error?.startsWith('is not valid JSON: ')])).toEqual([
      [1, true],
      [2, true],
      [3, undefined],
    ]);
    expect(records[0]?.raw).toBe('{"a":NaN}');
  });
});
