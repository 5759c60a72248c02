/** Searches by the names in memory find what the names say, after every kind of change by any process. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createProductNames } from '../../../src/resources/search/names/index.ts';
import { splitWords } from '../../../src/storage/search/text/split.ts';
import { createStems } from '../../../src/storage/search/text/stems.ts';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const words = ['lamp', 'lamps', 'oak', 'oaken', 'steel', '37', '377', 'a'];
const name = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map(list => list.join(' '));
const asked = fc.array(fc.constantFrom(...words, 'la', 'st', '3', 'nowhere'), { minLength: 1, maxLength: 3 });
const changes = ['create', 'rename', 'brand', 'price', 'archive', 'restore', 'delete'] as const;
type Kind = (typeof changes)[number];
const many = 1000;
const beginnings = ['l', 'la', 'st', 'o', '3', 'a', 'nowhere'];
const maxWords = 3;

async function change(service: TestService, kind: Kind, made: Product[], text: string) {
  const [one] = made;
  if (one === undefined || kind === 'create')
    return void made.push(await addProduct(service, { name: text }));
  const patch = (body: object) => call(service, { method: 'PATCH', path: pathOf(one), as: 'editor', body });
  if (kind === 'rename') await patch({ name: text });
  else if (kind === 'brand') await patch({ brand: text });
  else if (kind === 'price') await patch({ price: text.length });
  else if (kind === 'archive') await patch({ status: 'archived' });
  else if (kind === 'restore') await patch({ status: 'active' });
  else {
    await call(service, { method: 'DELETE', path: pathOf(one), as: 'admin' });
    made.shift();
  }
  made.push(...made.splice(0, 1));
}

/** The words of names and brands with this beginning: the most frequent first, then in alphabetical order. */
function completionsIn(products: readonly Product[], beginning: string): string[] {
  const counts = new Map<string, number>();
  for (const { name, brand } of products) {
    for (const word of [...splitWords(name), ...splitWords(brand ?? '')])
      if (word.startsWith(beginning)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const found = [...counts].sort(([one, first], [other, second]) => second - first || (one < other ? -1 : 1));
  return found.slice(0, maxWords).map(([word]) => word);
}

describeOnDatabases('names of products in memory on %s', kind => {
  test('find exactly the products with matching names after every change', async () => {
    await using service = await startTestService(kind);
    const { database } = await service.replica();
    const stems = createStems(['en', 'de']);
    const names = createProductNames(database, stems);
    const made: Product[] = [];
    for (const text of words) made.push(await addProduct(service, { name: `${text} lamp` }));
    const isMatch = (own: readonly string[], query: readonly string[]) =>
      query.every((word, index) =>
        own.some(
          other => stems.isSame(word, other) || (index === query.length - 1 && other.startsWith(word)),
        ),
      );
    let compared = 0;
    let completed = 0;
    const check = fc.asyncProperty(
      fc.constantFrom(...changes),
      name,
      fc.array(asked, { minLength: 5, maxLength: 5 }),
      async (what, text, queries) => {
        await change(service, what, made, text);
        const { body } = await call(service, { path: '/v1/products?limit=100&status=active', as: 'editor' });
        const products: Product[] = body.data;
        for (const query of queries) {
          await database.changes.check();
          const found = await names.find(query, many);
          if (found === undefined) continue;
          compared += 1;
          const meant = products.filter(product =>
            isMatch([...splitWords(product.name), ...splitWords(product.brand ?? '')], query),
          );
          const ids = found.map(({ id }) => id);
          // When there are very many, only some are compared.
          if (meant.length <= 24) expect(ids.toSorted()).toEqual(meant.map(({ id }) => id).toSorted());
          expect(found.map(({ score }) => score)).toEqual(
            found.map(({ score }) => score).toSorted((one, other) => other - one),
          );
        }
        await database.changes.check();
        if ((await names.find(['lamp'], 1)) === undefined) return;
        for (const beginning of beginnings) {
          completed += 1;
          expect(await names.completions([beginning], maxWords)).toEqual(completionsIn(products, beginning));
        }
      },
    );
    await fc.assert(check, { numRuns: 60 });
    expect(compared).toBeGreaterThan(100);
    expect(completed).toBeGreaterThan(100);
  });
});
