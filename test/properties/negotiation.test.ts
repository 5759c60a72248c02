/** Negotiation against a small model of RFC 9110 §12.4.2, §12.5.1 and §12.5.3, written from its text. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { codings, createNegotiate } from '../../src/http/negotiate.ts';

const weight = fc.constantFrom(undefined, 0, 0.001, 0.3, 0.5, 1);
const written = (name: string, q: number | undefined) => (q === undefined ? name : `${name};q=${q}`);
const separator = fc.constantFrom(',', ', ', ' , ');

const offered = ['application/json', 'application/vnd.catalog.v1+json'];
const ranges = fc.uniqueArray(
  fc.record({
    range: fc.constantFrom('*/*', 'application/*', 'text/*', ...offered, 'text/html', 'application/xml'),
    q: weight,
  }),
  { minLength: 1, maxLength: 5, selector: ({ range }) => range },
);

/** The weight of a type is that of the most specific range that covers it. */
function typeWeight(type: string, accept: readonly { range: string; q: number | undefined }[]): number {
  for (const range of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const found = accept.find(one => one.range === range);
    if (found !== undefined) return found.q ?? 1;
  }
  return 0;
}

describe('negotiation', () => {
  test('the media type with the highest weight is chosen, and never a refused one', () => {
    const property = fc.property(ranges, separator, (accept, comma) => {
      const header = accept.map(({ range, q }) => written(range, q)).join(comma);
      const mediaType = createNegotiate().mediaType(header, offered);
      const weights = offered.map(type => typeWeight(type, accept));
      const best = Math.max(...weights);
      if (best === 0) return expect(mediaType).toBeUndefined();
      expect(offered).toContain(String(mediaType));
      expect(typeWeight(String(mediaType), accept)).toBe(best);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  const encodings = fc.uniqueArray(
    fc.record({ name: fc.constantFrom('*', 'identity', ...codings, 'compress'), q: weight }),
    { maxLength: 6, selector: ({ name }) => name },
  );

  test('the coding with the highest weight is chosen, and the better one of equal weights', () => {
    const property = fc.property(encodings, separator, (accept, comma) => {
      const header = accept.map(({ name, q }) => written(name, q)).join(comma);
      const weightOf = (name: string) =>
        accept.find(one => one.name === name)?.q ?? (accept.some(one => one.name === name) ? 1 : undefined);
      const star = weightOf('*');
      const allowed = codings
        .map(name => ({ name, q: weightOf(name) ?? star ?? 0 }))
        .filter(({ q }) => q > 0);
      const best = Math.max(0, ...allowed.map(({ q }) => q));
      const identity = weightOf('identity') ?? star;
      const chosen = createNegotiate().coding(header);
      // To send a body as it is is always allowed unless it is refused; requested, by name or by *, it may win.
      if (best === 0) return expect(chosen ?? undefined).toBeUndefined();
      if (identity !== undefined && identity > best) return expect(chosen).toBeUndefined();
      if (identity === best)
        return expect([undefined, ...allowed.map(({ name }) => name)]).toContain(chosen ?? undefined);
      expect(chosen).toBe(allowed.find(({ q }) => q === best)?.name);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test('the same header gets the same response, cached or not, whatever its text', () => {
    const property = fc.property(fc.stringMatching(/^[ -~]{0,60}$/), text => {
      const negotiate = createNegotiate();
      expect(negotiate.mediaType(text, offered)).toEqual(negotiate.mediaType(text, offered));
      expect(negotiate.coding(text)).toEqual(negotiate.coding(text));
      expect([...codings, undefined, null]).toContain(negotiate.coding(text));
    });
    fc.assert(property, { numRuns: 2000 });
  });
});
