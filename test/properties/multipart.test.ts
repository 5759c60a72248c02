/** Forms: what a browser's encoding has put in comes out, and whatever else is sent is refused, in linear time. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { HttpError } from '../../src/http/errors.ts';
import { parseParts } from '../../src/http/request/multipart.ts';
import { anyTextOf } from '../support/samples/texts.ts';
import { processorTime } from '../support/service/growth.ts';

const name = anyTextOf({ minLength: 1, maxLength: 20 });
const content = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  // What looks like the end of a part.
  fc
    .array(fc.constantFrom('\r', '\n', '--', '\r\n--', 'x', '\0'), { maxLength: 20 })
    .map(all => Buffer.from(all.join(''))),
);

test('the parts of a form that a browser encodes are read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, content), { minLength: 1, maxLength: 20 }), async parts => {
      const form = new FormData();
      for (const [key, bytes] of parts) form.append(key, new Blob([new Uint8Array(bytes)]), 'file.bin');
      const encoded = new Response(form);
      const type = encoded.headers.get('content-type') ?? '';
      const found = parseParts(await encoded.bytes(), type);
      const expected = parts.map(([key, bytes]) => [
        key.replaceAll(/\r\n|\r|\n/g, '\r\n'),
        Buffer.from(bytes),
      ]);
      expect(
        found.map(part => [part.name.replaceAll(/\r\n|\r|\n/g, '\r\n'), Buffer.from(part.content)]),
      ).toEqual(expected);
    }),
  );
});

test('any body yields parts or a 400', () => {
  const pieces = fc.constantFrom(
    '--x',
    '--x--',
    '\r\n',
    '\r\n\r\n',
    'Content-Disposition: form-data; name="a"',
    'name=',
    '"',
    ';',
    'a',
    '--',
    '\0',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), all => {
      try {
        for (const part of parseParts(Buffer.from(all.join('')), 'multipart/form-data; boundary=x'))
          expect(part.content).toBeInstanceOf(Uint8Array);
      } catch (error) {
        expect(error).toBeInstanceOf(HttpError);
        expect((error as HttpError).status).toBe(400);
      }
    }),
  );
});

const part = (headers: string, body: string) => `--x\r\n${headers}\r\n\r\n${body}\r\n`;
const disposition = 'Content-Disposition: form-data; name="a"';

const forms: readonly (readonly [
  what: string,
  body: string,
  parts: readonly (readonly [string, string])[],
])[] = [
  ['a text before it, and one behind', `before\r\n${part(disposition, '1')}--x--\r\nbehind`, [['a', '1']]],
  ['an empty part', `${part(disposition, '')}--x--`, [['a', '']]],
  [
    'a name without quotation marks',
    `${part('Content-Disposition: form-data; name=a', '1')}--x--`,
    [['a', '1']],
  ],
  [
    'a file name that is none of it',
    `${part('content-disposition: form-data; filename="name=b"; name="a"', '1')}--x--`,
    [['a', '1']],
  ],
  ...['; name=b', ' name=b.png', 'a\\"; name=b'].map((file): [string, string, [string, string][]] => [
    `a file name like a name: ${file}`,
    `${part(`Content-Disposition: form-data; filename="${file}"; Name = "a"`, '1')}--x--`,
    [['a', '1']],
  ]),
  [
    'a name with a line separator',
    `${part('Content-Disposition: form-data; name="\u2028b\u0085"', '1')}--x--`,
    [['\u2028b\u0085', '1']],
  ],
  ['blanks behind a boundary', `--x  \r\n${disposition}\r\n\r\n1\r\n--x--`, [['a', '1']]],
  ['a boundary within a line', `${part(disposition, '1--x2')}--x--`, [['a', '1--x2']]],
  ['no part', '--x--', []],
];
test.each(forms)('%s', (_, body, parts) => {
  const found = parseParts(Buffer.from(body), 'multipart/form-data; boundary="x"');
  expect(found.map(({ name, content }) => [name, Buffer.from(content).toString()])).toEqual(
    parts.map(pair => [...pair]),
  );
});

const broken: readonly (readonly [what: string, body: string, type?: string])[] = [
  ['nothing', ''],
  ['no end', part(disposition, '1')],
  ['another boundary', '--y\r\n\r\n--y--'],
  ['no boundary in the type', '--x--', 'multipart/form-data'],
  ['an empty boundary', '----', 'multipart/form-data; boundary='],
  ['a boundary that is too long', '--x--', `multipart/form-data; boundary=${'x'.repeat(71)}`],
  ['a part without a name', `${part('Content-Type: text/plain', '1')}--x--`],
  ['headers that do not end', `--x\r\n${'A: b\r\n'.repeat(3000)}`],
  ['too many parts', `${part(disposition, '').repeat(21)}--x--`],
  ['something behind a boundary', `--xy\r\n${disposition}\r\n\r\n1\r\n--x--`],
];
test.each(broken)('%s: 400', (_, body, type = 'multipart/form-data; boundary=x') => {
  expect(() => parseParts(Buffer.from(body), type)).toThrow(HttpError);
});

test('twenty megabytes of repeated delimiters are refused within 500 ms', async () => {
  const size = 20 * 1024 * 1024;
  for (const piece of ['\r\n--', '\r\n--xy', '--x\r\n', '\r\n', '-', `${part(disposition, '')}`]) {
    const body = Buffer.alloc(size, piece);
    const refused = () =>
      expect(() => parseParts(body, 'multipart/form-data; boundary=x')).toThrow(HttpError);
    expect([piece, (await processorTime(refused)) < 500]).toEqual([piece, true]);
  }
});
