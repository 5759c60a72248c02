/**
 * On PostgreSQL, an order that waits for a product shows all of its products as they are once it has waited: it does not
 * combine prices that were never valid together, or sell what was archived before the last price that it shows.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { userIdOf } from '../../support/data/people.ts';
import { addStocked, order, shownOf } from '../../support/data/stock.ts';
import { chosen, variantCalls } from '../../support/data/variants.ts';
import { call } from '../../support/http/http.ts';
import { type HeldLocks, startHeldService } from '../../support/peers/held-locks.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import type { TestService } from '../../support/service/service.ts';

describe.skipIf(!hasPostgres)('an order that waits for one of its products', () => {
  /** The one that changes a product, and the one that takes the order. */
  let service: TestService;
  let changing: TestService;
  let ordering: TestService;
  let held: HeldLocks;
  beforeAll(async () => {
    ({ service, held } = await startHeldService());
    changing = await service.replica();
    ordering = await service.replica();
  });
  afterAll(async () => {
    await held[Symbol.asyncDispose]();
    await service.stop();
  });

  const variants = variantCalls(() => service);
  const patch = (path: string, body: unknown, at = changing) =>
    call(at, { method: 'PATCH', path, as: 'admin', body });

  /** Places an order that waits while `change` is made, and after that the price of the awaited product changes. */
  async function placeBehind(awaited: Product, place: () => ReturnType<typeof order>, change: () => unknown) {
    await held.hold(awaited);
    const dearer = patch(pathOf(awaited), { price: 20 }, service);
    await held.waiting(1);
    const placing = place();
    await held.waiting(2);
    await change();
    await held.release();
    expect((await dearer).status).toBe(200);
    return placing;
  }

  test('shows the prices that the others have by then', async () => {
    const [lamp, desk] = [await addStocked(service, 10), await addProduct(service, { price: 10 })];
    const { status, body } = await placeBehind(
      lamp,
      () => order(ordering, [desk, 1], [lamp, 1]),
      () => patch(pathOf(desk), { price: 15 }),
    );
    expect([status, body.items.map((item: { unitPrice: number }) => item.unitPrice)]).toEqual([
      201,
      [15, 20],
    ]);
  });

  test('is refused if another was archived by then', async () => {
    const [lamp, desk] = [await addStocked(service, 10), await addProduct(service, { price: 10 })];
    const { status, body } = await placeBehind(
      lamp,
      () => order(ordering, [desk, 1], [lamp, 1]),
      () => patch(pathOf(desk), { status: 'archived' }),
    );
    expect([status, body.error, body.details[0].field]).toEqual([
      422,
      'PRODUCT_UNAVAILABLE',
      'items.0.productId',
    ]);
    expect(await shownOf(service, lamp)).toMatchObject({ reserved: 0 });
  });

  test('reserves pieces of another that has a stock by then', async () => {
    const [lamp, desk] = [await addStocked(service, 10), await addProduct(service, { price: 10 })];
    const { status } = await placeBehind(
      lamp,
      () => order(ordering, [desk, 2], [lamp, 1]),
      () => patch(pathOf(desk), { stock: { onHand: 5 } }),
    );
    expect(status).toBe(201);
    expect(await shownOf(service, desk)).toEqual({ onHand: 5, reserved: 2, available: true });
  });

  test('shows the price that a variant has by then', async () => {
    const [lamp, shirt] = [await addStocked(service, 10), await variants.shirt()];
    const variant = await variants.add(shirt, { ...chosen('S'), price: 10 });
    const id = await userIdOf(service, 'user');
    const items = [
      { productId: shirt.id, variantId: variant.id, quantity: 1 },
      { productId: lamp.id, quantity: 1 },
    ];
    const { status, body } = await placeBehind(
      lamp,
      () => call(ordering, { method: 'POST', path: `/v1/users/${id}/orders`, as: 'user', body: { items } }),
      () => patch(`${pathOf(shirt)}/variants/${variant.id}`, { price: 15 }),
    );
    expect([status, body.total]).toEqual([201, 35]);
  });

  /** Orders seven products without a stock and one with, while one of those without is locked. */
  async function placeBesideLocked(
    description: string,
    until: (placing: Promise<unknown>) => Promise<unknown>,
  ) {
    const fields = { price: 10, description };
    const others = await Promise.all(Array.from({ length: 7 }, () => addProduct(service, fields)));
    const lamp = await addStocked(service, 10, {}, { description });
    const [first] = others;
    if (first === undefined) throw new Error('there are none');
    await held.hold(first);
    const placing = order(ordering, ...[...others, lamp].map(product => [product, 2] as const));
    await until(placing);
    await held.release();
    const { status, body } = await placing;
    expect([status, body.total]).toEqual([201, 160]);
    expect(await shownOf(service, lamp)).toMatchObject({ onHand: 10, reserved: 2 });
  }

  test('is not placed before all are locked, if one statement cannot read their texts', () =>
    placeBesideLocked('😀'.repeat(40_000), () => held.waiting(1)));

  test('waits for none of those without a stock otherwise', () =>
    placeBesideLocked('short', placing => placing));
});
