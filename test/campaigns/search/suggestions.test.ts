/**
 * Suggestions and searches are the same from a service that followed all changes, from a replica, and from one that has
 * just started, even with its first request. The names have few words, many of them equally long.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { maxIds, patch, post, remove, type Write, type Writes } from '../../support/areas/area.ts';
import { awaitNames } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { countDraws } from '../share.ts';

const words = [
  'lamp',
  'lamps',
  'lamping',
  'lampoon',
  'oak',
  'oaks',
  'crème',
  'crémé',
  'creme',
  'Größe',
  '37',
];
const beginnings = ['l', 'la', 'lam', 'oa', 'cr', 'gr', '3', 'nowhere'];
const queries = [
  ...[...beginnings, ...words],
  ...['oak lam', 'lamp oak', 'lamps oa', 'oak l', 'oaks lamps', 'creme l', 'lampoon lamp c', '37 lam'],
];
const paths = queries.flatMap(query => {
  const q = encodeURIComponent(query);
  return [`/v1/search/suggest?q=${q}`, `/v1/search?q=${q}&limit=30`];
});

interface Drawn extends Write {
  readonly kind: string;
  readonly name: string;
}
const spread = ({ id, number }: Write) => 1 + ((id * 9 + number) % 90);
const change = (members: (write: Drawn) => object) => (write: Drawn) =>
  patch(`/v1/products/${spread(write)}`, members(write));

const writes: Readonly<Record<string, (write: Drawn) => ReturnType<Writes[string]>>> = {
  create: ({ name, number }) => post('/v1/products', { name, price: number }),
  rename: change(({ name }) => ({ name })),
  respell: change(({ word }) => ({ name: `${word} ${word}` })),
  brand: change(({ name, isFirst }) => ({ brand: isFirst ? name : null })),
  describe: change(({ name }) => ({ description: name })),
  price: change(({ number }) => ({ price: number })),
  stock: change(({ isFirst }) => ({ stock: { tracked: true, onHand: Number(isFirst) } })),
  archive: change(({ isFirst }) => ({ status: isFirst ? 'archived' : 'active' })),
  move: change(({ word }) => ({ category: word })),
  delete: write => remove(`/v1/products/${spread(write)}`),
  several: ({ id, name }) =>
    patch('/v1/products', { ids: [id, id + 11, id + 22, 83], update: { brand: name } }),
  review: write => post(`/v1/products/${spread(write)}/reviews`, { rating: 1 + (write.number % 5) }),
  category: ({ id, name }) => patch(`/v1/categories/${1 + (id % 4)}`, { name }),
  synonym: ({ word, isFirst }) =>
    isFirst ? post('/v1/search/synonyms', { words: [word, 'oakum'] }) : remove('/v1/search/synonyms/1'),
};

const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map(list => list.join(' '));
const drawn: fc.Arbitrary<Drawn> = fc.record({
  kind: fc.constantFrom(...Object.keys(writes), 'create', 'rename', 'rename', 'archive'),
  id: fc.integer({ min: 1, max: maxIds }),
  word: fc.constantFrom(...words),
  category: fc.constant(''),
  number: fc.integer({ min: 1, max: 9 }),
  isFirst: fc.boolean(),
  name: text,
});

async function read(service: TestService, path: string) {
  const {
    status,
    text: body,
    headers,
  } = await call(service, {
    path,
    as: 'admin',
    headers: { 'X-Request-ID': 'the-same-for-all' },
  });
  return { path, status, etag: headers.get('etag'), body: JSON.parse(body) };
}
const readAll = async (service: TestService) => {
  const found: Awaited<ReturnType<typeof read>>[] = [];
  for (const path of paths) found.push(await read(service, path));
  return found;
};

describeOnDatabases('suggestions and searches on %s', kind => {
  test('equal those of a newly started service after every kind of change', async () => {
    await using service = await startTestService(kind, { BASE_URL: 'https://shop.example' });
    const other = await service.replica();
    const [names = []] = fc.sample(fc.array(text, { minLength: 90, maxLength: 90 }), { numRuns: 1, seed: 1 });
    for (const [index, name] of names.entries())
      await call(service, post('/v1/products', { name, price: 1, category: words[index % words.length] }));
    await awaitNames(service);
    let accepted = 0;
    const group = fc.tuple(fc.array(drawn, { minLength: 8, maxLength: 16 }), fc.constantFrom(...paths));
    const check = fc.asyncProperty(group, async ([burst, first]) => {
      await Promise.all([readAll(service), readAll(other)]);
      for (const [index, one] of burst.entries()) {
        const request = writes[one.kind]?.(one);
        if (request === undefined) throw new Error(`no write ${one.kind}`);
        const { status } = await call(index % 2 === 0 ? service : other, request);
        if (status < 300) accepted += 1;
        // With reads in between, names and words also follow single changes.
        await read(index % 3 === 0 ? other : service, first);
      }
      await service.settle();
      const replica = await service.replica();
      const begun = await read(replica, first);
      // Suggestions come from the index until names are in memory; some writes drop them from there (docs/guide.md).
      for (const each of [service, other, replica]) await awaitNames(each);
      const expected = await readAll(replica);
      if (!first.includes('suggest')) expect(begun).toEqual(expected[paths.indexOf(first)] ?? begun);
      expect(await readAll(service)).toEqual(expected);
      expect(await readAll(other)).toEqual(expected);
      await replica.stop();
    });
    const numRuns = countDraws(8);
    await fc.assert(check, { numRuns, endOnFailure: true });
    expect(accepted).toBeGreaterThan(3 * numRuns);
  }, 300_000);
});
