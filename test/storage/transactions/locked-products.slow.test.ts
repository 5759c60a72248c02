/**
 * On PostgreSQL, a write that waits for a product sees everything that the write before it has committed, even a new
 * category, which the snapshot of the waiting statement is too old to include.
 */
import { expect, test } from 'bun:test';
import { createSearchCheck } from '../../../src/cli/check/search.ts';
import { addProduct } from '../../support/data/catalog.ts';
import { type Call, call } from '../../support/http/http.ts';
import { startHeldService } from '../../support/peers/held-locks.ts';
import { hasPostgres } from '../../support/service/postgres.ts';

const options = [{ name: 'Size', values: ['S'] }];
const patch = (path: string, body: unknown): Call => ({ method: 'PATCH', path, as: 'admin', body });
const post = (path: string, body: unknown): Call => ({ method: 'POST', path, as: 'admin', body });
const place = (name: string) => ({ category: `Main ${name} > New`, categories: [`Further ${name}`] });

/** The waiting writes, after each of which the product must be in its new categories. */
const writes: Readonly<Record<string, (id: number) => Call>> = {
  patch: id => patch(`/v1/products/${id}`, { name: 'Renamed' }),
  bulk: id => patch('/v1/products', { ids: [id], update: { tags: ['seen'] } }),
  review: id => post(`/v1/products/${id}/reviews`, { rating: 5, comment: 'Good.' }),
  variant: id => post(`/v1/products/${id}/variants`, { options: { Size: 'S' }, price: 1 }),
  stock: id => post('/v1/stock/adjustments', { adjustments: [{ productId: id, delta: 1, reason: 'count' }] }),
  image: id => post(`/v1/products/${id}/images`, { url: 'https://shop.example/a.png' }),
  moved: id => patch(`/v1/products/${id}`, { ...place('moved'), price: 7 }),
  deletion: id => ({ method: 'DELETE', path: `/v1/products/${id}`, as: 'admin' }),
};

test.skipIf(!hasPostgres)('a write that waits for a product sees where it was moved', async () => {
  const started = await startHeldService();
  await using service = started.service;
  await using held = started.held;
  const other = await service.replica();
  const stock = { tracked: true, onHand: 1 };
  for (const [name, callOf] of Object.entries(writes)) {
    const created = await addProduct(service, {
      name: 'Lamp',
      category: 'Old',
      categories: ['Former'],
      options,
      stock,
    });
    const { id } = created;
    const path = `/v1/products/${id}`;
    await held.hold(created);
    const moving = call(service, patch(path, place(name)));
    await held.waiting(1);
    const writing = call(other, callOf(id));
    await held.waiting(2);
    await held.release();
    expect([name, (await moving).status, (await writing).status < 300]).toEqual([name, 200, true]);

    const isGone = name === 'deletion';
    const fresh = await service.replica();
    for (const replica of [service, other, fresh]) {
      const read = async (path: string) => (await call(replica, { path, as: 'admin' })).body;
      const idsOf = async (path: string) => (await read(path)).data.map(({ id }: { id: number }) => id);
      const product = await read(path);
      expect([name, product]).toMatchObject([name, isGone ? { error: 'NOT_FOUND' } : place(name)]);
      const {
        data: [event],
      } = await read(`/v1/events?resource=product&resourceId=${id}&order=desc&perPage=1`);
      expect([name, event[isGone ? 'before' : 'after']]).toMatchObject([name, place(name)]);
      for (const listed of [place(name).category, ...place(name).categories])
        expect([name, await idsOf(`/v1/products?category=${encodeURIComponent(listed)}`)]).toEqual([
          name,
          isGone ? [] : [id],
        ]);
      expect([name, await idsOf(`/v1/search?q=${name}&type=product`)]).toEqual([name, isGone ? [] : [id]]);
    }
    await fresh.stop();
  }
  expect(await createSearchCheck(service.database).find(service.database.read)).toEqual([]);
});
