/** Data cached under a collection's version is not served for a state after a restore. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { addProduct } from '../support/data/catalog.ts';
import { invoiced } from '../support/data/invoices.ts';
import { call } from '../support/http/http.ts';
import { readPdf } from '../support/peers/pdf.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describeOnDatabases('a restore under a running service on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('a list does not show rows that the restore removed', async () => {
    const { database } = service;
    const namesOf = async () => {
      const listed = await call(service, { path: '/v1/products?limit=100', as: 'user' });
      return listed.body.data.map(({ name }: { name: string }) => name);
    };
    await addProduct(service, { name: 'Kept' });
    const versions = await database.read.all(
      sql<{ collection: string; slot: number; version: number }>`select * from collection_versions`.compile(
        database.build,
      ),
    );
    for (let round = 0; round < 5; round++) {
      const lost = await addProduct(service, { name: `Lost ${round}` });
      expect(await namesOf()).toContain(lost.name);
      // The state of an earlier dump, or of a standby that had not received the product.
      await database.write(async session => {
        const run = (query: ReturnType<typeof sql>) => session.run(query.compile(database.build));
        await run(sql`delete from products where id = ${lost.id}`);
        await run(sql`delete from collection_versions`);
        for (const { collection, slot, version } of versions)
          await run(sql`insert into collection_versions (collection, slot, version)
            values (${collection}, ${slot}, ${version})`);
      });
      const next = await addProduct(service, { name: `Next ${round}` });
      const names = await namesOf();
      expect(names).toContain(next.name);
      expect(names).not.toContain(lost.name);
    }
  });

  test('the PDF of an invoice is not that of another customer whose invoice the restore removed', async () => {
    const read = async (id: number) => {
      const headers = { Accept: 'application/pdf', Authorization: `Bearer ${service.tokens.admin}` };
      const response = await fetch(`${service.url}/v1/invoices/${id}`, { headers });
      return (await readPdf(await response.bytes())).pages.flat().map(({ text }) => text);
    };
    const { id } = await invoiced(service);
    expect(await read(id)).toContain('Test user');
    // As if the row had been lost, and its id assigned again in the same millisecond.
    const next = sql`update invoices set document = replace(document, 'Test user', 'Next customer') where id = ${id}`;
    await service.database.write(session => session.run(next.compile(service.database.build)));
    const texts = await read(id);
    expect(texts).toContain('Next customer');
    expect(texts).not.toContain('Test user');
  });
});
