/** Which format a file has, and how its records become products. */
import { describe, expect, test } from 'bun:test';
import { MappingError, parseMapping, productFields } from '../../src/files/cells/map.ts';
import { createRecordMapper } from '../../src/files/cells/mapper.ts';
import { detectFormat, type FileFormat } from '../../src/files/read.ts';
import { bytesOf, type Fields } from '../support/samples/records.ts';

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
    [undefined, '{"sku":"A","variants":[{"sku":"A-S"}]}\n', 'ndjson'],
    [undefined, '{"Name":"x","price":1,"reviews":[{"stars":5}]}', 'ndjson'],
    ['a.json', '{"title":"x","options":[{"name":"Size"}],"images":[{"url":"y"}]}', 'ndjson'],
    [undefined, '{"name":"Export of May","products":[{"name":"x","price":1}]}', 'json'],
    [undefined, '{"total":1,"data":[{"sku":"A"}]}', 'json'],
    [undefined, '{"data":[],"meta":{"total":0}}', 'json'],
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

/** The fields as JSON, in which unreadable values are as in messages. */
const shown = (fields: Fields): Fields => JSON.parse(JSON.stringify(fields));

describe('mapping', () => {
  test('pairs, spaces, an equals sign in the column', () => {
    expect([...parseMapping(' name = title,price=a=b ')]).toEqual([
      ['name', 'title'],
      ['price', 'a=b'],
    ]);
    expect([...parseMapping('')]).toEqual([]);
  });

  const refused: [text: string, message: string][] = [
    ['name', 'a mapping is FIELD=COLUMN pairs separated by commas, not "name"'],
    ['name=', 'a mapping is FIELD=COLUMN pairs separated by commas, not "name="'],
    ['=x', 'a mapping is FIELD=COLUMN pairs separated by commas, not "=x"'],
    ['name=a,', 'a mapping is FIELD=COLUMN pairs separated by commas, not ""'],
    [
      'nam=a',
      `the field of a mapping must be one of ${productFields.join(', ')}, stock.tracked, stock.onHand, stock.backorder, weight.value, weight.unit, attributes.KEY, not "nam"`,
    ],
    ['name=a,name=b', 'a mapping may name a field only once; "name" is named twice'],
    ['options=a,options=b', 'a mapping may name a field only once; "options" is named twice'],
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
    [
      'a price with a decimal comma and a currency',
      '',
      { price: '12,50 €' },
      { price: 12.5, currency: 'EUR' },
    ],
    ['no price: a comma that may be either', '', { price: '1,234' }, { price: '1,234' }],
    ['a price with a currency', '', { price: '$12' }, { price: 12, currency: 'USD' }],
    ['a price without a digit before its point', '', { price: '.5' }, { price: 0.5 }],
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
    ['active: 0', 'status=Active (0/1)', { 'Active (0/1)': '0' }, { status: 'archived' }],
    ['aktiv: Y', 'status=Aktiv', { Aktiv: 'Y' }, { status: 'active' }],
    ['is visible: FALSCH', 'status=Is Visible', { 'Is Visible': 'FALSCH' }, { status: 'archived' }],
    ['enabled: 1', 'status=enabled', { enabled: 1 }, { status: 'active' }],
    ['discontinued: yes', 'status=discontinued', { discontinued: 'yes' }, { status: 'archived' }],
    ['yes or no in another column', 'status=featured', { featured: '1' }, { status: '1' }],
    ['status in words', '', { status: 'archived' }, { status: 'archived' }],
  ];
  for (const [what, map, record, expected] of cases) {
    test(what, () =>
      expect(shown(createRecordMapper({ mapping: parseMapping(map) }).map(record))).toEqual(expected),
    );
  }
});
