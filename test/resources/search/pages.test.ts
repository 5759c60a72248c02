/** Pages of hits, however many there are, and queries that are refused. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { namesOf, search, withCorpus } from '../../support/samples/search-corpus.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import type { TestService } from '../../support/service/service.ts';

describeOnDatabases('search on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await withCorpus(kind);
  });
  afterAll(() => service.stop());

  test('many products created at once are all found, counted and paged through', async () => {
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
    // More hits than are sorted, with a deep page and cursors in both directions.
    const names = made.map(({ name }) => name).filter(name => name !== 'Marbled paper');
    const pages: string[] = [];
    for (let page = 1; page <= 12; page++)
      pages.push(...namesOf((await search(service, 'marble', `&perPage=11&page=${page}`)).body));
    expect(pages.toSorted()).toEqual([...names, 'Marbled paper'].sort());
    expect(pages.slice(-2).includes('Glass')).toBe(true);
    const forwards: string[] = [];
    let response = await search(service, 'marble', '&limit=50');
    for (;;) {
      forwards.push(...namesOf(response.body));
      if (response.body.meta.nextCursor === null) break;
      response = await search(service, 'marble', `&limit=50&cursor=${response.body.meta.nextCursor}`);
    }
    expect(forwards).toEqual(pages);
    const back = await search(service, 'marble', `&limit=50&cursor=${response.body.meta.prevCursor}`);
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

  test('pages of different sizes agree where few hits have all words and more have some', async () => {
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        addProduct(service, {
          name: index % 7 === 0 ? `Porcelain ${index} teapot` : `Porcelain cup for a dinner ${index}`,
          description: index % 7 === 1 ? 'With a teapot.' : 'No pot.',
        }),
      ),
    );
    const query = 'porcelain teapot';
    const { body } = await search(service, query, '&perPage=50');
    expect(body.meta.total).toBe(50);
    const whole = namesOf(body);
    expect(new Set(whole).size).toBe(50);
    const pages: string[] = [];
    for (let page = 1; page <= 5; page++)
      pages.push(...namesOf((await search(service, query, `&perPage=10&page=${page}`)).body));
    expect(pages).toEqual(whole);
    let response = await search(service, query, '&limit=15');
    const followed = namesOf(response.body);
    while (response.body.meta.nextCursor !== null) {
      response = await search(service, query, `&limit=15&cursor=${response.body.meta.nextCursor}`);
      followed.push(...namesOf(response.body));
    }
    expect(followed).toEqual(whole);
    for (const { id } of made)
      await call(service, { method: 'DELETE', path: `/v1/products/${id}`, as: 'editor' });
  });

  test('cursors return every hit once where hits with a common word are better than those with a rare one', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        addProduct(service, { name: `Cupboard ${index}`, description: 'Of basalt.' }),
      ),
    );
    // The later ones have shorter names, and so are better hits.
    for (let words = 20; words > 0; words--)
      for (const text of ['a', 'b'])
        made.push(
          await addProduct(service, { name: `Ewer${` ${text}`.repeat(words)}`, description: 'New.' }),
        );
    const query = 'basalt ewer';
    const whole = namesOf((await search(service, query, '&perPage=100')).body);
    expect(whole).toHaveLength(made.length);
    let { body } = await search(service, query, '&limit=4');
    const pages = [namesOf(body)];
    while (body.meta.nextCursor !== null) {
      body = (await search(service, query, `&limit=4&cursor=${body.meta.nextCursor}`)).body;
      pages.push(namesOf(body));
    }
    expect(pages.flat()).toEqual(whole);
    const back: string[][] = [];
    while (body.meta.prevCursor !== null) {
      body = (await search(service, query, `&limit=4&cursor=${body.meta.prevCursor}`)).body;
      back.unshift(namesOf(body));
    }
    expect(back).toEqual(pages.slice(0, -1));
    for (const { id } of made)
      await call(service, { method: 'DELETE', path: `/v1/products/${id}`, as: 'editor' });
  });

  test('pages and cursors return every hit once, in the same order', async () => {
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
      let response = await search(service, 'lamp', `&limit=${perPage}`);
      for (;;) {
        forwards.push(...namesOf(response.body));
        if (response.body.meta.nextCursor === null) break;
        response = await search(service, 'lamp', `&limit=${perPage}&cursor=${response.body.meta.nextCursor}`);
      }
      expect(forwards).toEqual(names);
      const backwards: string[] = [];
      while (response.body.meta.prevCursor !== null) {
        response = await search(service, 'lamp', `&limit=${perPage}&cursor=${response.body.meta.prevCursor}`);
        backwards.unshift(...namesOf(response.body));
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
});
