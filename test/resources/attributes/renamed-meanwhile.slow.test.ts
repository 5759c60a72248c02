/**
 * On PostgreSQL, a new product that waits while a category is renamed has the attributes that are required in the category
 * under its new name.
 */
import { expect, test } from 'bun:test';
import { call } from '../../support/http/http.ts';
import { startHeldService } from '../../support/peers/held-locks.ts';
import { importProducts } from '../../support/samples/imported.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import type { TestService } from '../../support/service/service.ts';

const product = { name: 'Lamp', price: 10 };

/** Ways to add a product to a category; each ends when the product is stored or refused. */
const additions: Readonly<Record<string, (service: TestService, category: string) => Promise<unknown>>> = {
  create: (service, category) =>
    call(service, { method: 'POST', path: '/v1/products', as: 'admin', body: { ...product, category } }),
  import: (service, category) => importProducts(service, [{ ...product, sku: 'IMPORTED', category }]),
};

test.skipIf(!hasPostgres)(
  'a product added while its category gets its name has the required attributes',
  async () => {
    const started = await startHeldService();
    await using service = started.service;
    await using held = started.held;
    const other = await service.replica();
    const send = async (method: string, path: string, body?: unknown) => {
      const { status, body: shown } = await call(service, { method, path, as: 'admin', body });
      expect([method, path, status < 300]).toEqual([method, path, true]);
      return shown;
    };
    for (const [name, add] of Object.entries(additions)) {
      const former = await send('POST', '/v1/categories', { name: `Former ${name}` });
      await send('POST', '/v1/attributes', {
        key: name,
        label: 'Power',
        type: 'number',
        requiredIn: [former.name],
      });
      await held.holdPaths();
      const renaming = send('PATCH', `/v1/categories/${former.id}`, { name: `New ${name}` });
      await held.waiting(1);
      const adding = add(other, `New ${name}`);
      await held.waiting(2);
      await held.release();
      await Promise.all([renaming, adding]);
      const { meta } = await send('GET', `/v1/products?category=${encodeURIComponent(`New ${name}`)}`);
      expect([name, meta.total]).toEqual([name, 0]);
      const fitting = { ...product, category: `New ${name}`, attributes: { [name]: 5 } };
      await send('POST', '/v1/products', fitting);
    }
  },
);
