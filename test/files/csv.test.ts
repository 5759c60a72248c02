/** Reading CSV as found in users' files. */
import { describe, expect, test } from 'bun:test';
import { bigLine, brief, notUtf8, readAll } from '../support/samples/records.ts';

const twice = 'is the header and has the column "c" twice; rename one of them';
const barred =
  'is the header and has | between its columns; save the file with commas, semicolons or tabs between them';

describe('reading CSV files', () => {
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
      'rows of delimiters only, which are blank lines and count',
      ',,\nname;price;\r\n;;\r\nx;1;\r\n;;;;\n;2;\n;;',
      [
        [4, { name: 'x', price: '1' }],
        [6, { name: '', price: '2' }],
      ],
    ],
    [
      'a first line that names the delimiter',
      '\uFEFFsep=;\r\nname;price\r\nLamp, small;1,5\r\n"a;b";2\r\n',
      [
        [3, { name: 'Lamp, small', price: '1,5' }],
        [4, { name: 'a;b', price: '2' }],
      ],
    ],
    [
      'a first line that overrides the detected delimiter',
      'SEP=|\na,b|"c;d"\n1|2\n',
      [[3, { 'a,b': '1', 'c;d': '2' }]],
    ],
    ['a later line that looks like one that names the delimiter', 'a\nsep=;\n', [[2, { a: 'sep=;' }]]],
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
      'more fields than the header, unless the others are empty',
      'a,b\n1,2,3\n1,2,, \n1,2,"",3\n"1","2",""\n1,2\n',
      [
        [2, 'has 3 fields where the header has 2'],
        [3, { a: '1', b: '2' }],
        [4, 'has 4 fields where the header has 2'],
        [5, { a: '1', b: '2' }],
        [6, { a: '1', b: '2' }],
      ],
    ],
    [
      'rows with as many fields fewer than the header: the others are empty',
      'a,b,c\n1\n2\n"1",2\r\n3,4\n5,6,7\n8\n',
      [
        [2, { a: '1', b: '', c: '' }],
        [3, { a: '2', b: '', c: '' }],
        [4, { a: '1', b: '2', c: '' }],
        [5, { a: '3', b: '4', c: '' }],
        [6, { a: '5', b: '6', c: '7' }],
        [7, { a: '8', b: '', c: '' }],
      ],
    ],
    [
      'a last row with more fields than those before, which also have fewer than the header',
      'a,b,c\n1\n2\n3,4\n',
      [
        [2, { a: '1', b: '', c: '' }],
        [3, { a: '2', b: '', c: '' }],
        [4, { a: '3', b: '4', c: '' }],
      ],
    ],
    [
      'a row that a line break cuts in two, of which nothing is read',
      'a,b,c,d\n1,2,te\nxt,4\n5,6,7,8\n9,te\nxt,1,2\n',
      [
        [2, 'has 3 fields where the header has 4'],
        [3, 'has 2 fields where the header has 4'],
        [4, { a: '5', b: '6', c: '7', d: '8' }],
        [5, 'has 2 fields where the header has 4'],
        [6, 'has 3 fields where the header has 4'],
      ],
    ],
    [
      'a file that ends within a row',
      'a,b\n1,2\n3',
      [
        [2, { a: '1', b: '2' }],
        [3, 'has 1 field where the header has 2'],
      ],
    ],
    [
      'a file that ends within a quoted row',
      'a,b\n1,2\n"3"',
      [
        [2, { a: '1', b: '2' }],
        [3, 'has 1 field where the header has 2'],
      ],
    ],
    [
      'an unclosed quotation mark fails only its own line',
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
      'spaces around the quotation marks of a field',
      'a   ,b\n "x, ""y"""   , "1\n2"\n"x"  ,  2 \r\n  "x" y,3\n"x" ,"" ',
      [
        [2, { a: 'x, "y"', b: '1\n2' }],
        [4, { a: 'x', b: '  2 ' }],
        [5, 'has text after a closing quotation mark'],
        [6, { a: 'x', b: '' }],
      ],
    ],
    [
      'quotation marks between tabs, which enclose a whole field or are a part of it',
      'a\tb\tc\nMonitor 27" HD\t"x""y\tz"\t27"\r\n"Best" one\t"1"\t"a\nb"\n"x\ty" z\t1\t2\n5" to 6"\t""\t"7"" or "8""\n',
      [
        [2, { a: 'Monitor 27" HD', b: 'x"y\tz', c: '27"' }],
        [3, { a: '"Best" one', b: '1', c: 'a\nb' }],
        [5, 'has text after a closing quotation mark'],
        [6, { a: '5" to 6"', b: '', c: '"7"" or "8""' }],
      ],
    ],
    ['a quotation mark in a header between tabs', 'a 5"\tb\n1\t2"\n', [[2, { 'a 5"': '1', b: '2"' }]]],
    [
      'a quotation mark in a field between semicolons',
      'a;b\n5";1\n',
      [[2, 'has a quotation mark inside a field that does not begin with one']],
    ],
    [
      'bytes that are not UTF-8',
      notUtf8('a,b\n1,2\nx', ',3\né,5\n'),
      [
        [2, { a: '1', b: '2' }],
        [3, 'is not valid UTF-8 text; save the file as UTF-8'],
        [4, { a: 'é', b: '5' }],
      ],
    ],
    [
      'bytes that are not UTF-8 early in a row of two lines',
      notUtf8('a\n"x', '\ny"\nz\n'),
      [
        [2, 'is not valid UTF-8 text; save the file as UTF-8'],
        [4, { a: 'z' }],
      ],
    ],
    [
      'a column twice',
      'a,b,a\n1,2,3\n',
      [[1, 'is the header and has the column "a" twice; rename one of them']],
    ],
    ['bars between the columns', 'a|b\n1|2\n', [[1, barred]]],
    ['bars between quoted columns', '"a"|"b, c"\n"1"|"2"\n', [[1, barred]]],
    ['bars before a quoted column', 'a|"b"\n1|"2"\n', [[1, barred]]],
    [
      'line ends of one carriage return',
      'a,b\r1,2\r',
      [[1, 'ends with a carriage return alone; save the file with line ends of LF or CRLF']],
    ],
    ['a bar in a name', 'a|b,c\n1,2\n', [[2, { 'a|b': '1', c: '2' }]]],
    ['a header that is not closed', '"a,b\n1,2\n', [[1, 'has a quotation mark that is not closed']]],
    [
      'a line that is too long',
      `a,b\n1,2\n${bigLine}x\n3,4\n`,
      [
        [2, { a: '1', b: '2' }],
        [3, 'is longer than 8 MiB'],
        [4, { a: '3', b: '4' }],
      ],
    ],
    [
      'a line that is too long inside an open quotation',
      `a,b\n"1,2\n${bigLine}x\n3,4\n`,
      [
        [2, 'has a quotation mark that is not closed'],
        [3, 'is longer than 8 MiB'],
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

  test.each([
    ['lines before its header, of prose', 'The "list;\n\nb,"\na;b\n1;2\n', [[5, { a: '1', b: '2' }]]],
    ['a longer line before its header', `x\n${bigLine}x\n${bigLine}\na;b\n1;2\n`, [[5, { a: '1', b: '2' }]]],
    ['no more lines than before its header', 'a,b\n1,2\n\n', []],
    ['nothing after its header', 'a,b\n1,2\n\nc,d', []],
    ['a header that cannot be used', 'a,b\n1,2\n\n,\nc,c\n1,2\n', [[5, twice]]],
  ])('a file that has its header in line 4, with %s', async (_, file, expected) => {
    const long = file.length > 10_000;
    for (const sizes of [[long ? 5000 : 1], [long ? 300_001 : 3], [100_000_000]])
      expect(brief(await readAll(file, 'csv', { sizes, header: { line: 4 } }))).toEqual(expected);
  });

  test('a column named __proto__ is an ordinary column', async () => {
    const [record] = await readAll('__proto__\nx\n', 'csv');
    expect(Object.entries(record?.value ?? {})).toEqual([['__proto__', 'x']]);
  });

  test('a quotation left open for more than 8 MiB fails only its line', async () => {
    const file = `a\n"open\n${`${'line '.repeat(10)}\n`.repeat(200_000)}`;
    const records = await readAll(file, 'csv');
    expect(records.length).toBe(200_001);
    expect(records.filter(record => record.error !== undefined).map(record => record.line)).toEqual([2]);
    expect(records.at(-1)?.line).toBe(200_002);
  });
});
