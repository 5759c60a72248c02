/** Pointers of errors: fragments of URIs that lead back to the names of members, whatever these are. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { buildErrorDetail, moveDetail } from '../../src/http/errors.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';
import { renameDetail } from '../support/versions/translation.ts';

/** A fragment as RFC 3986 §3.5 has it, behind its sign. */
const fragment = /^#(?:[A-Za-z\d\-._~!$&'()*+,;=:@/?]|%[\dA-F]{2})*$/;

/** The names that a pointer leads along (RFC 6901 §6, §4). */
function namesOf(pointer: string): string[] {
  expect(pointer).toMatch(fragment);
  const [empty, ...tokens] = decodeURIComponent(pointer.slice(1)).split('/');
  expect(empty).toBe('');
  return tokens.map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Any text, with what is escaped, encoded and refused more often than by chance. */
const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc
    .array(
      fc.constantFrom('~', '/', '%', '%25', '~1', '#', '?', ' ', '[', '"', '\u0000', 'ä', '😀', 'a', '.'),
    )
    .map(parts => parts.join('')),
);

test('a pointer follows the names of the path, also within a member and in another version', () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), name, (path, other) => {
      const detail = buildErrorDetail(path, 'type', 'must be a number');
      expect(namesOf(detail.pointer)).toEqual(path);
      expect(namesOf(moveDetail(detail, other).pointer)).toEqual([other, ...path]);
      const [first = '', ...rest] = path;
      expect(namesOf(renameDetail(detail, first, other).pointer)).toEqual([other, ...rest]);
    }),
  );
});

test('a pointer that would be too long leads to the parent of the field, and a lone surrogate is replaced', () => {
  const pointerOf = (...path: string[]) => buildErrorDetail(path, 'type', 'must be a number').pointer;
  expect(namesOf(pointerOf('attributes', '€'.repeat(200)))).toEqual(['attributes']);
  expect(namesOf(pointerOf('attributes', 'a'.repeat(900)))).toEqual(['attributes', 'a'.repeat(900)]);
  expect(namesOf(pointerOf('x'.repeat(1_000_000), 'y'))).toEqual([]);
  expect(namesOf(pointerOf('a\ud800b'))).toEqual(['a\ufffdb']);
});

describeOnDatabases('pointers of errors on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  async function pointersOf(body: unknown, headers = {}): Promise<string[]> {
    const path = '/v1/products';
    const response = await call(service, { method: 'POST', path, as: 'admin', headers, body });
    expect([response.status, response.text]).toEqual([400, expect.stringContaining('"pointer"')]);
    // Boundary: the details of an error, as the contract has them.
    return (response.body.details as { pointer: string }[]).map(({ pointer }) => pointer);
  }

  test('name a member whose name needs percent-encoding', async () => {
    const body = { name: 'a', price: 1, attributes: { 'a b%': 1 } };
    expect(await pointersOf(body)).toEqual(['#/attributes/a%20b%25']);
  });

  test('lead back to any unknown member', async () => {
    const strict = { Prefer: 'handling=strict' };
    await fc.assert(
      fc.asyncProperty(name, async name => {
        const pointers = await pointersOf({ name: 'a', price: 1, [`+${name}`]: 1 }, strict);
        expect(pointers.map(namesOf)).toEqual([[`+${name}`]]);
      }),
      { numRuns: 50 },
    );
  });
});
