/** Rows, total and facets of a response show the same state, however many writes happen at the same time. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { variantCalls } from '../../support/data/variants.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { countDraws } from '../share.ts';

/** For each list, this many reads must overlap with a write. */
const enough = countDraws(80);
/** A prime number, so that all fields of each product change. */
const products = 23;
const names = ['status', 'brand', 'category', 'tag', 'attr.colour'] as const;
type Name = (typeof names)[number];

type Shown = Product & { readonly attributes: { readonly colour: string } };
type Facet = readonly { readonly value: unknown; readonly count: number }[];
interface Body {
  readonly data: readonly Shown[];
  readonly meta: { readonly total?: number; readonly facets: Readonly<Record<string, Facet>> };
}

/** Each product has one value for each facet. */
const valuesOf: Readonly<Record<Name, (product: Shown) => string | null | undefined>> = {
  status: ({ status }) => status,
  brand: ({ brand }) => brand,
  category: ({ category }) => category,
  tag: ({ tags }) => tags[0],
  'attr.colour': ({ attributes }) => attributes.colour,
};

const fields = (step: number) => ({
  name: step % 2 === 0 ? 'Lamp, even' : 'Lamp, odd',
  brand: step % 2 === 0 ? 'A' : 'B',
  category: step % 3 === 0 ? 'a' : 'b',
  tags: [step % 2 === 0 ? 't' : 'u'],
  status: step % 5 === 0 ? 'archived' : 'active',
  attributes: { colour: step % 3 === 0 ? 'red' : 'blue' },
  gtin: step % 2 === 0 ? '4006381333931' : null,
});

/** Lists that fit on one page, with the facet that their filter belongs to. */
const lists: readonly (readonly [query: string, own: Name | ''])[] = [
  ['perPage=100', ''],
  ['perPage=100&brand=A', 'brand'],
  ['perPage=100&brand=A&sort=price', 'brand'],
  ['perPage=100&category=a&sort=name', 'category'],
  ['perPage=100&tag=t', 'tag'],
  ['perPage=100&attr.colour=red&sort=createdAt', 'attr.colour'],
  ['perPage=100&name=Lamp,%20odd', ''],
  ['perPage=100&gtin=4006381333931', ''],
  ['limit=100&brand=B', 'brand'],
  ['limit=100&count=exact&status=archived', 'status'],
];

function countValues(rows: readonly Shown[], name: Name): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const product of rows) {
    const value = String(valuesOf[name](product));
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}

/** Compares the total and the facets of a response with its rows. */
function expectAgreement(query: string, { data, meta }: Body, own: Name | ''): void {
  for (const name of names) {
    const shown = countValues(data, name);
    // A facet ignores its own filter, so only the values named by the filter have as many products as there are rows.
    const said = (meta.facets[name] ?? []).filter(({ value }) => name !== own || String(value) in shown);
    const counted = Object.fromEntries(said.map(({ value, count }) => [String(value), count]));
    expect([query, name, counted]).toEqual([query, name, shown]);
  }
  expect([query, meta.total ?? data.length]).toEqual([query, data.length]);
}

