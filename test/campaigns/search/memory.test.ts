/** Words in memory agree with the index after every kind of change by any process. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createProductWords } from '../../../src/resources/search/reader.ts';
import type { Expression } from '../../../src/storage/search/expression.ts';
import { toPosition } from '../../../src/storage/search/index.ts';
import { createMemoryReader } from '../../../src/storage/search/memory/reader.ts';
import { createSearchReader } from '../../../src/storage/search/reading/index.ts';
import { titleMarks } from '../../../src/storage/search/text/words.ts';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const words = ['lamp', 'lamps', 'oak', 'oaken', 'steel', 'red', '37', '377'];
const types = ['product', 'article', 'post'] as const;
const someTypes = fc.subarray([...types], { minLength: 1 });
const position = fc
  .tuple(fc.constantFrom(...types), fc.integer({ min: 0, max: 15 }))
  .map(([type, id]) => toPosition(type, id));
const page = fc.record(
  {
    limit: fc.integer({ min: 1, max: 9 }),
    offset: fc.integer({ min: 0, max: 12 }),
    low: position,
    high: position,
  },
  { requiredKeys: ['limit', 'offset'] },
);
const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 }).map(list => list.join(' '));
const term = fc.oneof(
  fc.record({ word: fc.constantFrom(...words, 'nowhere'), mark: fc.constantFrom(undefined, ...titleMarks) }),
  fc.record({ word: fc.constantFrom('lam', 'oak', '37'), prefix: fc.constant(true) }),
  fc.record({ word: fc.constant('lamp'), prefix: fc.constant(true), longer: fc.constant(['lamps']) }),
);
const some = { minLength: 1, maxLength: 3 };
const expression: fc.Arbitrary<Expression> = fc.array(
  fc.array(fc.array(term, { minLength: 1, maxLength: 2 }), some),
  some,
);
/** After these changes the words stay in memory. */
const changes = ['create', 'rename', 'describe', 'price', 'archive', 'delete', 'many'] as const;
/** After these changes all words are read again, once no such change has come for a second. */
const upheavals = ['move'] as const;
type Kind = (typeof changes)[number] | (typeof upheavals)[number];

async function change(service: TestService, kind: Kind, made: Product[], name: string) {
  const [one] = made;
  if (one === undefined || kind === 'create') return void made.push(await addProduct(service, { name }));
  const patch = (body: object) => call(service, { method: 'PATCH', path: pathOf(one), as: 'editor', body });
  if (kind === 'rename') await patch({ name });
  else if (kind === 'describe') await patch({ description: name });
  else if (kind === 'price') await patch({ price: 3 });
  else if (kind === 'archive') await patch({ status: 'archived' });
  else if (kind === 'move') {
    await patch({ category: `red ${name}` });
    const { body } = await call(service, { path: '/v1/categories?limit=1', as: 'editor' });
    const path = `/v1/categories/${body.data[0].id}`;
    await call(service, { method: 'PATCH', path, as: 'editor', body: { name: `${name} ${one.id}` } });
    await service.settle();
  } else if (kind === 'many') {
    for (let index = 0; index < 5; index++) made.push(await addProduct(service, { name, description: name }));
  } else {
    await call(service, { method: 'DELETE', path: pathOf(one), as: 'admin' });
    made.shift();
  }
  made.push(...made.splice(0, 1));
}

describeOnDatabases('words of products in memory on %s', kind => {
  test('find the same as the index after every change', async () => {
    await using service = await startTestService(kind);
    const { database } = await service.replica();
    const index = createSearchReader(database);
    const sets = createProductWords(database, index);
    const memory = createMemoryReader(index, sets, 0);
    const made: Product[] = [];
    for (const name of words) made.push(await addProduct(service, { name: `${name} lamp` }));
    const post = (path: string, body: object) => call(service, { method: 'POST', path, as: 'editor', body });
    for (const title of ['Oak lamp', 'Red 37', 'Lamps', 'Red lamps 377']) {
      await post('/v1/articles', { title, body: 'red', tags: [] });
      await post('/v1/posts', { title, body: 'oak' });
    }
    let inMemory = 0;
    const stepOf = (kinds: readonly Kind[]) =>
      fc.tuple(
        fc.constantFrom(...kinds),
        text,
        fc.array(expression, { minLength: 6, maxLength: 6 }),
        page,
        someTypes,
      );
    const check = (kinds: readonly Kind[], numRuns: number) =>
      fc.assert(
        fc.asyncProperty(stepOf(kinds), async ([what, name, expressions, page, wanted]) => {
          await change(service, what, made, name);
          for (const asked of expressions) {
            await database.changes.check();
            inMemory += Number(sets.get('lamp') !== undefined);
            const session = { ...database.read, seen: memory.seen() };
            if (asked.length > 1) await memory.fetch(session, asked.flat());
            const word = page.offset % 2 === 0 ? 'lam' : '377';
            const begun = await index.page(session, [[[{ word, prefix: true }]]], types, { limit: 100 });
            expect([begun.length, undefined]).toContain(await memory.beginning(session, word));
            expect(await memory.page(session, asked, wanted, page)).toEqual(
              await index.page(session, asked, wanted, page),
            );
            const counts = await index.counts(session, asked, wanted);
            expect(await memory.counts(session, asked, wanted)).toEqual(counts);
            expect(await memory.frequency(session, asked, wanted)).toBe(
              await index.frequency(session, asked, wanted),
            );
            const [first = [], second = first] = asked;
            const positions = await index.page(session, [first], types, { limit: 100 });
            expect(await memory.among(session, second, positions, types, first)).toEqual(
              await index.page(session, [first, second], types, { limit: 100 }),
            );
          }
        }),
        { numRuns },
      );
    await check(changes, 20);
    expect(inMemory).toBeGreaterThan(50);
    await check([...changes, ...upheavals], 12);
  });
});
