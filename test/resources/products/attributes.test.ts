/** Products by attributes: after any kind of write, lists filtered by attribute are correct. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('attributes of products on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const send = (method: string, path: string, body?: unknown, type = 'application/json') =>
    call(service, { method, path, as: 'editor', body, headers: { 'Content-Type': type } });
  const define = async (body: object) => {
    const made = await call(service, { method: 'POST', path: '/v1/attributes', as: 'admin', body });
    expect(made.status).toBe(201);
    return made.body;
  };
  async function found(query: string): Promise<number[]> {
    const { status, body, text } = await call(service, { path: `/v1/products?${query}`, as: 'user' });
    expect({ status, ...(status === 200 ? {} : { text }) }).toEqual({ status: 200 });
    const ids = body.data.map(({ id }: Product) => id);
    expect(body.meta.total).toBe(ids.length);
    return ids;
  }
  const add = async (attributes: object, fields: object = {}) =>
    (await addProduct(service, { ...fields, attributes })).id;

  test('every filter operator works on values of every type', async () => {
    const a = await add({
      'f.c': 'red',
      'f.w': 5,
      'f.o': true,
      'f.d': '2026-01-15',
      'f.m': ['oak', 'steel'],
    });
    const b = await add({
      'f.c': 'blue',
      'f.w': 12.5,
      'f.o': false,
      'f.d': '2026-02-01T10:00:00Z',
      'f.m': [],
    });
    const c = await add({ 'f.c': 'gte:red', 'f.w': '12.5', 'f.o': 'true', 'f.d': 20, 'f.m': ['oak'] });
    const d = await add({ 'f.w': 20, 'f.long': 'é'.repeat(999) });
    for (const [query, ids] of [
      ['attr.f.c=red', [a]],
      ['attr.f.c=RED', []],
      ['attr.f.c=red&attr.f.c=blue', [a, b]],
      ['attr.f.c=eq:gte:red', [c]],
      ['attr.f.c=eq:red', [a]],
      ['attr.f.w=5', [a]],
      ['attr.f.w=5.0', [a]],
      ['attr.f.w=12.5', [b, c]],
      // Another spelling of the number is another text, also where the database evaluates the filter.
      ['attr.f.w=12.50', [b]],
      ['attr.f.w=12.50&name=Lamp', [b]],
      ['attr.f.w=1.25e1&attr.f.w=05&attr.f.w=12.5&name=Lamp', [a, b, c]],
      ['attr.f.w=gte:12.5', [b, d]],
      ['attr.f.w=gt:12.5', [d]],
      ['attr.f.w=lt:12.5', [a]],
      ['attr.f.w=lte:12.5', [a, b]],
      ['attr.f.w=gte:10&attr.f.w=lt:20', [b]],
      ['attr.f.w=gte:20&attr.f.w=lt:10', []],
      ['attr.f.o=true', [a, c]],
      ['attr.f.o=false', [b]],
      ['attr.f.d=gte:2026-02-01', [b]],
      ['attr.f.d=lt:2026-02-01', [a]],
      ['attr.f.d=gte:2026-02-01T11:00:00%2B01:00', [b]],
      ['attr.f.d=gt:10', [c]],
      ['attr.f.m=oak', [a, c]],
      ['attr.f.m=steel&attr.f.c=red', [a]],
      ['attr.f.m=steel&attr.f.c=blue', []],
      ['attr.f.m=steel&attr.f.m=oak', [a, c]],
      [`attr.f.long=${encodeURIComponent('é'.repeat(999))}`, [d]],
      [`attr.f.long=${encodeURIComponent('é'.repeat(998))}`, []],
      ['attr.f.none=red', []],
      ['attr.f.c=red&status=archived', []],
      ['attr.f.m=oak&sort=price&order=desc', [c, a]],
      ['attr.f.m=oak&minPrice=10&maxPrice=13&status=active', [a, c]],
      ['attr.f.m=oak&minPrice=13', []],
    ] as const)
      expect([query, await found(query)]).toEqual([query, [...ids]]);
  });

  test('every way to write a product keeps its attributes, and cached lists stay right', async () => {
    const first = await add({ 'k.c': 'a', 'k.n': 1 });
    const second = await add({ 'k.c': ['a', 'b'] });
    const lists = () => Promise.all(['a', 'b', 'c'].map(value => found(`attr.k.c=${value}`)));
    expect(await lists()).toEqual([[first, second], [second], []]);
    await send('PATCH', pathOf({ id: first }), { attributes: { 'k.c': ['c', 'b'], 'k.n': '1' } });
    expect(await lists()).toEqual([[second], [first, second], [first]]);
    expect(await found('attr.k.n=gte:1')).toEqual([]);
    expect(await found('attr.k.n=1')).toEqual([first]);
    const merge = { attributes: { 'k.n': null, 'k.c': 'a' } };
    await send('PATCH', pathOf({ id: first }), merge, 'application/merge-patch+json');
    expect(await lists()).toEqual([[first, second], [second], []]);
    expect(await found('attr.k.n=1')).toEqual([]);
    const patch = [{ op: 'replace', path: '/attributes/k.c/0', value: 'c' }];
    await send('PATCH', pathOf({ id: second }), patch, 'application/json-patch+json');
    expect(await lists()).toEqual([[first], [second], [second]]);
    const ids = [first, second];
    await send('PATCH', '/v1/products', { ids, update: { attributes: { 'k.c': 'c' } } });
    expect(await lists()).toEqual([[], [], ids]);
    const refused = await send('PATCH', pathOf({ id: first }), { attributes: { 'k.c': 'a' }, price: -1 });
    expect([refused.status, ...(await lists())]).toEqual([400, [], [], ids]);
    await send('PUT', pathOf({ id: first }), { name: 'Lamp', price: 1 });
    expect(await lists()).toEqual([[], [], [second]]);
    await call(service, { method: 'DELETE', path: pathOf({ id: second }), as: 'editor' });
    expect(await lists()).toEqual([[], [], []]);
  });

  test('pages and cursors return all products, in every order', async () => {
    const ids: number[] = [];
    for (let index = 0; index < 7; index++)
      ids.push(
        await add({ 'p.n': index % 3 === 0 ? 5 : index }, { name: `P${9 - index}`, price: 10 - index }),
      );
    const wanted = ids.filter((_, index) => index % 3 === 0 || index > 2);
    for (const [sort, expected] of [
      ['', wanted],
      ['&order=desc', wanted.toReversed()],
      ['&sort=price', wanted.toReversed()],
      ['&sort=name', wanted.toReversed()],
      ['&sort=name&order=desc', wanted],
      ['&sort=createdAt', wanted],
    ] as const) {
      const walked: number[] = [];
      let path = `/v1/products?attr.p.n=gte:3${sort}&limit=2&count=exact`;
      for (;;) {
        const { body } = await call(service, { path, as: 'user' });
        expect(body.meta.total).toBe(wanted.length);
        walked.push(...body.data.map(({ id }: Product) => id));
        if (body.links.next === null) break;
        path = body.links.next.slice(service.url.length);
      }
      expect([sort, walked]).toEqual([sort, [...expected]]);
      const page = `/v1/products?attr.p.n=gte:3${sort}&perPage=2&page=2`;
      const { body } = await call(service, { path: page, as: 'user' });
      expect(body.data.map(({ id }: Product) => id)).toEqual(expected.slice(2, 4));
    }
    const other = '/v1/products?attr.p.n=gte:4&limit=2';
    const { body } = await call(service, { path: '/v1/products?attr.p.n=gte:3&limit=2', as: 'user' });
    await play(service, {
      name: 'a cursor of another filter',
      path: `${other}&cursor=${body.meta.nextCursor}`,
      as: 'user',
      status: 400,
      error: 'INVALID_CURSOR',
    });
  });

  test('impossible filters are refused by name', async () => {
    await define({ key: 'r.number', type: 'number' });
    await define({ key: 'r.flag', type: 'boolean' });
    await define({ key: 'r.date', type: 'date' });
    await define({ key: 'r.choice', type: 'choice', choices: ['a', 'b'] });
    await define({ key: 'r.hidden', type: 'text', filterable: false });
    for (const [query, field, rule] of [
      ['attr.x=ne:1', 'attr.x', 'operator'],
      ['attr.x=http://x', 'attr.x', 'operator'],
      ['attr.x=constructor:1', 'attr.x', 'operator'],
      ['attr.x=gte:many', 'attr.x', 'number'],
      ['attr.x=gte:', 'attr.x', 'number'],
      ['attr.x=gte:1e999', 'attr.x', 'number'],
      ['attr.x=gt:2026-02-30', 'attr.x', 'number'],
      ['attr.x=1&attr.x=lt:NaN', 'attr.x', 'number'],
      ['attr.r.number=red', 'attr.r.number', 'number'],
      ['attr.r.number=gte:2026-01-01', 'attr.r.number', 'number'],
      ['attr.r.flag=yes', 'attr.r.flag', 'boolean'],
      ['attr.r.flag=gt:1', 'attr.r.flag', 'operator'],
      ['attr.r.date=soon', 'attr.r.date', 'date'],
      ['attr.r.date=gt:5', 'attr.r.date', 'date'],
      ['attr.r.choice=gt:5', 'attr.r.choice', 'operator'],
      ['attr.r.hidden=x', 'attr.r.hidden', 'filterable'],
      ['attr.Colour=red', 'attr.Colour', 'pattern'],
      ['attr.=red', 'attr.', 'pattern'],
      [`attr.x=${'a'.repeat(1101)}`, 'attr.x', 'maxLength'],
      ['attr.x=%00', 'attr.x', 'characters'],
      [Array.from({ length: 21 }, (_, index) => `attr.k${index}=1`).join('&'), 'attr.k20', 'maxProperties'],
      [Array.from({ length: 101 }, (_, index) => `attr.k=${index}`).join('&'), 'attr.k', 'maxItems'],
      [
        Array.from({ length: 51 }, (_, index) => `attr.k=${index}&attr.l=${index}`).join('&'),
        'attr.l',
        'maxItems',
      ],
    ] as const) {
      const path = `/v1/products?${query}`;
      await play(service, { name: query, path, as: 'user', status: 400, problems: [[field, rule]] });
    }
    // Strict handling accepts a filter by an attribute that some product has.
    await addProduct(service, { name: 'Known', attributes: { q: 1 } });
    const headers = { Prefer: 'handling=strict' };
    const strict = await call(service, { path: '/v1/products?attr.q=1', as: 'user', headers });
    expect(strict.status).toBe(200);
  });

  test('products are checked against definitions, and keep attributes from before a definition', async () => {
    const early = await add({ 'd.watt': 'many' }, { category: 'checked > deep' });
    await define({ key: 'd.watt', type: 'number', unit: 'W' });
    await define({ key: 'd.led', type: 'boolean' });
    await define({ key: 'd.since', type: 'date' });
    await define({ key: 'd.size', type: 'choice', choices: ['S', 'M'] });
    await define({ key: 'd.text', type: 'text' });
    const required = await define({ key: 'd.code', type: 'text', requiredIn: ['checked'] });
    const post = { method: 'POST', path: '/v1/products', as: 'editor' } as const;
    const base = { name: 'Lamp', price: 1 };
    for (const [attributes, problems] of [
      [{ 'd.watt': '5' }, [['attributes.d.watt', 'type']]],
      [
        { 'd.watt': ['5'], 'd.led': 1 },
        [
          ['attributes.d.watt', 'type'],
          ['attributes.d.led', 'type'],
        ],
      ],
      [{ 'd.since': 'yesterday' }, [['attributes.d.since', 'format']]],
      [{ 'd.since': '2026-02-30' }, [['attributes.d.since', 'format']]],
      [{ 'd.size': 'L' }, [['attributes.d.size', 'enum']]],
      [{ 'd.size': ['S', 'L'] }, [['attributes.d.size', 'enum']]],
      [{ 'd.text': 5 }, [['attributes.d.text', 'type']]],
    ] as const)
      await play(service, { ...post, name: '', body: { ...base, attributes }, status: 400, problems });
    const missing = [['attributes.d.code', 'required']] as const;
    const within = { ...base, category: 'checked > deep' };
    await play(service, { ...post, name: '', body: within, status: 400, problems: missing });
    for (const empty of ['', ' ', [], ['']]) {
      const body = { ...within, attributes: { 'd.code': empty } };
      await play(service, { ...post, name: 'empty', body, status: 400, problems: missing });
    }
    const further = { ...base, category: 'elsewhere', categories: ['other', 'checked > deep'] };
    await play(service, { ...post, name: '', body: further, status: 400, problems: missing });
    const listedIn = await add({}, { category: 'elsewhere' });
    const move = { method: 'PATCH', path: pathOf({ id: listedIn }), as: 'editor' } as const;
    const joined = { categories: ['checked'] };
    await play(service, { ...move, name: '', body: joined, status: 400, problems: missing });
    expect((await send('PATCH', move.path, { ...joined, attributes: { 'd.code': 'x' } })).status).toBe(200);
    const fitting = {
      'd.watt': 5,
      'd.led': true,
      'd.since': '2026-01-31',
      'd.size': ['S', 'M'],
      'd.code': 'x',
    };
    const late = await add(fitting, { category: 'checked' });
    const outside = await add({ 'd.size': 'M' }, { category: 'checkedness' });
    // Values from before the definition stay until they are written.
    const path = pathOf({ id: early });
    expect((await send('PATCH', path, { price: 2 })).status).toBe(200);
    expect((await send('PATCH', path, { attributes: { 'd.watt': 'many', 'd.led': true } })).status).toBe(200);
    for (const [target, body, field] of [
      [path, { attributes: { 'd.watt': 'more' } }, 'attributes.d.watt'],
      [pathOf({ id: late }), { attributes: { 'd.watt': 5 } }, 'attributes.d.code'],
      [pathOf({ id: outside }), { category: 'checked' }, 'attributes.d.code'],
    ] as const) {
      const response = await send('PATCH', target, body);
      expect([
        response.status,
        response.body.details?.map((detail: { field: string }) => detail.field),
      ]).toEqual([400, [field]]);
    }
    const ids = [early, outside];
    const bulk = await send('PATCH', '/v1/products', { ids, update: { attributes: { 'd.watt': 'x' } } });
    expect([bulk.status, bulk.body.details[0].field]).toEqual([400, 'update.attributes.d.watt']);
    // Once no attribute is required, all of them can be removed.
    await call(service, { method: 'DELETE', path: `/v1/attributes/${required.id}`, as: 'admin' });
    expect((await send('PATCH', pathOf({ id: late }), { attributes: {} })).status).toBe(200);
  });

  test('names with a meaning elsewhere are ordinary attribute names', async () => {
    const attributes = { key: 'C', token: 'x', password: 'y', constructor: 'z', secret: 1 };
    const id = await add(attributes);
    expect((await call(service, { path: pathOf({ id }), as: 'user' })).body.attributes).toEqual(attributes);
    expect(await found('attr.constructor=z')).toEqual([id]);
  });
});
