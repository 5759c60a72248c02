/** Lists of a category whose tree changes while it is read. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import type { Database } from '../../../src/storage/database.ts';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { holdLocks } from '../../support/peers/held-locks.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { startTestService } from '../../support/service/service.ts';

/** Reads until both connections for reading are open: with only one, all reads would wait behind the one that is held. */
async function openBothReaders({ read, build }: Database): Promise<void> {
  const own = sql<{ process: number }>`select pg_backend_pid() as process`.compile(build);
  const found = new Set<number>();
  while (found.size < 2)
    for (const [row] of await Promise.all([read.all(own), read.all(own)])) found.add(row?.process ?? 0);
}

describe.skipIf(!hasPostgres)('lists of a category', () => {
  test('have the products of a category below it that was added while the tree was read', async () => {
    const url = await createDatabase();
    const service = await startTestService('postgresql', { DATABASE_URL: url, DATABASE_POOL: '8' });
    try {
      await addProduct(service, { category: 'Garden' });
      const { data } = (await call(service, { path: '/v1/categories', as: 'admin' })).body;
      const list = async () =>
        (await call(service, { path: '/v1/products?category=Garden&sort=name', as: 'user' })).body;
      await openBothReaders(service.database);
      await using held = holdLocks(url);
      await held.holdTable('product_categories');
      const early = list();
      // The tree has been read, but not yet which products are listed there by a further category.
      await held.waiting(1);
      const body = { name: 'Tools', parentId: data[0].id };
      const made = await call(service, { method: 'POST', path: '/v1/categories', as: 'admin', body });
      expect(made.status).toBe(201);
      await service.database.changes.check();
      await held.release();
      expect((await early).data).toHaveLength(1);
      await addProduct(service, { category: 'Garden > Tools' });
      const late = await list();
      expect([late.meta.total, late.data.length]).toEqual([2, 2]);
    } finally {
      await service.stop();
    }
  });
});
