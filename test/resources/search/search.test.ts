/** Searching: one corpus and one table of queries, with the same hits on both databases. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { namesOf, search, withCorpus } from '../../support/samples/search-corpus.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import type { TestService } from '../../support/service/service.ts';

/** A query → the names of its hits, in order. */
const table: readonly (readonly [query: string, hits: readonly string[]])[] = [
  ['walnut', ['Walnut desk lamp']],
  // The title counts more than the body, whole words more than beginnings.
  ['lamp', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['LAMP', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['lamps', ['Walnut desk lamp', 'Lampshade', 'Ring binder', 'Oak shelf']],
  ['la', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['l', []],
  // All words before some; hits with some are added while there are few.
  ['desk lamp', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['lamp desk', ['Walnut desk lamp', 'Oak shelf', 'Ring binder']],
  ['walnut li', ['Walnut desk lamp', 'Lampshade']],
  ['waln lamp', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['walnut glue', ['O’Brien’s "special" glue', 'Walnut desk lamp']],
  ['lamp lamp', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  // Archived products are for staff only.
  ['clock', []],
  // Other fields.
  ['LAMP-0001', ['Walnut desk lamp']],
  ['storage', ['Oak shelf']],
  ['wood', ['Oak shelf']],
  // Diacritics, in both directions.
  ['cafe', ['Café table', 'Coffee mug']],
  ['café', ['Café table', 'Coffee mug']],
  ['cafe\u0301', ['Café table', 'Coffee mug']],
  ['CAFÉ', ['Café table', 'Coffee mug']],
  ['mobel', ['Café table']],
  ['strasse', ['Straßenkarte']],
  ['straße', ['Straßenkarte']],
  ['STRASSENKARTE', ['Straßenkarte']],
  ['aero', ['Straßenkarte']],
  ['ærø', ['Straßenkarte']],
  ['lodz', ['Straßenkarte']],
  // Other scripts.
  ['東京', ['東京タワー']],
  ['いぬ', ['東京タワー']],
  ['タワ', ['東京タワー']],
  ['копил', ['Копилка']],
  ['КОПИЛКА', ['Копилка']],
  // One typo: a letter missing, extra, wrong, or two swapped; in a title, in a body, in another script.
  ['walnt', ['Walnut desk lamp']],
  ['wallnut', ['Walnut desk lamp']],
  ['walmut', ['Walnut desk lamp']],
  ['wanlut', ['Walnut desk lamp']],
  ['alnut', ['Walnut desk lamp']],
  ['dimmible', ['Walnut desk lamp']],
  ['копелка', ['Копилка']],
  ['stret map', ['Straßenkarte']],
  ['walnt dekk', ['Walnut desk lamp']],
  ['lammp', ['Walnut desk lamp', 'Oak shelf', 'Ring binder']],
  // Two typos in a long word, at its beginning and end: letters swapped, wrong or extra.
  ['wlanutt', ['Walnut desk lamp']],
  ['wwalnot', ['Walnut desk lamp']],
  ['dmimalbe', ['Walnut desk lamp']],
  // In a short word only swapped letters count as a typo.
  ['oka', ['Oak shelf']],
  ['oek', []],
  // Not corrected: two typos in a word of five letters, numbers, words that are found.
  ['wlant', []],
  ['301', []],
  ['0002', []],
  // Punctuation and the keywords of query languages have no meaning.
  ['"special"', ['O’Brien’s "special" glue']],
  ['o’brien', ['O’Brien’s "special" glue']],
  ["o'brien", ['O’Brien’s "special" glue']],
  ['NEAR(glue anything)', ['O’Brien’s "special" glue']],
  ['and', ['Straßenkarte', 'O’Brien’s "special" glue']],
  ['glue AND everything', ['O’Brien’s "special" glue', 'Straßenkarte']],
  ['glue OR walnut', ['Walnut desk lamp', 'O’Brien’s "special" glue', 'Oak shelf']],
  ['glu*', ['O’Brien’s "special" glue']],
  ['title:glue', ['O’Brien’s "special" glue']],
  ['-glue', ['O’Brien’s "special" glue']],
  ['§glue', ['O’Brien’s "special" glue']],
  ['!!!', []],
  ['🪔', []],
  ['glass bottle', ['Glass bottle']],
];

describeOnDatabases('search on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await withCorpus(kind);
  });
  afterAll(() => service.stop());

  test.each([...table])('%j finds %j', async (query, names) => {
    const { status, body } = await search(service, query);
    expect(status).toBe(200);
    expect(namesOf(body)).toEqual([...names]);
    expect(body.meta.total).toBe(names.length);
    expect(body.meta.facets.product).toBe(names.length);
  });

  test('a hit has its type, address, score and snippet', async () => {
    const { body } = await search(service, 'lamp');
    const url = (id: number) => `${service.url}/v1/products/${id}`;
    expect(body.data[0]).toEqual({
      type: 'product',
      id: expect.any(Number),
      title: 'Walnut desk lamp',
      snippet: 'A dimmable light with a solid foot. · <mark>LAMP</mark>-0001',
      score: expect.any(Number),
      missing: [],
      url: url(body.data[0].id),
      price: expect.any(Number),
      currency: 'EUR',
      image: null,
      sku: 'LAMP-0001',
      category: null,
      status: 'active',
      rating: { average: null, count: 0 },
      available: true,
    });
    const scores: number[] = body.data.map(({ score }: { score: number }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.every(score => score > 0 && score <= 1)).toBe(true);
    expect(body.meta).toEqual({
      currentPage: 1,
      perPage: 20,
      total: 4,
      lastPage: 1,
      facets: { product: 4, article: 0, post: 0 },
    });
    const first = await call(service, { path: new URL(body.data[0].url).pathname, as: 'user' });
    expect(first.body.name).toBe('Walnut desk lamp');
    const misspelt = (await search(service, 'walnt')).body.data[0];
    expect(misspelt.score).toBeLessThan((await search(service, 'walnut')).body.data[0].score);
  });

  test('names the missing words of each hit, and the words left out where no hit has all', async () => {
    const all = (await search(service, 'desk lamp')).body;
    expect(all.data.map(({ missing }: { missing: string[] }) => missing)).toEqual([
      [],
      ['desk'],
      ['desk'],
      ['desk'],
    ]);
    expect(all.meta).not.toHaveProperty('relaxed');
    const some = (await search(service, 'walnut lamp of plutonium')).body;
    // Filler words do not count as missing.
    expect(some.meta.relaxed).toEqual(['plutonium']);
    expect(some.data[0]).toMatchObject({ title: 'Walnut desk lamp', missing: ['plutonium'] });
    expect((await search(service, 'plutonium')).body.meta).not.toHaveProperty('relaxed');
  });

  test('a snippet marks the words found and escapes all else', async () => {
    const snippets = async (query: string) =>
      (await search(service, query)).body.data.map(({ snippet }: { snippet: string }) => snippet);
    expect((await snippets('cafe home'))[0]).toEqual(
      'For the <mark>cafe</mark> at <mark>home</mark>. Holds 300 ml &amp; more &lt;hot&gt;.',
    );
    expect(await snippets('special')).toEqual(['O’Brien’s &quot;<mark>special</mark>&quot; glue']);
    expect(await snippets('lampshade')).toEqual(['<mark>Lampshade</mark>']);
    expect(await snippets('dimmible')).toEqual(['A <mark>dimmable</mark> light with a solid foot.']);
    const long = `${'before '.repeat(200)}needle<script>${' after'.repeat(200)}`;
    const product = await addProduct(service, { name: 'Haystack', description: long });
    const [snippet = ''] = await snippets('needle');
    expect(snippet).toMatch(/^…(before )+<mark>needle<\/mark> +(after )*after…$/);
    expect(snippet.length).toBeLessThan(220);
    await call(service, { method: 'DELETE', path: pathOf(product), as: 'admin' });
  });

  test('created, changed and deleted products are found by their current words', async () => {
    const found = async (query: string) => namesOf((await search(service, query)).body);
    const product = await addProduct(service, { name: 'Zeppelin', description: 'Flies.' });
    expect(await found('zeppelin')).toEqual(['Zeppelin']);
    expect(await found('zepelin')).toEqual(['Zeppelin']);
    const patch = (body: object) =>
      call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body });
    await patch({ name: 'Balloon' });
    expect(await found('zeppelin')).toEqual([]);
    expect(await found('balloon')).toEqual(['Balloon']);
    await patch({ price: 99 });
    expect(await found('balloon flies')).toEqual(['Balloon']);
    await call(service, {
      method: 'PATCH',
      path: '/v1/products',
      as: 'editor',
      body: { ids: [product.id], update: { description: 'Floats.' } },
    });
    expect(await found('flies')).toEqual([]);
    expect(await found('floats')).toEqual(['Balloon']);
    await call(service, { method: 'DELETE', path: pathOf(product), as: 'editor' });
    expect(await found('balloon')).toEqual([]);
    // A word that no document has any more is not used as a correction either.
    expect(await found('baloon')).toEqual([]);
  });

  test('a refused write adds nothing to the index', async () => {
    await play(service, {
      name: 'taken sku',
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      body: { name: 'Impostor', price: 1, sku: 'LAMP-0001' },
      status: 409,
      error: 'DUPLICATE',
    });
    expect(namesOf((await search(service, 'impostor')).body)).toEqual([]);
  });
});
