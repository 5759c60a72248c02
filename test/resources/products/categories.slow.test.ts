/** The categories of products: named by paths, created on first use, listed with all below, renamed in one go. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const fresh = () => crypto.randomUUID().slice(0, 8);

interface Category {
  readonly id: number;
  readonly path: string;
  readonly productCount: number;
}

describeOnDatabases('categories of products on %s', kind => {
  let service: TestService;
  let replica: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    replica = await service.replica();
  });
  afterAll(() => service.stop());

  const get = async (path: string, from = service) => (await call(from, { path, as: 'editor' })).body;
  const list = (query: Record<string, string>, from = service) =>
    get(`/v1/products?${new URLSearchParams(query)}`, from);
  const namesIn = async (category: string, from = service): Promise<string[]> =>
    (await list({ category, perPage: '100' }, from)).data.map(({ name }: Product) => name);
  const categoryAt = async (path: string): Promise<Category> =>
    (await get(`/v1/categories?${new URLSearchParams({ path })}`)).data[0];
  const change = (product: Pick<Product, 'id'>, body: object) =>
    call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body });
  const rename = async (path: string, body: object) => {
    const { id } = await categoryAt(path);
    const response = await call(service, {
      method: 'PATCH',
      path: `/v1/categories/${id}`,
      as: 'editor',
      body,
    });
    expect({ status: response.status, path }).toEqual({ status: 200, path });
    return response.body as Category;
  };

  test('a category that a product names is created with its ancestors, with events', async () => {
    const root = fresh();
    const product = await addProduct(service, { category: `${root} > A >  B`, categories: [`${root} > C`] });
    expect(product).toMatchObject({ category: `${root} > A > B`, categories: [`${root} > C`] });
    expect(await get(pathOf(product))).toEqual(product);
    for (const path of [root, `${root} > A`, `${root} > A > B`, `${root} > C`]) {
      const { id } = await categoryAt(path);
      const events = await call(service, {
        path: `/v1/events?resource=category&resourceId=${id}`,
        as: 'admin',
      });
      expect(events.body.data).toMatchObject([{ type: 'category.created', after: { path } }]);
    }
  });

  test('concurrent products with the same new category create it once', async () => {
    const root = fresh();
    const body = { name: 'Lamp', price: 1, category: `${root} > A > B`, categories: [`${root} > C`, root] };
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        call([service, replica][index % 2] ?? service, {
          method: 'POST',
          path: '/v1/products',
          as: 'admin',
          body,
        }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(new Array(12).fill(201));
    expect((await categoryAt(root)).productCount).toBe(12);
    const found = await get(`/v1/categories?parentId=${(await categoryAt(root)).id}`);
    expect(found.data.map(({ path }: Category) => path).sort()).toEqual([`${root} > A`, `${root} > C`]);
  });

  const refused: readonly [string, object, string, string][] = [
    ['a blank name', { category: 'A >  > B' }, 'category', 'blank'],
    ['a separator at its end', { category: 'A > B >' }, 'category', 'separator'],
    ['eleven levels', { category: '1 > 2 > 3 > 4 > 5 > 6 > 7 > 8 > 9 > 10 > 11' }, 'category', 'levels'],
    ['a name of 101 characters', { category: `A > ${'x'.repeat(101)}` }, 'category', 'maxLength'],
    ['a number', { category: 7 }, 'category', 'type'],
    ['a further one that is blank', { categories: ['A', ' '] }, 'categories.1', 'blank'],
    [
      '21 further ones',
      { categories: Array.from({ length: 21 }, (_, n) => `${n}`) },
      'categories',
      'maxItems',
    ],
  ];
  test.each(refused)('a category with %s is refused', async (name, fields, field, rule) => {
    const body = { name: 'Lamp', price: 1, ...fields };
    const problems = [[field, rule]] as const;
    const request = { method: 'POST', path: '/v1/products', as: 'admin' } as const;
    await play(service, { ...request, name, body, status: 400, problems });
  });

  test('a product moves between categories with PATCH, and each list and count follows at once, on every replica', async () => {
    const root = fresh();
    const product = await addProduct(service, { name: 'P', category: `${root} > A` });
    await addProduct(service, { name: 'Q', category: `${root} > B > C`, categories: [`${root} > A`] });
    const state = async () => {
      const paths = [root, `${root} > A`, `${root} > B`, `${root} > B > C`];
      const found: Record<string, unknown> = {};
      for (const path of paths) {
        const names = await namesIn(path);
        expect(await namesIn(path, replica)).toEqual(names);
        expect((await categoryAt(path))?.productCount ?? 0).toBe(names.length);
        expect((await list({ category: path, limit: '1', count: 'exact' })).meta.total).toBe(names.length);
        found[path.slice(root.length)] = names.join('');
      }
      return found;
    };
    expect(await state()).toEqual({ '': 'PQ', ' > A': 'PQ', ' > B': 'Q', ' > B > C': 'Q' });
    await change(product, { category: `${root} > B` });
    expect(await state()).toEqual({ '': 'PQ', ' > A': 'Q', ' > B': 'PQ', ' > B > C': 'Q' });
    await change(product, { categories: [`${root} > B`, `${root} > A`, `${root} > A`] });
    expect((await get(pathOf(product))).categories).toEqual([`${root} > A`]);
    expect(await state()).toEqual({ '': 'PQ', ' > A': 'PQ', ' > B': 'PQ', ' > B > C': 'Q' });
    await change(product, { category: null, categories: [] });
    expect(await state()).toEqual({ '': 'Q', ' > A': 'Q', ' > B': 'Q', ' > B > C': 'Q' });
    await call(service, { method: 'DELETE', path: pathOf(product), as: 'admin' });
    expect(await state()).toEqual({ '': 'Q', ' > A': 'Q', ' > B': 'Q', ' > B > C': 'Q' });
  });

  test('a category with products cannot be deleted, whether it is their main category or an additional one', async () => {
    const root = fresh();
    const product = await addProduct(service, { category: `${root} A`, categories: [`${root} B`] });
    for (const path of [`${root} A`, `${root} B`]) {
      const { id } = await categoryAt(path);
      const request = { method: 'DELETE', path: `/v1/categories/${id}`, as: 'editor' } as const;
      const response = await play(service, {
        ...request,
        name: path,
        status: 409,
        error: 'CATEGORY_NOT_EMPTY',
      });
      expect(response.body.details).toMatchObject([{ field: 'products', code: 'empty' }]);
      expect(response.body.message).toContain('1 product');
    }
    await change(product, { category: null, categories: [] });
    const { id } = await categoryAt(`${root} A`);
    expect(
      (await call(service, { method: 'DELETE', path: `/v1/categories/${id}`, as: 'editor' })).status,
    ).toBe(204);
  });

  test('a rename shows in products at once: bodies, ETags, dates, lists and search; events keep the former path', async () => {
    const root = fresh();
    const product = await addProduct(service, {
      name: `Renamed ${root}`,
      category: `${root} > Old ä > Lamps`,
    });
    const other = await addProduct(service, { category: 'Elsewhere', categories: [`${root} > Old ä`] });
    const path = pathOf(product);
    service.clock.advance(5000);
    const before = await call(service, { path, as: 'user' });
    const readers = [service, replica];
    for (const reader of readers) expect(await namesIn(`${root} > Old ä`, reader)).toHaveLength(2);
    await rename(`${root} > Old ä`, { name: 'New "ö"' });
    service.clock.advance(5000);
    const now = `${root} > New "ö" > Lamps`;
    for (const reader of readers) {
      expect((await get(path, reader)).category).toBe(now);
      expect((await get(pathOf(other), reader)).categories).toEqual([`${root} > New "ö"`]);
      expect(await namesIn(`${root} > Old ä`, reader)).toEqual([]);
      expect(await namesIn(`${root} > New "ö"`, reader)).toHaveLength(2);
      const conditional = async (headers: Record<string, string>) =>
        (await call(reader, { path, as: 'user', headers })).status;
      expect(await conditional({ 'If-None-Match': before.headers.get('ETag') ?? '' })).toBe(200);
      expect(await conditional({ 'If-Modified-Since': before.headers.get('Last-Modified') ?? '' })).toBe(200);
    }
    const shown = await call(service, { path, as: 'user' });
    expect(Date.parse(shown.headers.get('Last-Modified') ?? '')).toBeGreaterThan(
      Date.parse(before.headers.get('Last-Modified') ?? ''),
    );
    expect(shown.body).toEqual({ ...product, category: now });
    const stale = { 'If-Match': before.headers.get('ETag') ?? '' };
    const request = { method: 'PATCH', path, as: 'editor', body: { price: 2 } } as const;
    await play(service, { ...request, name: 'stale', headers: stale, status: 412 });
    await change(product, { price: 2 });
    const events = await call(service, {
      path: `/v1/events?resource=product&resourceId=${product.id}`,
      as: 'admin',
    });
    const categories = events.body.data.map(
      ({ before, after }: { before: Product | null; after: Product | null }) => [
        before?.category,
        after?.category,
      ],
    );
    expect(categories).toEqual([
      [undefined, `${root} > Old ä > Lamps`],
      [now, now],
    ]);
  });

  test('after a rename, products are found by the words of the new path, and no longer by those of the old one', async () => {
    const [root, old, next] = [fresh(), `formerword${fresh()}`, `latterword${fresh()}`];
    for (let index = 0; index < 40; index++)
      await addProduct(service, {
        name: `Item ${index}`,
        category: index % 3 === 0 ? `${root} > ${old}` : `${root} > ${old} > ${index % 3}`,
      });
    await addProduct(service, { name: 'Besides', category: 'Elsewhere', categories: [`${root} > ${old}`] });
    const found = async (q: string) => (await get(`/v1/search?q=${q}&type=product&perPage=1`)).meta.total;
    expect(await found(old)).toBe(41);
    await rename(`${root} > ${old}`, { name: next });
    await service.settle();
    expect([await found(next), await found(old)]).toEqual([41, 0]);
  });

  test('requiredIn of an attribute follows a renamed category', async () => {
    const root = fresh();
    await addProduct(service, { category: `${root} > A > B` });
    const definition = { key: `watt_${root}`, type: 'number', requiredIn: [`${root} > A`] };
    const post = { method: 'POST', path: '/v1/attributes', as: 'admin', body: definition } as const;
    const made = await call(service, post);
    expect(made.status).toBe(201);
    await rename(`${root} > A`, { name: 'Renamed' });
    const found = await call(service, { path: `/v1/attributes/${made.body.id}`, as: 'admin' });
    expect(found.body.requiredIn).toEqual([`${root} > Renamed`]);
    const body = { name: 'Lamp', price: 1, category: `${root} > Renamed > B` };
    const refusal = await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body });
    expect([refusal.status, refusal.body.details[0].field]).toEqual([400, `attributes.watt_${root}`]);
  });

  test('requiredIn names no path twice, even if a category is renamed to a path that it already names', async () => {
    const root = fresh();
    await addProduct(service, { category: `${root} > A` });
    const definition = { key: `watt_${root}`, type: 'number', requiredIn: [`${root} > A`, `${root} > Gone`] };
    const made = await call(service, {
      method: 'POST',
      path: '/v1/attributes',
      as: 'admin',
      body: definition,
    });
    await rename(`${root} > A`, { name: 'Gone' });
    const path = `/v1/attributes/${made.body.id}`;
    const found = await call(service, { path, as: 'admin' });
    expect(found.body.requiredIn).toEqual([`${root} > Gone`]);
    expect((await call(service, { method: 'PUT', path, as: 'admin', body: found.body })).status).toBe(200);
  });

  test('further categories in another order are shown in it, also after one of them is renamed', async () => {
    const root = fresh();
    const [one, two] = [`${root} > One`, `${root} > Two`];
    const { id } = await addProduct(service, { category: root, categories: [one, two] });
    const path = `/v1/products/${id}`;
    const body = { categories: [two, one] };
    const changed = await call(service, { method: 'PATCH', path, as: 'admin', body });
    expect(changed.body.categories).toEqual([two, one]);
    await rename(one, { name: 'Third' });
    expect((await get(path)).categories).toEqual([two, `${root} > Third`]);
  });

  test('moving a category moves its products', async () => {
    const root = fresh();
    await addProduct(service, { name: 'P', category: `${root} > A > B` });
    await addProduct(service, { name: 'Q', category: `${root} > C` });
    const { id } = await categoryAt(`${root} > C`);
    await rename(`${root} > A > B`, { parentId: id });
    expect([await namesIn(`${root} > A`), await namesIn(`${root} > C`)]).toEqual([[], ['P', 'Q']]);
    expect(await namesIn(`${root} > C > B`)).toEqual(['P']);
    expect((await categoryAt(`${root} > C`)).productCount).toBe(2);
  });

  test('beside concurrent writes and renames, every product shows the path that the tree has', async () => {
    const root = fresh();
    const products: Product[] = [];
    for (let index = 0; index < 6; index++)
      products.push(await addProduct(service, { name: `${index}`, category: `${root} > A > ${index}` }));
    const { id } = await categoryAt(`${root} > A`);
    const writes = Array.from({ length: 30 }, (_, index) => {
      const at = [service, replica][index % 2] ?? service;
      if (index % 5 === 0) {
        const body = { name: `A${index}` };
        return call(at, { method: 'PATCH', path: `/v1/categories/${id}`, as: 'editor', body });
      }
      const product = products[index % products.length] ?? { id: 0 };
      return call(at, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { price: index } });
    });
    for (const { status } of await Promise.all(writes)) expect(status).toBe(200);
    const { path } = await get(`/v1/categories/${id}`);
    for (const reader of [service, replica]) {
      for (const [index, product] of products.entries())
        expect((await get(pathOf(product), reader)).category).toBe(`${path} > ${index}`);
      expect(await namesIn(path, reader)).toEqual(['0', '1', '2', '3', '4', '5']);
    }
  });
});
