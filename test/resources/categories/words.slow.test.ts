/** What a category leaves behind: the words of its former path, for misspelt searches, while any product is indexed by them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createPlace, databaseOf, ndjsonOf, type Place } from '../../cli/program.ts';
import { adminCalls } from '../../support/data/categories.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** When a held delivery becomes due. */
const held = 9_000_000_000_000_000;
/** Letters only, because only such words can be misspelt. */
const createWord = () =>
  crypto
    .randomUUID()
    .slice(0, 8)
    .replace(/[0-9]/g, digit => 'ghijklmnop'[Number(digit)] ?? '');

describeOnDatabases('the words of former paths on %s', kind => {
  let place: Place;
  let service: TestService;
  beforeAll(async () => {
    place = await createPlace(kind);
    service = await startTestService(kind, databaseOf(place));
  });
  afterAll(async () => {
    await service.stop();
    place.remove();
  });

  const { send, findId } = adminCalls(() => service);
  const importProducts = async (category: string, name: string) => {
    const records = Array.from({ length: 20 }, (_, at) => ({
      sku: `${name}-${at}`,
      name: 'Item',
      price: 1,
      category,
    }));
    const file = place.file(`${name}.ndjson`, ndjsonOf(records));
    expect((await place.runHere(['import', file])).status).toBe(0);
  };
  const write = (statement: ReturnType<typeof sql>) =>
    service.database.write(async session => {
      await session.run(statement.compile(service.database.build));
    });
  /** Adds an earlier delivery for the category that is not due, so that its later deliveries wait. */
  const hold = (id: number) =>
    write(sql`insert into deliveries (queue, key, payload, attempts, due_at, created_at)
      values ('category-search', ${`category:${id}`}, '{"former":"Held"}', 0, ${held}, 0)`);
  const letGo = (id: number) =>
    write(sql`delete from deliveries where key = ${`category:${id}`} and due_at = ${held}`);

  interface Leaving {
    readonly root: string;
    readonly rootId: number;
    readonly ids: readonly number[];
  }
  /** Further categories whose deliveries are held. */
  const others: number[] = [];
  /** What happens after the category is renamed and before its products are indexed by the words of its new path. */
  const leavings: Readonly<Record<string, (leaving: Leaving) => Promise<unknown>>> = {
    'go to another category': ({ ids }) =>
      send('PATCH', '/v1/products', { ids, update: { category: 'Else' } }),
    'are deleted': async ({ ids }) => {
      for (const id of ids) await send('DELETE', `/v1/products/${id}`);
    },
    'are imported into another category': ({ root }) => importProducts('Else', root),
    'leave, and the category is deleted': async ({ root, rootId, ids }) => {
      await send('PATCH', '/v1/products', { ids, update: { category: null } });
      await send('DELETE', `/v1/categories/${await findId(`${root} > Leaf`)}`);
      await send('DELETE', `/v1/categories/${rootId}`);
    },
    'leave with the category below': async ({ root }) => {
      const leaf = await findId(`${root} > Leaf`);
      others.push(leaf);
      await hold(leaf);
      await send('PATCH', `/v1/categories/${leaf}`, { parentId: null, name: `${root}leaf` });
    },
    'stay, but the path changes once more': ({ rootId }) =>
      send('PATCH', `/v1/categories/${rootId}`, { name: createWord() }),
  };
  test.each(Object.entries(leavings))('are removed when the category’s products %s', async (_, leave) => {
    const [old, root] = [createWord(), createWord()];
    await importProducts(`${old} > Leaf`, root);
    const { data } = await send('GET', `/v1/products?category=${old}&perPage=100`);
    const rootId = await findId(old);
    await hold(rootId);
    await send('PATCH', `/v1/categories/${rootId}`, { name: root });
    await leave({ root, rootId, ids: data.map(({ id }: { id: number }) => id) });
    await letGo(rootId);
    await service.settle();
    for (const id of others) await letGo(id);
    await service.settle();
    // With a repair, because the next test must not report what this one left behind.
    const { out } = await place.runHere(['check', '--repair']);
    expect(out.split('\n').filter(line => line.startsWith('search index: '))).toEqual([]);
  });

  test('are no problem while products wait, though some were changed and already have those of the new path', async () => {
    const [old, root] = [createWord(), createWord()];
    await importProducts(old, createWord());
    const { data } = await send('GET', `/v1/products?category=${old}`);
    const rootId = await findId(old);
    await hold(rootId);
    await send('PATCH', `/v1/categories/${rootId}`, { name: root });
    await send('PATCH', `/v1/products/${data[0].id}`, { description: 'Changed' });
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    await letGo(rootId);
    await service.settle();
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
  });

  test('a deleted category leaves no totals behind', async () => {
    const totals = sql<{ rows: number }>`select cast(count(*) as integer) as rows from product_totals`;
    const countTotals = async () =>
      (await service.database.read.first(totals.compile(service.database.build)))?.rows;
    const product = await send('POST', '/v1/products', { name: 'Moved', price: 1 });
    const before = await countTotals();
    await send('PATCH', `/v1/products/${product.id}`, { category: 'Short-lived' });
    await send('PATCH', `/v1/products/${product.id}`, { category: null });
    await send('DELETE', `/v1/categories/${await findId('Short-lived')}`);
    expect(await countTotals()).toBe(before);
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
  });
});
