/** A category counts each product in it or below it once, by its main category or any other. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createPlace, databaseOf, type Place } from '../../cli/program.ts';
import { adminCalls } from '../../support/data/categories.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** More products than one statement reads. */
const many = 1200;
const places = ['Root > A', 'Root > A > B', 'Root > C', 'Root'];
const listed = Array.from({ length: many }, (_, at) => ({
  category: [null, 'Rooted', 'Root > C'][at % 3] ?? null,
  categories: places.filter((_, index) => ((at >> index) & 1) === 1),
}));

describeOnDatabases('products of categories on %s', kind => {
  let place: Place;
  let service: TestService;
  beforeAll(async () => {
    place = await createPlace(kind);
    service = await startTestService(kind, databaseOf(place));
    const lines = listed.map((fields, at) =>
      JSON.stringify({ sku: `L-${at}`, name: `Listed ${at}`, price: 1, ...fields }),
    );
    const imported = await place.runHere(['import', place.file('listed.ndjson', lines.join('\n'))]);
    expect(imported.status).toBe(0);
  });
  afterAll(async () => {
    await service.stop();
    place.remove();
  });
  const { send, findId } = adminCalls(() => service);

  test.each(['Root', 'Root > A', 'Root > A > B', 'Root > C', 'Rooted'])('%s', async root => {
    const isIn = (path: string | null) => path === root || path?.startsWith(`${root} > `) === true;
    const expected = listed.filter(({ category, categories }) => [category, ...categories].some(isIn));
    const path = `/v1/categories/${await findId(root)}`;
    // Counted by a read, and by the transaction of a change.
    expect((await send('GET', path)).productCount).toBe(expected.length);
    expect((await send('PATCH', path, { description: `Of ${root}` })).productCount).toBe(expected.length);
    expect((await send('PATCH', path, { name: 'Renamed' })).productCount).toBe(expected.length);
    await send('PATCH', path, { name: root.slice(root.lastIndexOf(' ') + 1) });
  });
});