describeOnDatabases('responses on %s', kind => {
  let service: TestService;
  const made: Product[] = [];
  beforeAll(async () => {
    service = await startTestService(kind);
    for (let index = 0; index < products; index++) made.push(await addProduct(service, fields(index)));
  });
  afterAll(() => service.stop());

  async function change(at: TestService, step: number): Promise<void> {
    const path = pathOf(made[(step * 7) % products] ?? { id: 0 });
    expect((await call(at, { method: 'PATCH', path, as: 'admin', body: fields(step) })).status).toBe(200);
  }

  /** Repeats reads beside writers until enough of the reads have overlapped with writes. */
  async function readWhileWriting(
    all: readonly TestService[],
    write: (at: TestService, step: number) => Promise<void>,
    read: (at: TestService, step: number) => Promise<void>,
  ): Promise<void> {
    let [steps, written, reads, overlapping] = [0, 0, 0, 0];
    let failed = false;
    const repeat = async (work: () => Promise<void>) => {
      try {
        while (overlapping < enough && !failed) await work();
      } finally {
        failed ||= overlapping < enough;
      }
    };
    const writers = all.map(at =>
      repeat(async () => {
        await write(at, steps++);
        written += 1;
      }),
    );
    const readers = all.map(at =>
      repeat(async () => {
        const before = written;
        await Promise.all([1, 2, 3, 4].map(() => read(at, reads++)));
        if (written > before) overlapping += 4;
      }),
    );
    const results = await Promise.allSettled([...writers, ...readers]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  describe.each([...lists])('to %s', (query, own) => {
    test('are internally consistent while products change, on both replicas', async () => {
      await using replica = await service.replica();
      await readWhileWriting([service, replica], change, async (at, step) => {
        // Some addresses are new, others are repeated.
        const path = `/v1/products?facets=${names.join()}&${query}&now=${step % 50}`;
        const { status, body } = await call(at, { path, as: 'user' });
        expect(status).toBe(200);
        expectAgreement(query, body, own);
      });
    });
  });

  test('to a category are internally consistent while it is renamed, and added to and removed from products', async () => {
    await using own = await startTestService(kind);
    const replica = await own.replica();
    const listed: Product[] = [];
    for (let index = 0; index < 7; index++)
      listed.push(await addProduct(own, { category: index % 2 === 0 ? 'c > d' : 'e' }));
    const { body } = await call(own, { path: '/v1/categories?path=c', as: 'admin' });
    const category = `/v1/categories/${body.data[0].id}`;
    await readWhileWriting(
      [own, replica],
      async (at, step) => {
        const isListed = step % 2 === 0;
        const product = pathOf(listed[step % 7] ?? { id: 0 });
        // While the category has the other name, the path belongs to a new category.
        const [path, change] =
          step % 5 === 0
            ? [category, { name: step % 2 === 0 ? 'c' : 'other' }]
            : [product, { categories: isListed ? ['c'] : [] }];
        const { status } = await call(at, { method: 'PATCH', path, as: 'admin', body: change });
        expect([200, 409]).toContain(status);
      },
      async (at, step) => {
        const order = step % 2 === 0 ? 'id' : 'name';
        const path = `/v1/products?category=c&facets=status&perPage=100&sort=${order}&now=${step % 50}`;
        const { data, meta } = (await call(at, { path, as: 'user' })).body;
        const { length } = data;
        expect([meta.total, meta.facets.status]).toEqual([
          length,
          length === 0 ? [] : [{ value: 'active', count: length }],
        ]);
      },
    );
  });

  test.each([
    'type=product',
    'brand=A',
    'category=a&sort=price',
    'status=archived',
    'gtin=4006381333931&limit=100&count=exact',
  ])('to searches with %s are internally consistent', async filters => {
    await using replica = await service.replica();
    await readWhileWriting([service, replica], change, async (at, step) => {
      const size = filters.includes('limit') ? '' : '&perPage=100';
      const path = `/v1/search?q=lamp&facets=status,category&${filters}${size}&now=${step % 50}`;
      const { status, body } = await call(at, { path, as: 'editor' });
      expect(status).toBe(200);
      const { total, facets } = body.meta;
      const kind = filters === 'status=archived' ? 'archived' : 'active';
      expect([facets.product, facets.status]).toEqual([
        total,
        total === 0 ? [] : [{ value: kind, count: total }],
      ]);
      const count = (found: Facet) => found.reduce((sum, one) => sum + one.count, 0);
      expect(filters.startsWith('category') ? total : count(facets.category)).toBe(total);
    });
  });

  test('of a new replica, which has to read its columns, are internally consistent', async () => {
    let isOver = false;
    const writeOn = async () => {
      for (let step = 0; !isOver; step++) await change(service, step);
    };
    const readFirst = async () => {
      for (let round = 0; round < 5; round++) {
        await using replica = await service.replica();
        const read = async ([query, own]: (typeof lists)[number]) => {
          const path = `/v1/products?facets=${names.join()}&${query}`;
          return [query, own, (await call(replica, { path, as: 'user' })).body] as const;
        };
        for (const [query, own, body] of await Promise.all(lists.map(read)))
          expectAgreement(query, body, own);
      }
    };
    const writing = writeOn();
    await readFirst().finally(() => {
      isOver = true;
    });
    await writing;
  });

  test('to the sku of a variant show the product as it was while the variant had that sku', async () => {
    await using own = await startTestService(kind);
    const replica = await own.replica();
    const { send, pathsOf, shirt, add } = variantCalls(() => own);
    const product = await shirt();
    const variant = await add(product, { options: { Size: 'S', Colour: 'Red' }, sku: 'X-0', price: 1000 });
    const path = `${pathsOf(product)}/${variant.id}`;
    await readWhileWriting(
      [own, replica],
      async (_, step) => {
        const body = { sku: `X-${step % 3}`, price: 1000 + step };
        expect((await send('PATCH', path, body)).status).toBe(200);
      },
      async (at, step) => {
        const sku = step % 3;
        const facets = step % 2 === 0 ? '&facets=status,price' : '';
        const { body } = await call(at, { path: `/v1/products?sku=X-${sku}${facets}`, as: 'user' });
        const shown = body.data.map(({ price }: Product) => (price - 1000) % 3);
        expect([body.meta.total, shown]).toEqual(shown.length === 0 ? [0, []] : [1, [sku]]);
        if (facets === '') return;
        const [price] = body.data.map((one: Product) => one.price);
        expect(body.meta.facets.status).toEqual(price === undefined ? [] : [{ value: 'active', count: 1 }]);
        expect(body.meta.facets.price.min).toBe(price ?? null);
      },
    );
  });
});
