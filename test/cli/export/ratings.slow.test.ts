/** Export and import of reviewed products: the rating is exported, but cannot be set. */
import { expect, test } from 'bun:test';
import { createCause, createCommandOutbox } from '../../../src/events/outbox.ts';
import { createReviewStore } from '../../../src/resources/reviews/store.ts';
import { createUserStore } from '../../../src/resources/users/store.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, ndjsonOf, productsOf, withDatabaseOf } from '../program.ts';

describeOnDatabases('ratings and the command line on %s', kind => {
  test('an import changes a product and keeps its rating; an export shows it', async () => {
    const place = await createCatalog(kind);
    const record = { sku: 'A-1', name: 'Lamp', price: 1, currency: 'EUR' };
    const load = (records: readonly object[]) =>
      place.runHere(['import', place.file('p.ndjson', ndjsonOf(records))]);
    expect((await load([record])).status).toBe(0);
    const [fresh] = await productsOf(place);
    expect(fresh?.rating).toEqual({ average: null, count: 0 });
    await withDatabaseOf(place, database =>
      database.write(async session => {
        const user = {
          name: 'Ada',
          email: 'a@b.example',
          role: 'user',
          passwordHash: null,
          verifiedAt: null,
        } as const;
        const author = await createUserStore(database, createCommandOutbox(database)).insert(
          session,
          user,
          createCause('test', 1),
        );
        const reviews = createReviewStore(database, createCommandOutbox(database));
        const product = await reviews.lockProduct(session, fresh?.id ?? 0);
        if (product === undefined) throw new Error('the product is not there');
        await reviews.insert(session, product, author, { rating: 4, body: null }, createCause('test', 1));
      }),
    );
    const rating = { average: 4, count: 1 };
    expect((await load([{ ...record, price: 2, rating: { average: 1, count: 9 } }])).status).toBe(0);
    const [changed] = await productsOf(place);
    expect(changed).toMatchObject({ price: 2, rating });

    const exported = await place.run(['export', '--format', 'ndjson']);
    expect(JSON.parse(exported.out)).toMatchObject({ price: 2, rating });
    expect((await place.run(['import', '-', '--format', 'ndjson'], exported.out)).status).toBe(0);
    expect(await productsOf(place)).toEqual([changed].filter(product => product !== undefined));
    const csv = await place.run(['export']);
    expect((await place.runHere(['import', place.file('out.csv', csv.out)])).status).toBe(0);
    expect(await productsOf(place)).toEqual([changed].filter(product => product !== undefined));
    place.remove();
  });
});
