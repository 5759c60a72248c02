/** A search that reads its hits some at a time does not see changes that another search applies in between. */
import { expect, test } from 'bun:test';
import { products } from '../../../src/resources/products/row.ts';
import { createProductWords } from '../../../src/resources/search/reader.ts';
import type { Changes, Listener } from '../../../src/storage/changes/change.ts';
import type { Expression } from '../../../src/storage/search/expression.ts';
import { getDocumentId } from '../../../src/storage/search/index.ts';
import { createMemoryReader } from '../../../src/storage/search/memory/reader.ts';
import { getIds, toDocumentSet } from '../../../src/storage/search/memory/set.ts';
import { createIdReader } from '../../../src/storage/search/memory/source.ts';
import { createWordSets } from '../../../src/storage/search/memory/words.ts';
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

  test('of a changed product are split once, however many searches begin', async () => {
    await using service = await startTestService(kind);
    const { database } = await service.replica();
    const index = createSearchReader(database);
    let splits = 0;
    const sets = createWordSets(database, {
      collection: products,
      read: createIdReader(database, index),
      async wordsOf() {
        splits += 1;
        return ['lamp'];
      },
    });
    const memory = createMemoryReader(index, sets, 0);
    const search = () => memory.page({ ...database.read, seen: memory.seen() }, lamps, types, { limit: 10 });
    const first = await addProduct(service, { name: 'Oak lamp' });
    await database.changes.check();
    expect(await search()).toHaveLength(1);
    for (const name of ['Pine lamp', 'Elm lamp']) {
      await call(service, { method: 'PATCH', path: pathOf(first), as: 'admin', body: { name } });
      const { id } = await addProduct(service, { name });
      await database.changes.check();
      splits = 0;
      const found = await Promise.all(Array.from({ length: 5 }, search));
      expect(splits).toBe(2);
      expect(found.map(positions => positions.map(getDocumentId).includes(id))).toEqual(Array(5).fill(true));
    }
  });
});

test('a set has products that got its word while it was read, or since a search read it', async () => {
  const listeners: Listener[] = [];
  const changes: Changes = {
    check: () => undefined,
    checkIn: () => Promise.reject(new Error('no snapshot is checked')),
    version: () => 1,
    follow: ({ name }, listener) => void (name === products.name && listeners.push(listener)),
    uses: { lists: { hits: 0, misses: 0 }, resources: { hits: 0, misses: 0 } },
  };
  const [begun, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const sets = createWordSets(
    { changes },
    {
      collection: products,
      wordsOf: async (_, document) => [document],
      async read() {
        begun.resolve();
        await changed.promise;
        return Uint32Array.of(1);
      },
    },
  );
  const add = (id: number) => {
    const change = { id, before: undefined, after: { id }, document: 'lamp' };
    for (const listener of listeners) listener([change]);
  };
  sets.want('lamp');
  await begun.promise;
  add(2);
  changed.resolve();
  await new Promise(resolve => setImmediate(resolve));
  expect(sets.get('lamp')).toBeUndefined();
  await sets.settle();
  const found = sets.get('lamp');
  expect(found && Array.from(getIds(found))).toEqual([1, 2]);

  const seen = sets.seen();
  add(3);
  await sets.settle();
  // A search that read it before the third product was added.
  sets.keep('lamp', toDocumentSet(Uint32Array.of(1, 2)), seen);
  const kept = sets.get('lamp');
  expect(kept && Array.from(getIds(kept))).toEqual([1, 2, 3]);
});
