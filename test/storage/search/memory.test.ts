/** A search that reads its hits some at a time does not see changes that another search applies in between. */
import { expect, test } from 'bun:test';
import { createProductWords } from '../../../src/resources/search/reader.ts';
import type { Expression } from '../../../src/storage/search/expression.ts';
import { createMemoryReader } from '../../../src/storage/search/memory/reader.ts';
import { createSearchReader } from '../../../src/storage/search/reading/index.ts';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService } from '../../support/service/service.ts';

const lamps: Expression = [[[{ word: 'lamp' }]]];
const types = ['product'] as const;

describeOnDatabases('words of products in memory on %s', kind => {
  const cases = [
    { begins: 'with the word in memory', isKnown: true },
    { begins: 'by reading the word from the index', isKnown: false },
  ];
  test.each(cases)('stay as they were for a search that begins $begins', async ({ isKnown }) => {
    await using service = await startTestService(kind);
    const { database } = await service.replica();
    const first = await addProduct(service, { name: 'Oak lamp' });
    for (let number = 0; number < 5; number++) await addProduct(service, { name: `Oak lamp ${number}` });
    const index = createSearchReader(database);
    const sets = createProductWords(database, index);
    const memory = createMemoryReader(index, sets, 0);
    const begin = async () => {
      await database.changes.check();
      return { ...database.read, seen: memory.seen() };
    };
    if (isKnown) await memory.page(await begin(), lamps, types, { limit: 10 });
    const begun = await begin();
    const all = await memory.page(begun, lamps, types, { limit: 10 });
    await call(service, { method: 'DELETE', path: pathOf(first), as: 'admin' });
    expect(await memory.page(await begin(), lamps, types, { limit: 10 })).toEqual(all.slice(1));
    expect(await memory.page(begun, lamps, types, { limit: 10 })).toEqual(all);
    expect((await memory.counts(begun, lamps, types)).get('product')).toBe(all.length);
    // A list would be replaced in any case.
    expect(sets.get('lamp')?.kind).toBe('bits');
  });
});
