/** Both databases find the same. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { corpus, search, withCorpus } from '../../support/samples/search-corpus.ts';
import { anyTextOf } from '../../support/samples/texts.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { databaseKinds } from '../../support/service/service.ts';
import { countDraws } from '../share.ts';

test.skipIf(!hasPostgres)(
  'any query finds the same on both databases',
  async () => {
    const services = await Promise.all(databaseKinds.map(withCorpus));
    const words = corpus.flatMap(({ name, description }) => `${name} ${description}`.split(' '));
    const typo = fc
      .tuple(fc.constantFrom(...words), fc.nat(12), fc.string({ unit: 'grapheme', maxLength: 1 }))
      .map(([word, at, letter]) => word.slice(0, at) + letter + word.slice(at + 1));
    const piece = fc.oneof(
      fc.constantFrom(...words),
      fc.constantFrom(...words).map(word => word.slice(0, 3)),
      typo,
      anyTextOf({ maxLength: 20 }),
      fc.constantFrom(
        '"',
        '*',
        'NEAR',
        'AND',
        'NOT',
        '(',
        ')',
        ':',
        '-',
        '^',
        '\\',
        "'",
        '&',
        '|',
        '!',
        '§',
        '\u0000',
      ),
    );
    const query = fc
      .array(piece, { minLength: 1, maxLength: 5 })
      .chain(pieces => fc.constantFrom(' ', '').map(between => pieces.join(between)));
    try {
      await fc.assert(
        fc.asyncProperty(query, async text => {
          const responses = await Promise.all(services.map(service => search(service, text)));
          const seen = responses.map(({ status, body }) => ({
            status,
            hits: (body.data as Record<string, unknown>[] | undefined)?.map(hit => [
              hit.id,
              hit.score,
              hit.snippet,
            ]),
            total: body.meta?.total,
          }));
          expect(seen[0]?.status).toBe(text.includes('\u0000') || text.trim() === '' ? 400 : 200);
          expect(seen[1]).toEqual(seen[0]);
        }),
        { numRuns: countDraws(80) },
      );
    } finally {
      for (const service of services) await service.stop();
    }
  },
  60_000,
);
