/** Searching: one corpus and one table of queries, with the same hits on both databases. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addProduct, pathOf } from '../support/catalog.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { hasPostgres } from '../support/postgres.ts';
import { play } from '../support/scenario.ts';
import { databaseKinds, startTestService, type TestService } from '../support/service.ts';

const corpus = [
  { name: 'Walnut desk lamp', description: 'A dimmable light with a solid foot.', sku: 'LAMP-0001' },
  { name: 'Oak shelf', description: 'Holds books, or a lamp.', category: 'storage', tags: ['wood'] },
  { name: 'Lampshade', description: 'Linen, 40 cm.' },
  { name: 'Café table', description: 'Round, for two.', tags: ['Möbel'] },
  { name: 'Coffee mug', description: 'For the cafe at home. Holds 300 ml & more <hot>.' },
  { name: 'Straßenkarte', description: 'A street map of Ærø and Łódź.' },
  { name: 'Archived clock', description: 'Ticks loudly.', status: 'archived' },
  { name: 'O’Brien’s "special" glue', description: 'Bonds NEAR anything AND everything: (almost)*' },
  { name: '東京タワー', description: 'Ein Modell, いぬ.' },
  { name: 'Копилка', description: 'Свинья из фарфора.' },
  { name: 'Ring binder', description: 'The lamps catalogue fits in.' },
  { name: 'Glass bottle', description: 'Made of glass. A glass bottle holds 500 ml.', tags: ['kitchen'] },
] as const;

/** What is asked → the names of the hits, in their order. */
const table: readonly (readonly [query: string, hits: readonly string[]])[] = [
  ['walnut', ['Walnut desk lamp']],
  // Title before body, whole words before beginnings.
  ['lamp', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['LAMP', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['lamps', ['Walnut desk lamp', 'Lampshade', 'Ring binder', 'Oak shelf']],
  ['la', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['l', []],
  // All words before some, which are added while hits are few.
  ['desk lamp', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['lamp desk', ['Walnut desk lamp', 'Oak shelf', 'Ring binder']],
  ['walnut li', ['Walnut desk lamp', 'Lampshade']],
  ['waln lamp', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  ['walnut glue', ['Walnut desk lamp', 'O’Brien’s "special" glue']],
  ['lamp lamp', ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder']],
  // The archived are not for everybody.
  ['clock', []],
  // Other fields.
  ['LAMP-0001', ['Walnut desk lamp']],
  ['storage', ['Oak shelf']],
  ['wood', ['Oak shelf']],
  // Diacritics, both ways.
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
  // One typo: a letter too few, too many, another, two swapped; in a title, in a body, in another script.
  ['walnt', ['Walnut desk lamp']],
  ['wallnut', ['Walnut desk lamp']],
  ['walmut', ['Walnut desk lamp']],
  ['wanlut', ['Walnut desk lamp']],
  ['alnut', ['Walnut desk lamp']],
  ['dimmible', ['Walnut desk lamp']],
  ['копелка', ['Копилка']],
  ['stret map', ['Straßenkarte']],
  ['walnt dekk', ['Walnut desk lamp']],
  ['lammp', ['Walnut desk lamp', 'Oak shelf']],
  // Not: two typos, short words, numbers, a word that is found.
  ['wlant', []],
  ['oka', []],
  ['301', []],
  ['0002', []],
  // Marks of punctuation and the words of query languages mean nothing.
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

const namesOf = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title);
const search = (service: TestService, query: string, more = '', as: 'user' | 'editor' | 'admin' = 'user') =>
  call(service, { path: `/v1/search?q=${encodeURIComponent(query)}${more}`, as });

async function withCorpus(kind: 'sqlite' | 'postgresql') {
  const service = await startTestService(kind);
  for (const product of corpus) await addProduct(service, product);
  return service;
}

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

  test('a hit: what it is, where it is, how good it is and why', async () => {
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

  test('tells which words were left out, of each hit and where no hit has all', async () => {
    const all = (await search(service, 'desk lamp')).body;
    expect(all.data.map(({ missing }: { missing: string[] }) => missing)).toEqual([
      [],
      ['desk'],
      ['desk'],
      ['desk'],
    ]);
    expect(all.meta).not.toHaveProperty('relaxed');
    const some = (await search(service, 'walnut lamp of plutonium')).body;
    expect(some.meta.relaxed).toEqual(['of', 'plutonium']);
    expect(some.data[0]).toMatchObject({ title: 'Walnut desk lamp', missing: ['of', 'plutonium'] });
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

  test('what is created, changed and deleted is found by what it is now', async () => {
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
    // A word that is left in no document is no correction either.
    expect(await found('baloon')).toEqual([]);
  });

  test('a refused write leaves nothing to find', async () => {
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

  test('many written at once are all found, counted, and paged through', async () => {
    const made = await Promise.all(
      Array.from({ length: 130 }, (_, index) =>
        addProduct(service, { name: `Marble ${index}`, description: index % 2 === 0 ? 'even' : 'odd' }),
      ),
    );
    const first = await search(service, 'marble', '&perPage=7');
    expect(first.body.meta).toMatchObject({ total: 130, lastPage: 19, facets: { product: 130 } });
    expect((await search(service, 'marble even')).body.meta.total).toBe(65);
    await addProduct(service, { name: 'Marbled paper', description: 'Not marble.' }).then(p => made.push(p));
    await addProduct(service, { name: 'Glass', description: 'Marble' }).then(p => made.push(p));
    // More hits than are put in order, with a deep page and cursors both ways.
    const names = made.map(({ name }) => name).filter(name => name !== 'Marbled paper');
    const pages: string[] = [];
    for (let page = 1; page <= 12; page++)
      pages.push(...namesOf((await search(service, 'marble', `&perPage=11&page=${page}`)).body));
    expect(pages.toSorted()).toEqual([...names, 'Marbled paper'].sort());
    expect(pages.slice(-2).includes('Glass')).toBe(true);
    const forwards: string[] = [];
    let answer = await search(service, 'marble', '&limit=50');
    for (;;) {
      forwards.push(...namesOf(answer.body));
      if (answer.body.meta.nextCursor === null) break;
      answer = await search(service, 'marble', `&limit=50&cursor=${answer.body.meta.nextCursor}`);
    }
    expect(forwards).toEqual(pages);
    const back = await search(service, 'marble', `&limit=50&cursor=${answer.body.meta.prevCursor}`);
    expect(namesOf(back.body)).toEqual(pages.slice(50, 100));
    const first50 = await search(service, 'marble', `&limit=50&cursor=${back.body.meta.prevCursor}`);
    expect(namesOf(first50.body)).toEqual(pages.slice(0, 50));
    const [removed, ...rest] = made;
    await call(service, { method: 'DELETE', path: `/v1/products/${removed?.id}`, as: 'editor' });
    expect((await search(service, 'marble')).body.meta.total).toBe(131);
    const remove = ({ id }: { id: number }) =>
      call(service, { method: 'DELETE', path: `/v1/products/${id}`, as: 'editor' });
    await Promise.all(rest.map(remove));
    expect((await search(service, 'marble')).body.meta.total).toBe(0);
  });

  test('pages and cursors go through all hits, each once, in one order', async () => {
    const names = ['Walnut desk lamp', 'Lampshade', 'Oak shelf', 'Ring binder'];
    for (const perPage of [1, 2, 3]) {
      const paged: string[] = [];
      for (let page = 1; page <= Math.ceil(4 / perPage); page++) {
        const { body } = await search(service, 'lamp', `&perPage=${perPage}&page=${page}`);
        expect(body.meta.total).toBe(4);
        expect(body.links.next === null).toBe(page * perPage >= 4);
        paged.push(...namesOf(body));
      }
      expect(paged).toEqual(names);
      const forwards: string[] = [];
      let answer = await search(service, 'lamp', `&limit=${perPage}`);
      for (;;) {
        forwards.push(...namesOf(answer.body));
        if (answer.body.meta.nextCursor === null) break;
        answer = await search(service, 'lamp', `&limit=${perPage}&cursor=${answer.body.meta.nextCursor}`);
      }
      expect(forwards).toEqual(names);
      const backwards: string[] = [];
      while (answer.body.meta.prevCursor !== null) {
        answer = await search(service, 'lamp', `&limit=${perPage}&cursor=${answer.body.meta.prevCursor}`);
        backwards.unshift(...namesOf(answer.body));
      }
      expect([...backwards, ...names.slice(backwards.length)]).toEqual(names);
    }
    expect((await search(service, 'lamp', '&page=9')).body).toMatchObject({ data: [], meta: { total: 4 } });
    const counted = await search(service, 'lamp', '&limit=1&count=exact');
    expect(counted.body.meta).toMatchObject({ total: 4, facets: { product: 4 } });
    const { nextCursor } = counted.body.meta;
    await play(service, {
      name: 'the cursor of another query',
      path: `/v1/search?q=lamps&cursor=${nextCursor}`,
      as: 'user',
      status: 400,
      error: 'INVALID_CURSOR',
    });
    await play(service, {
      name: 'the cursor of someone who may read more',
      path: `/v1/search?q=lamp&cursor=${nextCursor}`,
      as: 'admin',
      status: 400,
      error: 'INVALID_CURSOR',
    });
  });

  const refused: [name: string, query: string, problems: [string, string][]][] = [
    ['no q', '', [['q', 'required']]],
    ['a blank q', '?q=%20%20', [['q', 'blank']]],
    ['an empty q', '?q=', [['q', 'blank']]],
    ['201 characters', `?q=${'x'.repeat(201)}`, [['q', 'maxLength']]],
    ['U+0000', '?q=a%00', [['q', 'characters']]],
    ['a type there is none of', '?q=a&type=invoice', [['type', 'enum']]],
    [
      'page 0 and a blank q',
      '?q=&page=0',
      [
        ['q', 'blank'],
        ['page', 'minimum'],
      ],
    ],
  ];
  test.each(refused)('refuses %s', async (name, query, problems) => {
    await play(service, { name, path: `/v1/search${query}`, as: 'user', status: 400, problems });
  });

  test('200 characters of words, control characters and brackets are a query like any other', async () => {
    for (const query of [
      `${'a '.repeat(99)}ab`,
      '\u0001\u001f\u007f\u0085',
      '((((',
      '"',
      "'",
      '\\',
      '%',
      '* *',
      'a"*',
      '𝓁𝒶𝓂𝓅',
    ]) {
      expect([query, (await search(service, query)).status]).toEqual([query, 200]);
    }
    expect(namesOf((await search(service, '𝓌𝒶𝓁𝓃𝓊𝓉')).body)).toEqual(['Walnut desk lamp']);
  });

  test('everyone finds what they may read, and no more', async () => {
    const facets = async (as: 'user' | 'editor' | 'admin') =>
      (await search(service, 'test', '', as)).body.meta.facets;
    expect(Object.keys(await facets('user'))).toEqual(['product', 'article', 'post']);
    expect(Object.keys(await facets('editor'))).toEqual(['product', 'article', 'post', 'order']);
    expect(Object.keys(await facets('admin'))).toEqual(['product', 'article', 'post', 'order', 'user']);
    for (const [as, type] of [
      ['user', 'user'],
      ['user', 'order'],
      ['editor', 'user'],
    ] as const) {
      const path = `/v1/search?q=test&type=${type}`;
      await play(service, { name: `${as}, ${type}`, path, as, status: 403, error: 'FORBIDDEN' });
    }
    const none = await search(service, 'lamp', '&type=article');
    expect(none.body).toMatchObject({ data: [], meta: { total: 0, facets: { product: 4, article: 0 } } });
    expect(namesOf((await search(service, 'lamp', '&type=product')).body)).toHaveLength(4);
  });

  test('staff find orders, administrators users', async () => {
    const product = await addProduct(service, { name: 'Ordered thing' });
    const order = { items: [{ productId: product.id, quantity: 1 }] };
    const me = await call(service, { path: '/v1/me', as: 'user' });
    const orders = `/v1/users/${me.body.id}/orders`;
    const placed = await call(service, { method: 'POST', path: orders, as: 'user', body: order });
    const user = { name: 'Zoë Quill', email: 'quill@shop.example', role: 'user' };
    const made = await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body: user });
    expect([placed.status, made.status]).toEqual([201, 201]);
    const found = async (query: string, as: 'user' | 'editor' | 'admin') =>
      namesOf((await search(service, query, '', as)).body);
    expect(await found('zoe quil', 'admin')).toEqual(['Zoë Quill']);
    expect(await found('zoe quil', 'editor')).toEqual([]);
    const order1 = `Order ${placed.body.id}`;
    expect((await found(`order ${placed.body.id} ordered thing`, 'editor'))[0]).toBe(order1);
    expect(await found(`order ${placed.body.id} ordered thing`, 'user')).not.toContain(order1);
    // Whose it is, an order does not show: so nobody finds it by that.
    expect((await search(service, `order ${placed.body.id} test`, '', 'admin')).body.meta.relaxed).toEqual([
      'test',
    ]);
    const path = `/v1/users/${made.body.id}`;
    await call(service, { method: 'PATCH', path, as: 'admin', body: { name: 'Zoë Feather' } });
    expect(await found('feather', 'admin')).toEqual(['Zoë Feather']);
    expect(await found('zoe feather', 'admin')).toEqual(['Zoë Feather']);
    await call(service, { method: 'DELETE', path, as: 'admin' });
    expect(await found('feather', 'admin')).toEqual([]);
    await call(service, { method: 'DELETE', path: pathOf(product), as: 'admin' });
  });

  test('articles and posts are found by all', async () => {
    const body = { title: 'Caring for teak', body: 'Oil it twice a year.', tags: ['upkeep'] };
    const article = await call(service, { method: 'POST', path: '/v1/articles', as: 'editor', body });
    const note = { title: 'Teakwood', body: 'A note.' };
    const post = await call(service, { method: 'POST', path: '/v1/posts', as: 'editor', body: note });
    expect([article.status, post.status]).toEqual([201, 201]);
    const { body: found } = await search(service, 'teak');
    expect(found.data.map(({ type, title }: Record<string, unknown>) => [type, title])).toEqual([
      ['article', 'Caring for teak'],
      ['post', 'Teakwood'],
    ]);
    expect(found.meta.facets).toEqual({ product: 0, article: 1, post: 1 });
    expect(namesOf((await search(service, 'teak', '&type=post')).body)).toEqual(['Teakwood']);
    expect(namesOf((await search(service, 'upkeep oil')).body)).toEqual(['Caring for teak']);
    for (const path of [`/v1/articles/${article.body.id}`, `/v1/posts/${post.body.id}`])
      await call(service, { method: 'DELETE', path, as: 'admin' });
    expect(namesOf((await search(service, 'teak')).body)).toEqual([]);
  });

  test('an API key finds what its scopes let it read', async () => {
    const keyWith = async (...scopes: string[]) => {
      const body = { name: 'search', scopes };
      const { body: made } = await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body });
      return { 'X-API-Key': String(made.key) };
    };
    const ask = (headers: Record<string, string>, more = '') =>
      call(service, { path: `/v1/search?q=lamp${more}`, headers });
    expect((await ask(await keyWith('products:read'))).status).toBe(403);
    const alone = await keyWith('search:read');
    expect((await ask(alone)).body.meta).toMatchObject({ total: 0, facets: {} });
    expect((await ask(alone, '&type=product')).status).toBe(403);
    const both = await keyWith('search:read', 'products:read');
    expect((await ask(both)).body.meta).toMatchObject({ total: 4, facets: { product: 4 } });
  });

  test('replicas see each other’s changes', async () => {
    const replica = await service.replica();
    expect(namesOf((await search(replica, 'zither')).body)).toEqual([]);
    const product = await addProduct(service, { name: 'Zither' });
    expect(namesOf((await search(replica, 'zither')).body)).toEqual(['Zither']);
    expect(namesOf((await search(replica, 'ziter')).body)).toEqual(['Zither']);
    await call(replica, { method: 'DELETE', path: pathOf(product), as: 'admin' });
    expect(namesOf((await search(service, 'zither')).body)).toEqual([]);
  });
});

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
      fc.string({ unit: 'binary', maxLength: 20 }),
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
          const answers = await Promise.all(services.map(service => search(service, text)));
          const seen = answers.map(({ status, body }) => ({
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
        { numRuns: 300 },
      );
    } finally {
      for (const service of services) await service.stop();
    }
  },
  60_000,
);
