/** The ends of compounds are found by other forms than they have. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const shop = [
  'Lederhandschuhe Herren',
  'Lederhandschuhe Damen',
  'Leder Tasche',
  'Handschuhe warm',
  'Teekanne',
  'Wanduhren',
  'Wandfarbe',
];
const gloves = ['Lederhandschuhe Herren', 'Lederhandschuhe Damen'];

describeOnDatabases('the ends of compounds on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const name of shop) await addProduct(service, { name });
  });
  afterAll(() => service.stop());
  const search = async (query: string) =>
    (await call(service, { path: `/v1/search?q=${encodeURIComponent(query)}`, as: 'user' })).body;

  test.each([
    ['handschuhe', ['Handschuhe warm', ...gloves]],
    ['handschuh', ['Handschuhe warm', ...gloves]],
    ['handschuhen', ['Handschuhe warm', ...gloves]],
    // Forms that no product has as a word of its own.
    ['kannen', ['Teekanne']],
    ['uhr', ['Wanduhren']],
  ])('%j finds %j', async (query, names) => {
    const { data } = await search(query);
    expect(data.map(({ title }: { title: string }) => title)).toEqual(names);
  });

  test.each(['leder handschuh', 'handschuh leder'])('%j finds those that are both first', async query => {
    const { data, meta } = await search(query);
    expect(data.slice(0, 2).map(({ title }: { title: string }) => title)).toEqual(gloves);
    expect(meta.relaxed).toBeUndefined();
  });
});
