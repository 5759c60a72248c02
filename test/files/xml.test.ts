/** Reading feeds as XML. */
import { expect, test } from 'bun:test';
import { brief, notUtf8, readAll } from '../support/samples/records.ts';

const feed = (inner: string): string =>
  `<rss xmlns:g="http://base.google.com/ns/1.0"><channel>${inner}</channel></rss>`;

/** A record that exceeds the limit, in many pieces. */
const long = `<description>${'<![CDATA[ & ]]>'.repeat(700_000)}</description>`;

test.each([
  [
    'an element with a prefix takes precedence over one without',
    '<item><g:id>1</g:id><id>2</id></item>',
    [[1, { id: '1' }]],
  ],
  [
    'prefixed elements take precedence in any order',
    '<item><id>2</id><g:id>1</g:id></item>',
    [[1, { id: '1' }]],
  ],
  [
    'elements of other namespaces than that of Google do not take precedence',
    '<item xmlns:media="http://search.yahoo.com/mrss/"><media:id>3</media:id><id>2</id><media:id>4</media:id></item>',
    [[1, { id: '2' }]],
  ],
  [
    'elements of the namespace of Google take precedence under any prefix',
    '<item xmlns:x="http://base.google.com/ns/1.0"><id>2</id><x:id>3</x:id></item>',
    [[1, { id: '3' }]],
  ],
  [
    'the first of several equal elements counts',
    '<item><g:id>1</g:id><g:id>2</g:id></item>',
    [[1, { id: '1' }]],
  ],
  ['empty elements do not count', '<item><g:id/><g:a> </g:a><g:id>2</g:id></item>', [[1, { id: '2' }]]],
  [
    'all elements with a repeatable name count',
    '<item><g:tax>1</g:tax><g:tax><g:country>US</g:country><g:rate> 5 </g:rate></g:tax></item>',
    [[1, { tax: '1,US:5' }]],
  ],
  ['text around elements', '<item><d>a <b>bold</b> word</d></item>', [[1, { d: 'a bold word' }]]],
  [
    'elements of values, also of the default namespace',
    '<item><tax><country>US</country><rate>5</rate></tax></item>',
    [[1, { tax: 'US:5' }]],
  ],
  [
    'nested elements are ordered by their places, and missing ones leave their places empty',
    `<item><ship><price>5 EUR</price><country>DE</country></ship><ship><to>AT</to></ship>
    <ship><note>x</note><zip>1</zip><region>2</region></ship></item>`,
    [[1, { ship: 'DE::5 EUR,AT,:1:x:2' }]],
  ],
  [
    'HTML is text',
    '<item><description><div><p>a</p> <p>b</p></div></description></item>',
    [[1, { description: 'a b' }]],
  ],
  [
    'a comma in a repeated element is quoted',
    '<item><tax>a, b</tax><tax>c</tax><tax>https://x/w_1,h_2.jpg</tax></item>',
    [[1, { tax: '"a, b",c,https://x/w_1,h_2.jpg' }]],
  ],
  ['empty items are skipped', '<item/><item> <a/></item><item><a>1</a></item>', [[1, { a: '1' }]]],
  [
    'entities and CDATA',
    '<item><d>&lt;p&gt;&eacute;&#x41;<![CDATA[<b>]]></d></item>',
    [[1, { d: '<p>éA<b>' }]],
  ],
  [
    'lines of items',
    '\n<item>\n<a>1</a>\n</item>\n<item><a>2</a></item>',
    [
      [2, { a: '1' }],
      [5, { a: '2' }],
    ],
  ],
  ['an item inside an item is an element', '<item><item>x</item></item>', [[1, { item: 'x' }]]],
  [
    'a record that is too long is refused by itself',
    `<item><a>1</a></item>\n<item>${long}</item>\n<item><a>2</a></item>`,
    [
      [1, { a: '1' }],
      [2, 'is longer than 8 MiB'],
      [3, { a: '2' }],
    ],
  ],
])('%s', async (_, inner, expected) => {
  const header = {
    repeated: /^(?:tax|ship)$/,
    places: new Map([['ship', ['country|to', 'region|zip', 'price']]]),
  };
  expect(brief(await readAll(feed(inner), 'xml', { header }))).toEqual(expected);
});

test('each record has its own text and all columns so far', async () => {
  const [first, second] = await readAll(feed('<item><a>1</a></item> <entry><b>2</b></entry>'), 'xml');
  expect(first).toMatchObject({ raw: '<item><a>1</a></item>', columns: ['a'] });
  expect(second).toMatchObject({ raw: '<entry><b>2</b></entry>', columns: ['a', 'b'] });
});

test('only the item whose bytes are not UTF-8 is refused', async () => {
  const bytes = notUtf8('<rss><item><a>1</a></item>\n<item><a>', '</a></item>\n<item><a>3</a></item></rss>');
  const [first, second, third] = brief(await readAll(bytes, 'xml'));
  expect([first, third]).toEqual([
    [1, { a: '1' }],
    [3, { a: '3' }],
  ]);
  expect(second).toEqual([2, expect.stringContaining('is not valid UTF-8')]);
});

test('a file with too many different elements is refused as a whole', async () => {
  const names = Array.from({ length: 1001 }, (_, index) => `<a${index}>x</a${index}>`).join('');
  expect((await readAll(feed(`<item>${names}</item>`), 'xml')).at(-1)).toMatchObject({
    fatal: true,
    error: 'has more than 1000 different elements in its items',
  });
});

const inside = (name: string, times: number): string =>
  `<${name}>`.repeat(times) + `</${name}>`.repeat(times);

test.each([
  ['nested elements', inside('a', 1000), 'has elements more than 1000 deep in one another'],
  [
    'attributes',
    `<a ${Array.from({ length: 1001 }, (_, index) => `b${index}=""`).join(' ')}/>`,
    'has an element with more than 1000 attributes',
  ],
  ['comments', `<!--${'x'.repeat(1024 * 1024)}-->`, 'has a comment, a tag or other markup that is too long'],
])('a file with endless %s is refused as a whole', async (_, inner, error) => {
  expect((await readAll(feed(`<item>${inner}</item>`), 'xml')).at(-1)).toMatchObject({ fatal: true, error });
});
