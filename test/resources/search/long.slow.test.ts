/** Very long texts are found and shown without a test of every word: all requests wait during that work. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { buildSnippet, createTermTest, type WordTest } from '../../../src/resources/search/snippet.ts';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const length = 98_000;
const filled = (unit: string) => unit.repeat(Math.floor(length / unit.length));

/** U+FDFA expands to four words, eighteen letters in all. */
const texts: readonly (readonly [name: string, text: string])[] = [
  ['a ligature of four words', filled('\ufdfa')],
  ['ligatures with blanks between', filled('\ufdfa ')],
  ['squared words', filled('\u3300')],
  ['Arabic', filled('السلام ')],
  ['Hangul without blanks', filled('한글')],
  ['Chinese without blanks', filled('灯具')],
  ['letters with accents', filled('é ')],
];
const manyWords = Array.from({ length: 3000 }, (_, number) => `word${number.toString(36)}z`).join(' ');
/** A letter that becomes two; the dictionary does not divide many of them. */
const lao = '\u0edc';
/**
 * Allows a pair and a single character for each of the first 15,000 characters, but not several words for every
 * character of the text.
 */
const maxLookedAt = 31_000;

describe('a snippet looks at few words of a long text', () => {
  test.each(texts)('%s', async (_, text) => {
    let lookedAt = 0;
    const test = createTermTest([{ word: 'zebra' }]);
    const counting: WordTest = Object.assign(
      (word: string) => {
        lookedAt += 1;
        return test(word);
      },
      { beginnings: test.beginnings },
    );
    const snippet = await buildSnippet({ title: 'Lamp', body: `${text} zebra`, fields: () => [] }, counting);
    // The snippet skips earlier words, except in a text without blanks or past the folded part of a text.
    const isPassed = text.includes(' ') && text.normalize('NFKD').length < 500_000;
    const isAtEnd = snippet.startsWith('…') && snippet.endsWith('<mark>zebra</mark>');
    expect(isAtEnd || (!isPassed && snippet === text.slice(0, snippet.length))).toBe(true);
    expect(lookedAt).toBeLessThan(maxLookedAt);
  });

  test.each(texts)('%s: a word at its beginning is marked', async (_, text) => {
    const body = `zebra ${text}`;
    const snippet = await buildSnippet(
      { title: 'Lamp', body, fields: () => [] },
      createTermTest([{ word: 'zebra' }]),
    );
    expect(snippet).toStartWith('<mark>zebra</mark>');
  });
});

describeOnDatabases('searches for products with long texts on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const [name, text] of texts)
      await addProduct(service, { name: `Quagga: ${name}`, description: `${text} zebra` });
    for (let number = 0; number < 25; number++)
      await addProduct(service, { name: `Okapi ${number}`, description: `${filled('<p>')} zebra` });
    await addProduct(service, { name: 'Hartebeest', description: `${filled('grass ')} zebra` });
    await addProduct(service, { name: 'Long', description: `${filled('grass ')} bongo` });
    await addProduct(service, { name: 'Short', description: `bongo ${filled('grass ')}` });
    await addProduct(service, { name: 'Lao', description: filled(lao) });
    const members = { brand: 'Kudubrand', tags: ['kudutag'], attributes: { colour: 'kudugreen' } };
    const codes = { sku: 'KUDU-774411', category: 'Kuducategory' };
    await addProduct(service, { name: 'Catalogue', description: manyWords, ...codes, ...members });
    const article = { title: 'Chronicle', body: manyWords, tags: ['elandtag'] };
    const made = await call(service, { method: 'POST', path: '/v1/articles', as: 'editor', body: article });
    expect(made.status).toBe(201);
  });
  afterAll(() => service.stop());

  const search = async (query: string) =>
    (await call(service, { path: `/v1/search?q=${query}&perPage=100`, as: 'user' })).body;

  test('each product is found by its name, and by the last word of its text', async () => {
    const found = await search('quagga');
    expect(found.meta.total).toBe(texts.length);
    for (const { snippet } of found.data) expect(snippet).toContain('<mark>Quagga</mark>');
    // Hits with both words come before hits with one.
    const both = (await search('quagga+zebra')).data.slice(0, texts.length);
    for (const { title } of both) expect(title).toStartWith('Quagga');
  });

  test('a word at the end of a long text is not missing', async () => {
    const { data, meta } = await search('hartebeest+zebra');
    expect([data[0].missing, meta.relaxed, data[0].score > 0.5]).toEqual([[], undefined, true]);
    // It counts less than at the beginning.
    const titles = (await search('bongo')).data.map(({ title }: { title: string }) => title);
    expect(titles).toEqual(['Short', 'Long']);
  });

  test.each(['kudu-774411', 'kudubrand', 'kudutag', 'kudugreen', 'kuducategory', 'elandtag'])(
    'a document with more words than are indexed is found by %s',
    async query => {
      const { data } = await search(query);
      expect(data.map((hit: { title: string; missing: string[] }) => [hit.title, hit.missing])).toEqual([
        [query.startsWith('kudu') ? 'Catalogue' : 'Chronicle', []],
      ]);
    },
  );

  test('a word of a script without spaces is cut like others', async () => {
    const { data } = await search(encodeURIComponent(lao.repeat(200)));
    expect(data.map(({ title }: { title: string }) => title)).toEqual(['Lao']);
  });

  test('a text of markup is shown without it', async () => {
    const found = await search('okapi+zebra');
    for (const { title, snippet } of found.data.slice(0, 25))
      expect([title, snippet]).toEqual([expect.stringMatching(/^Okapi/), '<mark>zebra</mark>']);
  });
});
