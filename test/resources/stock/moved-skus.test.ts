/**
 * On PostgreSQL, an adjustment that waits for a product adjusts what has the named sku once it has waited: nothing else is
 * adjusted in the name of a sku that it has lost.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Product, pathOf } from '../../support/data/catalog.ts';
import { addStocked, adjust, shownOf } from '../../support/data/stock.ts';
import { chosen, variantCalls } from '../../support/data/variants.ts';
import { call } from '../../support/http/http.ts';
import { type HeldLocks, startHeldService } from '../../support/peers/held-locks.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import type { TestService } from '../../support/service/service.ts';

describe.skipIf(!hasPostgres)('an adjustment that waits while its sku moves', () => {
  /** The one that moves the sku, and the one that adjusts. */
  let service: TestService;
  let adjusting: TestService;
  let held: HeldLocks;
  beforeAll(async () => {
    ({ service, held } = await startHeldService());
    adjusting = await service.replica();
  });
  afterAll(async () => {
    await held[Symbol.asyncDispose]();
    await service.stop();
  });

  const send = (method: string, path: string, body?: unknown) =>
    call(service, { method, path, as: 'editor', body });

  /** Adds five pieces by sku, behind a change of the product that has it at first. */
  async function adjustBehind(product: Product, sku: string, move: () => ReturnType<typeof send>) {
    await held.hold(product);
    const moving = move();
    await held.waiting(1);
    const made = adjust(adjusting, [{ sku, delta: 5, reason: 'delivery' }]);
    await held.waiting(2);
    await held.release();
    expect((await moving).status).toBeLessThan(300);
    return made;
  }

  test('is refused once nothing has the sku, and adjusts nothing', async () => {
    const lamp = await addStocked(service, 10, {}, { sku: 'GONE' });
    const made = await adjustBehind(lamp, 'GONE', () => send('PATCH', pathOf(lamp), { sku: 'OTHER' }));
    expect([made.status, made.body.details?.[0].field]).toEqual([422, 'adjustments.0.sku']);
    expect(await shownOf(service, lamp)).toMatchObject({ onHand: 10 });
  });

  test('is refused once the product has been deleted', async () => {
    const lamp = await addStocked(service, 10, {}, { sku: 'DELETED' });
    const made = await adjustBehind(lamp, 'DELETED', () => send('DELETE', pathOf(lamp)));
    expect([made.status, made.body.error]).toEqual([422, 'ADJUSTMENT_REFUSED']);
  });

  test('is refused once the variant has another sku, and adjusts nothing', async () => {
    const { shirt, add } = variantCalls(() => service);
    const product = await shirt();
    const small = await add(product, { ...chosen('S'), sku: 'SMALL', stock: { onHand: 10 } });
    const path = `${pathOf(product)}/variants/${small.id}`;
    const made = await adjustBehind(product, 'SMALL', () => send('PATCH', path, { sku: 'SHIRT-S' }));
    expect([made.status, made.body.details?.[0].field]).toEqual([422, 'adjustments.0.sku']);
    expect((await send('GET', path)).body.stock.onHand).toBe(10);
  });
});
