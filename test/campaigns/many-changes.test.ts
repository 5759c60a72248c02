/** Many changes at once are read in parts. When there are very many, only ids are read, and other rows stay cached. */
import { expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../support/data/catalog.ts';
import { call } from '../support/http/http.ts';
import { importProducts } from '../support/samples/imported.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

describeOnDatabases('many changes at once on %s', kind => {
  // One less than SQLite reads with one statement, exactly as many, one more, and several times as many.
  test.each([7, 8, 9, 50])(
    'another process shows each of %d changes from its event, and keeps its lists',
    async count => {
      await using service = await startTestService(kind);
      const reader = await service.replica();
      await addProduct(service, { name: 'Kept', price: 1, category: 'kept' });
      const path = (category: string) => `/v1/products?category=${category}&perPage=1`;
      const total = async (category: string) =>
        (await call(reader, { path: path(category), as: 'user' })).body.meta.total;
      for (const _ of [1, 2, 3]) expect([await total('kept'), await total('many')]).toEqual([1, 0]);
      const { lists, resources } = reader.database.changes.uses;
      const before = { lists: lists.misses, resources: resources.misses };
      const sent = Array.from({ length: count }, (_, n) => ({
        name: `Lamp ${n}`,
        price: 1 + n,
        category: 'many',
      }));
      await importProducts(service, sent, service.clock.now());
      expect(await total('kept')).toBe(1);
      expect(lists.misses).toBe(before.lists);
      const made = await call(service, {
        path: '/v1/products?category=many&perPage=100&sort=id',
        as: 'user',
      });
      const written: readonly Product[] = made.body.data;
      expect(written).toMatchObject(sent);
      for (const product of written)
        expect((await call(reader, { path: pathOf(product), as: 'user' })).body).toEqual(product);
      expect(resources.misses).toBe(before.resources);
      expect([await total('many'), await total('kept')]).toEqual([count, 1]);
    },
  );

  test('a list is served from the cache while writers never pause', async () => {
    await using service = await startTestService(kind);
    await addProduct(service, { name: 'Kept', price: 1, category: 'kept' });
    const total = async () =>
      (await call(service, { path: '/v1/products?category=kept&perPage=1', as: 'user' })).body.meta.total;
    for (const _ of [1, 2, 3]) expect(await total()).toBe(1);
    const { lists } = service.database.changes.uses;
    const before = lists.misses;
    let isWriting = true;
    const reading = (async () => {
      while (isWriting) expect(await total()).toBe(1);
    })();
    // With fewer writes, reading would catch up now and then. PostgreSQL reads all changes with one statement.
    const writes = kind === 'sqlite' ? 32 : 4;
    const writers = Array.from({ length: 64 }, async () => {
      for (let n = 0; n < writes; n++)
        await addProduct(service, { name: 'Other', price: 2, category: 'others' });
    });
    await Promise.all(writers);
    isWriting = false;
    await reading;
    expect(lists.misses).toBe(before);
  });

  // SQLite reads these with several statements.
  test.each([600, 3000])('%d changes drop only the cached rows that they concern', async count => {
    await using service = await startTestService(kind);
    const reader = await service.replica();
    const kept = await addProduct(service, { name: 'Kept', price: 1 });
    const changed = await addProduct(service, { name: 'Old', price: 1, category: 'many', sku: 'MANY' });
    const shown = async ({ id }: Product) => (await call(reader, { path: pathOf({ id }), as: 'user' })).body;
    const total = async () =>
      (await call(reader, { path: '/v1/products?category=many&perPage=1', as: 'user' })).body.meta.total;
    // Twice: the first request of a replica finds nothing cached.
    for (const product of [kept, changed, kept, changed]) expect(await shown(product)).toEqual(product);
    for (const _ of [1, 2]) expect(await total()).toBe(1);
    const { resources } = reader.database.changes.uses;
    const before = resources.misses;
    const others = Array.from({ length: count - 1 }, (_, n) => ({
      name: 'Other',
      price: 3,
      sku: `MANY ${n}`,
    }));
    const all = [{ name: 'New', price: 2, sku: 'MANY' }, ...others];
    await importProducts(
      service,
      all.map(fields => ({ ...fields, category: 'many' })),
      service.clock.now(),
    );
    expect(await shown(kept)).toEqual(kept);
    expect(resources.misses).toBe(before);
    expect(await shown(changed)).toMatchObject({ name: 'New', price: 2 });
    expect(resources.misses).toBe(before + 1);
    expect(await total()).toBe(count);
  });
});
