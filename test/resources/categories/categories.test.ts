/** The tree of categories: where they may be, their names, their list, and the effects of a change. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Category, categoryCalls, fresh, path } from '../../support/data/categories.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('categories on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const { add, change, read, listed, chain } = categoryCalls(() => service);

  test('slugs keep the letters of other scripts', async () => {
    const end = fresh();
    const slugs = [
      ['ガラス', 'ガラス'],
      ['ｶﾞﾗｽ ㎡', 'ガラス-m2'],
      ['Новый год', 'новый-год'],
      ['น้ำหอม', 'น้ำหอม'],
      ['कुर्सी', 'कुर्सी'],
      ['أحذية', 'أحذية'],
      ['IŞIK Kühl\u00ADschrank', 'isik-kuehlschrank'],
    ] as const;
    for (const [name, slug] of slugs) {
      const made = await add(`${name} ${end}`);
      expect(made.slug).toBe(`${slug}-${end}`);
      // A slug that was made is one that may be given.
      expect((await change(made.id, { slug: made.slug })).status).toBe(200);
    }
  });

  test('a new category has a path, a slug of its name, and the last position among its siblings', async () => {
    const name = `Küche & Bad ${fresh()}`;
    const root = await add(name);
    expect(root).toEqual({
      id: root.id,
      name,
      slug: `kueche-and-bad-${name.slice(-8)}`,
      path: name,
      parentId: null,
      position: expect.any(Number),
      description: null,
      imageId: null,
      image: null,
      productCount: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    } as unknown as Category);
    const [first, second] = [
      await add('Tables', { parentId: root.id }),
      await add('Beds', { parentId: root.id }),
    ];
    expect([first.path, first.position, second.position]).toEqual([`${name} > Tables`, 0, 1]);
    expect(await read(first.id)).toEqual(first);
  });

  test('slugs are unique: a derived slug is numbered, and a given slug that is taken is refused', async () => {
    const name = `Lamps ${fresh()}`;
    const one = await add(name);
    const others: Category[] = [];
    for (const { id } of await chain(9)) others.push(await add(name, { parentId: id }));
    expect(others.map(({ slug }) => slug)).toEqual(others.map((_, at) => `${one.slug}-${at + 2}`));
    await play(service, {
      name: 'slug taken',
      method: 'POST',
      path,
      as: 'editor',
      body: { name: fresh(), slug: one.slug },
      status: 409,
      error: 'DUPLICATE',
    });
    expect(await listed(`slug=${one.slug}-2`)).toEqual([await read(others[0]?.id ?? 0)]);
  });

  test('a category created after a sibling with the highest position gets the same position', async () => {
    const root = await add('Full');
    await add('Last', { parentId: root.id, position: 1_000_000 });
    expect((await add('Next', { parentId: root.id })).position).toBe(1_000_000);
  });

  test('siblings are listed by position, and categories without a parent by parentId=root or null', async () => {
    const root = await add(fresh());
    const names = ['c', 'a', 'b'];
    for (const [index, name] of names.entries()) await add(name, { parentId: root.id, position: 10 - index });
    const all = async (query: string) => (await listed(query)).map(({ name }) => name);
    expect(await all(`parentId=${root.id}`)).toEqual(['b', 'a', 'c']);
    expect(await all(`parentId=${root.id}&sort=name`)).toEqual(['a', 'b', 'c']);
    expect(await all(`parentId=${root.id}&limit=2`)).toEqual(['b', 'a']);
    for (const none of ['root', 'null']) {
      const roots = await listed(`parentId=${none}&perPage=100`);
      expect(roots.every(({ parentId }) => parentId === null)).toBe(true);
      expect(roots.some(({ id }) => id === root.id)).toBe(true);
    }
    expect((await listed(`path=${encodeURIComponent(`${root.name} > a`)}`)).map(one => one.name)).toEqual([
      'a',
    ]);
  });

  test('cursors lead through all siblings, and back', async () => {
    const root = await add(fresh());
    for (let index = 0; index < 7; index++)
      await add(`n${index}`, { parentId: root.id, position: index % 2 });
    const seen: string[] = [];
    let next: string | null = `${path}?parentId=${root.id}&limit=3`;
    while (next !== null) {
      const page: { data: Category[]; links: { next: string | null } } = (
        await call(service, { path: next, as: 'user' })
      ).body;
      seen.push(...page.data.map(({ name }) => name));
      next = page.links.next === null ? null : page.links.next.slice(service.url.length);
    }
    expect(seen).toEqual(['n0', 'n2', 'n4', 'n6', 'n1', 'n3', 'n5']);
  });

  const refused: readonly [string, object, string, string][] = [
    ['without a name', {}, 'name', 'required'],
    ['with a blank name', { name: ' ' }, 'name', 'blank'],
    ['with a name that is two', { name: 'A > B' }, 'name', 'separator'],
    ['with a name that ends in a separator', { name: 'A >' }, 'name', 'separator'],
    ['with a name of 101 characters', { name: 'x'.repeat(101) }, 'name', 'maxLength'],
    ['with a slug that is none', { name: 'A', slug: 'Not A Slug' }, 'slug', 'pattern'],
    ['with an empty slug', { name: 'A', slug: '' }, 'slug', 'pattern'],
    ['with a position below 0', { name: 'A', position: -1 }, 'position', 'minimum'],
    ['with a parent that is no id', { name: 'A', parentId: 'x' }, 'parentId', 'type'],
    ['with a parent that is not there', { name: 'A', parentId: 2147483647 }, 'parentId', 'exists'],
  ];
  test.each(refused)('a category %s is refused', async (name, body, field, rule) => {
    const problems = [[field, rule]] as const;
    await play(service, { name, method: 'POST', path, as: 'editor', body, status: 400, problems });
  });

  const refusedQueries: readonly [string, string, string][] = [
    ['parentId=abc', 'parentId', 'pattern'],
    ['parentId=0', 'parentId', 'pattern'],
    ['parentId=99999999999', 'parentId', 'pattern'],
    ['slug=a%00b', 'slug', 'characters'],
    ['path=A%20%3E', 'path', 'separator'],
    ['sort=slug', 'sort', 'enum'],
  ];
  test.each(refusedQueries)('the list refuses %s', async (query, field, rule) => {
    const problems = [[field, rule]] as const;
    await play(service, { name: query, path: `${path}?${query}`, as: 'user', status: 400, problems });
  });

  test('a second sibling of the same name is refused, whether created, renamed or moved', async () => {
    const [one, other] = [await add(fresh()), await add(fresh())];
    const [first, second] = [
      await add('Same', { parentId: one.id }),
      await add('Same', { parentId: other.id }),
    ];
    const duplicate = { as: 'editor', status: 409, error: 'DUPLICATE' } as const;
    const body = { name: 'Same', parentId: one.id };
    await play(service, { ...duplicate, name: 'created', method: 'POST', path, body });
    const moved = { method: 'PATCH', path: `${path}/${second.id}`, body: { parentId: one.id } };
    const refusal = await play(service, { ...duplicate, name: 'moved', ...moved });
    expect(refusal.body.details[0].message).toContain(`${first.id}`);
    const third = await add('Third', { parentId: one.id });
    const renamed = { method: 'PATCH', path: `${path}/${third.id}`, body: { name: 'Same' } };
    await play(service, { ...duplicate, name: 'renamed', ...renamed });
  });

  test('a category cannot be below itself, or deeper than ten levels', async () => {
    const levels = await chain(10);
    const [first, second, , , , , , , ninth, tenth] = levels;
    const move = { method: 'PATCH', as: 'editor', status: 400 } as const;
    const cycle = [['parentId', 'cycle']] as const;
    const deep = [['parentId', 'levels']] as const;
    for (const target of [first, second, tenth]) {
      const body = { parentId: target?.id };
      await play(service, { ...move, name: 'cycle', path: `${path}/${first?.id}`, body, problems: cycle });
    }
    // A category whose name starts with another's name is not below it.
    const [short, long] = [await add('Begins'), await add('Begins alike')];
    expect((await change(short.id, { parentId: long.id })).status).toBe(200);
    const eleventh = { name: 'Eleventh', parentId: tenth?.id };
    await play(service, { ...move, name: '11', method: 'POST', path, body: eleventh, problems: deep });
    const [top] = await chain(2);
    const body = { parentId: ninth?.id };
    await play(service, {
      ...move,
      name: 'with what is below',
      path: `${path}/${top?.id}`,
      body,
      problems: deep,
    });
    expect((await read(tenth?.id ?? 0)).path.split(' > ')).toHaveLength(10);
  });

  test('a renamed or moved category takes its descendants along', async () => {
    const [a, b, c] = await chain(3);
    const to = await add(fresh());
    const shown = await change(b?.id ?? 0, { name: "Zwei 'ä' 😀", parentId: to.id });
    expect([shown.status, shown.body.path]).toEqual([200, `${to.path} > Zwei 'ä' 😀`]);
    expect((await read(c?.id ?? 0)).path).toBe(`${to.path} > Zwei 'ä' 😀 > ${c?.name}`);
    expect(shown.body.slug).toBe(b?.slug);
    const back = await change(b?.id ?? 0, { parentId: a?.id, name: b?.name });
    expect(back.body.path).toBe(b?.path);
    expect((await read(c?.id ?? 0)).path).toBe(c?.path);
    const up = await change(b?.id ?? 0, { parentId: null });
    expect([up.body.parentId, up.body.path]).toEqual([null, b?.name]);
  });

  test('renaming a category does not move one whose name only begins with its name', async () => {
    const name = fresh();
    const [one, beside] = [await add(name), await add(`${name} and more`)];
    await add('x', { parentId: beside.id });
    await change(one.id, { name: `${name}2` });
    expect(await listed(`path=${encodeURIComponent(`${name} and more > x`)}`)).toHaveLength(1);
  });

  test('deleting a category that is not empty is refused, and the error names its contents', async () => {
    const [parent, child] = await chain(2);
    const url = (one: Category | undefined) => `${path}/${one?.id}`;
    const response = await play(service, {
      name: 'not empty',
      method: 'DELETE',
      path: url(parent),
      as: 'editor',
      status: 409,
      error: 'CATEGORY_NOT_EMPTY',
    });
    expect(response.body.details).toEqual([
      {
        field: 'children',
        pointer: '#/children',
        code: 'empty',
        message: expect.stringContaining('1 category'),
      },
    ]);
    for (const one of [child, parent])
      await play(service, { name: 'gone', method: 'DELETE', path: url(one), as: 'editor', status: 204 });
    await play(service, { name: 'no more', path: url(parent), as: 'editor', status: 404 });
  });

  test('PUT resets members that it leaves out, except slug and position', async () => {
    const root = await add(fresh());
    const one = await add('One', { parentId: root.id, description: 'Text', position: 7 });
    const put = { method: 'PUT', path: `${path}/${one.id}`, as: 'editor' } as const;
    const name = fresh();
    const response = await play(service, { ...put, name: 'put', body: { name }, status: 200 });
    expect(response.body).toMatchObject({
      name,
      parentId: null,
      description: null,
      slug: one.slug,
      position: 7,
    });
  });

  test('merge patch and JSON Patch change a category; read-only members stay', async () => {
    const root = await add(fresh());
    const patch = (type: string, body: unknown) =>
      call(service, {
        method: 'PATCH',
        path: `${path}/${root.id}`,
        as: 'editor',
        headers: { 'Content-Type': `application/${type}` },
        body: JSON.stringify(body),
      });
    expect((await patch('merge-patch+json', { description: 'Merged' })).body.description).toBe('Merged');
    const operations = [{ op: 'replace', path: '/description', value: 'Patched' }];
    expect((await patch('json-patch+json', operations)).body.description).toBe('Patched');
    const readOnly = await patch('json-patch+json', [{ op: 'replace', path: '/path', value: 'Elsewhere' }]);
    expect([readOnly.status, readOnly.body.error]).toEqual([422, 'PATCH_RESULT_INVALID']);
  });

  test('concurrent writes keep one tree: one category of equal names is made, and no move makes a cycle', async () => {
    const [a, b] = [await add(fresh()), await add(fresh())];
    const body = { name: 'Once', parentId: a.id };
    const made = await Promise.all(
      Array.from({ length: 8 }, () => call(service, { method: 'POST', path, as: 'editor', body })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, ...new Array(7).fill(409)]);
    const moves = await Promise.all([change(a.id, { parentId: b.id }), change(b.id, { parentId: a.id })]);
    expect(moves.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('each change has an event that holds the path as it was', async () => {
    const [root] = await chain(1);
    await change(root?.id ?? 0, { name: 'Renamed for the events' });
    await call(service, { method: 'DELETE', path: `${path}/${root?.id}`, as: 'editor' });
    const query = `resource=category&resourceId=${root?.id}`;
    const events = (await call(service, { path: `/v1/events?${query}`, as: 'admin' })).body.data as {
      type: string;
      before: Category | null;
      after: Category | null;
    }[];
    expect(events.map(({ type, before, after }) => [type, before?.path, after?.path])).toEqual([
      ['category.created', undefined, root?.path],
      ['category.updated', root?.path, 'Renamed for the events'],
      ['category.deleted', 'Renamed for the events', undefined],
    ]);
  });
});
