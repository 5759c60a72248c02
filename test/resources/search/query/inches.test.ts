/** Inch marks are read as the unit, in documents and in queries. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { splitWords } from '../../../../src/storage/search/text/split.ts';
import { addProduct } from '../../../support/data/catalog.ts';
import { call } from '../../../support/http/http.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { startTestService, type TestService } from '../../../support/service/service.ts';

const shop = ['Monitor 27" QHD', 'Laptop 14in', 'Bed 90″ wide', 'Monitor 24 inch', 'Laptop 15.6” Sleeve'];

test.each([
  ['5" x 7"', ['5', 'in', 'x', '7', 'in']],
  ["12''", ['12', 'in']],
  ['a "size 14"', ['a', 'size', '14']],
  ['“iPhone 14” 6"', ['iphone', '14', '6', 'in']],
  ['„27“', ['27']],
  ['TV "X" 55"', ['tv', 'x', '55', 'in']],
])('%s is read as %j', (text, words) => expect(splitWords(text)).toEqual(words));

describeOnDatabases('inches on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const name of shop) await addProduct(service, { name });
  });
  afterAll(() => service.stop());

  test.each([
    ['27 inch monitor', 'Monitor 27" QHD'],
    ['27in monitor', 'Monitor 27" QHD'],
    ['27 zoll monitor', 'Monitor 27" QHD'],
    ['monitor 27"', 'Monitor 27" QHD'],
    ['14" laptop', 'Laptop 14in'],
    ['bed 90 inches', 'Bed 90″ wide'],
    ["monitor 24''", 'Monitor 24 inch'],
    ['15.6 inch laptop sleeve', 'Laptop 15.6” Sleeve'],
  ])('%s finds %s with all its words', async (query, title) => {
    const path = `/v1/search?q=${encodeURIComponent(query)}&perPage=1`;
    const [hit] = (await call(service, { path, as: 'user' })).body.data;
    expect([hit.title, hit.missing]).toEqual([title, []]);
  });

  test('an inch mark is not completed', async () => {
    const { body } = await call(service, { path: '/v1/search/suggest?q=monitor+27%22', as: 'user' });
    expect(body.words).toEqual([]);
    expect(body.products.map(({ title }: { title: string }) => title)).toEqual(['Monitor 27" QHD']);
  });
});
