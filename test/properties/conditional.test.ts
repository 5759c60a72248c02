/** Conditional requests against a small model of RFC 9110 §13.2.2, written from its text. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { evaluate, matchesEntityTag } from '../../src/http/cache/conditional.ts';
import { HttpError } from '../../src/http/errors.ts';

const current = 'abc';
const moment = Date.UTC(2026, 0, 15, 9, 30);

interface Tag {
  readonly weak: boolean;
  readonly opaque: string;
}
type Tags = '*' | readonly Tag[];

const tag: fc.Arbitrary<Tag> = fc.record({
  weak: fc.boolean(),
  // Commas and spaces are letters like others inside the quotes of a tag, but for the space.
  opaque: fc.oneof(
    fc.constantFrom(current, 'x', '', 'abcd', 'ab', 'a,b', 'W/', '*'),
    fc.stringMatching(/^[!#-~]{0,4}$/),
  ),
});
const tags: fc.Arbitrary<Tags> = fc.oneof(
  fc.constant('*' as const),
  fc.array(tag, { minLength: 1, maxLength: 4 }),
);
const date = fc.integer({ min: -2, max: 2 }).map(seconds => moment + seconds * 1000);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const request = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'),
  ifMatch: optional(tags),
  ifNoneMatch: optional(tags),
  ifUnmodifiedSince: optional(date),
  ifModifiedSince: optional(date),
  lastModified: optional(fc.integer({ min: 0, max: 999 }).map(milliseconds => moment + milliseconds)),
  separator: fc.constantFrom(',', ', ', ' ,\t'),
});

const textOf = (list: Tags, separator: string) =>
  list === '*' ? '*' : list.map(({ weak, opaque }) => `${weak ? 'W/' : ''}"${opaque}"`).join(separator);

/** Step by step as the RFC has it. */
function model({
  method,
  ifMatch,
  ifNoneMatch,
  ifUnmodifiedSince,
  ifModifiedSince,
  lastModified,
}: typeof request extends fc.Arbitrary<infer T> ? T : never): 200 | 304 | 412 {
  // The end of the second of the change: what was read in it, before the change, has an earlier date.
  const changed = lastModified === undefined ? undefined : Math.floor(lastModified / 1000) * 1000 + 1000;
  const reading = method === 'GET' || method === 'HEAD';
  if (ifMatch !== undefined) {
    const holds = ifMatch === '*' || ifMatch.some(({ weak, opaque }) => !weak && opaque === current);
    if (!holds) return 412;
  } else if (ifUnmodifiedSince !== undefined) {
    // Stricter than the RFC: what would change something is not done where there is no date to compare with.
    if (changed === undefined ? !reading : changed > ifUnmodifiedSince) return 412;
  }
  if (ifNoneMatch !== undefined) {
    const found = ifNoneMatch === '*' || ifNoneMatch.some(({ opaque }) => opaque === current);
    if (!found) return 200;
    return reading ? 304 : 412;
  }
  if (reading && ifModifiedSince !== undefined && changed !== undefined && changed <= ifModifiedSince)
    return 304;
  return 200;
}

describe('conditional requests', () => {
  test('every combination is answered as RFC 9110 requires, and more strictly without a date', () => {
    const property = fc.property(request, sent => {
      const headers = new Headers();
      if (sent.ifMatch !== undefined) headers.set('If-Match', textOf(sent.ifMatch, sent.separator));
      if (sent.ifNoneMatch !== undefined)
        headers.set('If-None-Match', textOf(sent.ifNoneMatch, sent.separator));
      if (sent.ifUnmodifiedSince !== undefined)
        headers.set('If-Unmodified-Since', new Date(sent.ifUnmodifiedSince).toUTCString());
      if (sent.ifModifiedSince !== undefined)
        headers.set('If-Modified-Since', new Date(sent.ifModifiedSince).toUTCString());
      const validators = { etag: `"${current}"`, lastModified: sent.lastModified };
      expect(outcome(() => evaluate(headers, sent.method, validators, () => moment))).toBe(model(sent));
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test('only the coding suffix of an entity tag is ignored, and only where any coding matches', () => {
    const suffix = fc.constantFrom('', '-br', '-zstd', '-gzip', '-deflate', '-x', '-', '-gzip-x', '-GZIP');
    const property = fc.property(suffix, fc.boolean(), (end, weak) => {
      const header = `${weak ? 'W/' : ''}"${current}${end}"`;
      const names = ['', '-br', '-zstd', '-gzip', '-deflate'].includes(end);
      const etag = `"${current}"`;
      expect(matchesEntityTag(header, etag, 'weak', 'any')).toBe(names);
      expect(matchesEntityTag(header, etag, 'strong', 'any')).toBe(names && !weak);
      expect(matchesEntityTag(header, etag, 'weak', 'this')).toBe(end === '');
      expect(matchesEntityTag(header, etag, 'strong', 'this')).toBe(end === '' && !weak);
    });
    fc.assert(property);
  });

  test('a date in the form without a zone is in GMT, wherever the service runs', () => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      expect(new Date(moment).getHours()).not.toBe(new Date(moment).getUTCHours());
      const headers = new Headers({ 'If-Modified-Since': 'Thu Jan 15 09:30:00 2026' });
      const validators = { etag: `"${current}"`, lastModified: moment - 1 };
      expect(evaluate(headers, 'GET', validators, () => moment)).toBe(true);
      expect(evaluate(headers, 'GET', { ...validators, lastModified: moment }, () => moment)).toBe(false);
    } finally {
      process.env.TZ = zone ?? 'UTC';
    }
  });

  test('any text of the headers results in 200, 304 or 412', () => {
    const header = fc.stringMatching(/^[ -~]{0,40}$/);
    const property = fc.property(header, header, fc.constantFrom('GET', 'PUT'), (match, since, method) => {
      const headers = new Headers({
        'If-None-Match': match,
        'If-Unmodified-Since': since,
        'If-Modified-Since': since,
      });
      const validators = { etag: `"${current}"`, lastModified: moment };
      expect([200, 304, 412]).toContain(outcome(() => evaluate(headers, method, validators, () => moment)));
    });
    fc.assert(property, { numRuns: 1000 });
  });
});

function outcome(evaluation: () => boolean): number {
  try {
    return evaluation() ? 304 : 200;
  } catch (error) {
    if (error instanceof HttpError) return error.status;
    throw error;
  }
}
