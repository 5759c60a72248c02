/** Very many categories below one, as when each product has a category of its own. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createPlace, databaseOf, type Place } from '../../cli/program.ts';
import { adminCalls } from '../../support/data/categories.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** More categories than one statement moves, and than one transaction examines. */
const many = 270;

describeOnDatabases('very many categories on %s', kind => {
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
  const totalOf = async (path: string): Promise<number> => (await send('GET', path)).meta.total;

  test('all descendants and their products follow a renamed category, and searches find them by the new name', async () => {
    const lines = Array.from({ length: many }, (_, at) => {
      const category = `Gardening > Leaf ${at}`;
      return JSON.stringify({ sku: `M-${at}`, name: `Item ${at}`, price: 1, category });
    });
    const imported = await place.runHere(['import', place.file('many.ndjson', lines.join('\n'))]);
    expect(imported.status).toBe(0);
    expect(await totalOf('/v1/search?q=gardening')).toBe(many);

    const id = await findId('Gardening');
    await send('PATCH', `/v1/categories/${id}`, { name: 'Forestry' });
    expect(await totalOf('/v1/products?category=Gardening')).toBe(0);
    expect(await totalOf('/v1/products?category=Forestry')).toBe(many);
    const paths: string[] = [];
    for (const page of [1, 2, 3]) {
      const { data } = await send('GET', `/v1/categories?perPage=100&page=${page}`);
      paths.push(...data.map(({ path }: { path: string }) => path));
    }
    const leaves = Array.from({ length: many }, (_, at) => `Forestry > Leaf ${at}`);
    expect(paths.sort()).toEqual(['Forestry', ...leaves].sort());
    expect((await send('GET', `/v1/categories/${id}`)).productCount).toBe(many);

    // Products that still wait to be indexed are not an error.
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    await service.settle();
    expect([await totalOf('/v1/search?q=forestry'), await totalOf('/v1/search?q=gardening')]).toEqual([
      many,
      0,
    ]);
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
  });
});
