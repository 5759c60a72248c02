/**
 * Changes to variants in any order and by any replica: the product shows the summary of its variants, and cached
 * responses equal the tables immediately.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { random } from '../../bench/load/random.ts';
import { addProduct, type Product, pathOf } from '../support/data/catalog.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

interface Variant {
  readonly id: number;
  readonly price: number | null;
  readonly available: boolean;
  readonly position: number;
  readonly options: Readonly<Record<string, string>>;
}

const steps = 40;
const values = Array.from({ length: 12 }, (_, n) => `${n}`);

describeOnDatabases('a product and its variants on %s', kind => {
  const draw = random(20_261_123);
  let first: TestService;
  let replicas: readonly TestService[];
  beforeAll(async () => {
    first = await startTestService(kind);
    replicas = [first, await first.replica()];
  });
  afterAll(() => first.stop());

  const some = <Item>(items: readonly Item[]): Item | undefined => items[draw.integer(0, items.length - 1)];
  const service = () => some(replicas) ?? first;
  const send = (method: string, path: string, body?: object) =>
    call(service(), { method, path, as: 'editor', ...(body === undefined ? {} : { body }) });
  const changes = () => ({
    ...(draw.integer(0, 1) === 0 ? {} : { price: some([null, 1, 2, 3, 5, 8]) ?? null }),
    ...(draw.integer(0, 2) === 0 ? { stock: some([null, { onHand: 0 }, { onHand: 2 }]) ?? null } : {}),
    ...(draw.integer(0, 3) === 0 ? { position: draw.integer(0, 9) } : {}),
  });

  test('agree after every step', async () => {
    const options = [{ name: 'No', values }];
    const product = await addProduct(first, { price: 4, options });
    const path = pathOf(product);
    const model = new Map<number, Variant>();
    let [base, status] = [4, 'active'];

    /** Makes one random change, and expects it to be shown, or refused when a combination exists already. */
    async function step(): Promise<void> {
      const one = some([...model.keys()]);
      const kindOf = draw.integer(0, 9);
      if (one === undefined || kindOf < 3) {
        const No = some(values) ?? '0';
        const made = await send('POST', `${path}/variants`, { options: { No }, ...changes() });
        const taken = [...model.values()].some(variant => variant.options.No === No);
        expect(made.status).toBe(taken ? 409 : 201);
        if (!taken) model.set(made.body.id, made.body);
      } else if (kindOf < 6) {
        const patched = await send('PATCH', `${path}/variants/${one}`, changes());
        expect(patched.status).toBe(200);
        model.set(one, patched.body);
      } else if (kindOf === 6) {
        const price = draw.integer(1, 9);
        const ids = [...model.keys()].slice(0, 3);
        expect((await send('PATCH', `${path}/variants`, { ids, update: { price } })).status).toBe(200);
        for (const id of ids) model.set(id, { ...(model.get(id) as Variant), price });
      } else if (kindOf === 7) {
        expect((await send('DELETE', `${path}/variants/${one}`)).status).toBe(204);
        model.delete(one);
      } else if (kindOf === 8) {
        status = status === 'active' ? 'archived' : 'active';
        expect((await send('PATCH', path, { status })).status).toBe(200);
      } else {
        const shown = expected().price;
        const price = draw.integer(1, 9);
        expect((await send('PATCH', path, { price })).status).toBe(200);
        if (price !== shown) base = price;
      }
    }

    function expected() {
      const prices = [...model.values()].map(({ price }) => price ?? base);
      const [min, max] = prices.length === 0 ? [base, base] : [Math.min(...prices), Math.max(...prices)];
      const any = model.size === 0 || [...model.values()].some(({ available }) => available);
      const priceRange = { min, max };
      return { price: min, priceRange, variantCount: model.size, available: status === 'active' && any };
    }

    for (let at = 0; at < steps; at++) {
      await step();
      for (const replica of replicas) {
        const read = async (address: string) => (await call(replica, { path: address, as: 'user' })).body;
        const { price, priceRange, variantCount, available }: Product = await read(path);
        expect([at, { price, priceRange, variantCount, available }]).toEqual([at, expected()]);
        const { data, meta } = await read(`${path}/variants?perPage=5`);
        const ordered = [...model.values()].sort((a, b) => a.position - b.position || a.id - b.id);
        expect(data.map(({ id }: Variant) => id)).toEqual(ordered.slice(0, 5).map(({ id }) => id));
        expect(meta.total).toBe(model.size);
        const inRange = await read(`/v1/products?minPrice=${price}&maxPrice=${price}&available=${available}`);
        expect(inRange.data.map(({ id }: Product) => id)).toContain(product.id);
      }
    }
  });

  test('agree after concurrent writes', async () => {
    const product = await addProduct(first, { price: 100, options: [{ name: 'No', values }] });
    const path = `${pathOf(product)}/variants`;
    const made = await Promise.all(
      values.flatMap(No => [1, 2].map(price => send('POST', path, { options: { No }, price: 50 + price }))),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(values.length);
    expect(made.filter(({ status }) => status === 409)).toHaveLength(values.length);
    const ids = made.filter(({ status }) => status === 201).map(({ body }) => body.id as number);
    await Promise.all(
      ids.map((id, index) =>
        index < 4 ? send('DELETE', `${path}/${id}`) : send('PATCH', `${path}/${id}`, { price: 10 + index }),
      ),
    );
    const { body } = await call(first, { path: pathOf(product), as: 'user' });
    expect([body.variantCount, body.priceRange]).toEqual([8, { min: 14, max: 21 }]);
  });
});
