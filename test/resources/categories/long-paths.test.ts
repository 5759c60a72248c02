/** Paths that PostgreSQL's index of paths could not hold are refused, on both databases. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { categoryCalls, fresh, path } from '../../support/data/categories.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** A name of characters of three bytes each, which an index cannot compress, and which begins with `start`. */
function createName(start: string, length: number): string {
  const characters = Array.from({ length }, (_, index) =>
    String.fromCodePoint(
      0x4e00 + ((index * 7919 + start.length * 997 + (start.codePointAt(0) ?? 0)) % 20_000),
    ),
  );
  return `${start}${characters.join('')}`;
}

describeOnDatabases('long paths of categories on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const { add, change, read } = categoryCalls(() => service);

  /** A chain of nine categories whose path has 2,517 bytes. */
  async function createChain(): Promise<{ readonly ids: number[]; readonly path: string }> {
    const ids: number[] = [];
    const names = Array.from({ length: 9 }, (_, level) => createName(`${level} ${fresh()}`, 89));
    for (const name of names) ids.push((await add(name, { parentId: ids.at(-1) ?? null })).id);
    return { ids, path: names.join(' > ') };
  }

  test('a product cannot name one', async () => {
    const { path: within } = await createChain();
    const product = await addProduct(service, { name: 'Lamp', category: within });
    const category = `${within} > ${createName('x', 80)}`;
    const scenario = { method: 'POST', path: '/v1/products', as: 'editor', status: 400 } as const;
    const problems = [['category', 'maxBytes']] as const;
    await play(service, {
      ...scenario,
      name: 'product',
      body: { name: 'Lamp', price: 1, category },
      problems,
    });
    const shown = await call(service, { path: `/v1/products/${product.id}`, as: 'user' });
    expect(shown.body.category).toBe(within);
  });

  test('a category cannot be created, renamed or moved so that it or one below it has one', async () => {
    const { ids } = await createChain();
    const [top = 0, last = 0] = [ids[0], ids[8]];
    const before = await read(last);
    const refused = { as: 'editor', status: 400 } as const;
    const body = { name: createName('x', 80), parentId: last };
    const problems = [['name', 'maxBytes']] as const;
    await play(service, { ...refused, name: 'created', method: 'POST', path, body, problems });
    const renamed = { method: 'PATCH', path: `${path}/${top}`, body: { name: '🪑'.repeat(100) } } as const;
    await play(service, { ...refused, name: 'renamed', ...renamed, problems });
    const parent = await add(createName('y', 80));
    const moved = { method: 'PATCH', path: `${path}/${top}`, body: { parentId: parent.id } } as const;
    await play(service, { ...refused, name: 'moved', ...moved, problems: [['parentId', 'maxBytes']] });
    expect(await read(last)).toEqual(before);
    expect((await change(top, { name: 'Short' })).status).toBe(200);
    expect((await change(top, { parentId: parent.id })).status).toBe(200);
  });

  /** Names whose paths are longest as characters, and as JSON. */
  test.each([
    ['of other scripts', () => createName(fresh(), 84)],
    ['of control characters', () => `${fresh()}${'\u0001'.repeat(80)}`],
  ])('a list of names %s in order of their paths can be read by cursors', async (_, nameOf) => {
    const ids: number[] = [];
    for (let level = 0; level < 9; level++)
      ids.push((await add(nameOf(), { parentId: ids.at(-1) ?? null })).id);
    const listed: number[] = [];
    const first = `${path}?sort=path&limit=1`;
    for (let next = first; next !== ''; ) {
      const { status, body } = await call(service, { path: next, as: 'user' });
      expect(status).toBe(200);
      listed.push(body.data[0].id);
      next = body.meta.nextCursor === null ? '' : `${first}&cursor=${body.meta.nextCursor}`;
    }
    expect(listed.filter(id => ids.includes(id))).toEqual(ids);
  });
});
