/** `catalog check` finds what a restore that ended early, or copied only rows, has left out of a database. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sql } from 'kysely';
import { loadConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { startTestService } from '../../support/service/service.ts';
import { createCatalog, type Place } from '../program.ts';

// Each test runs several commands.
setDefaultTimeout(60_000);

async function run({ environment }: Place, ...statements: readonly string[]): Promise<void> {
  const database = openDatabase(loadConfig(environment));
  for (const statement of statements)
    await database.write(session => session.run(sql.raw(statement).compile(database.build)));
  await database.close();
}

describeOnDatabases('catalog check on %s', kind => {
  test('finds a missing index, unless an interrupted import has dropped it', async () => {
    const place = await createCatalog(kind);
    await run(place, 'drop index notifications_unread');
    expect(await place.runHere(['check'])).toMatchObject({
      status: 1,
      out: expect.stringMatching(
        /^schema: the index notifications_unread is missing\n1 wrong; none of these/,
      ),
    });
    await run(place, 'create table deferred_indexes (name text primary key, statement text not null)');
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    place.remove();
  });

  test('leaves the schema of a newer release alone', async () => {
    const place = await createCatalog(kind);
    await run(
      place,
      'drop index notifications_unread',
      "insert into migrations (name, applied_at) values ('9999-expand-more', 0)",
    );
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    place.remove();
  });
});

describe.skipIf(!hasPostgres)('catalog check on postgresql', () => {
  test('finds missing keys, references and triggers', async () => {
    const place = await createCatalog('postgresql');
    await run(
      place,
      'alter table invoices drop constraint invoices_order_id_fkey',
      'alter table invoices drop constraint invoices_order_id_key',
      'alter table product_totals drop constraint product_totals_pkey',
      'drop trigger begin_events on events',
    );
    const { status, out } = await place.runHere(['check']);
    expect(status).toBe(1);
    expect(out.split('\n').slice(0, 4).sort()).toEqual([
      'schema: the primary key (category_id, slot, status) of product_totals is missing',
      'schema: the reference order_id of invoices to orders is missing',
      'schema: the trigger begin_events is missing',
      'schema: the unique key (order_id) of invoices is missing',
    ]);
    place.remove();
  });

  test('finds and repairs sequences that give ids which rows already have', async () => {
    const place = await createCatalog('postgresql');
    await using service = await startTestService('postgresql', {
      DATABASE_URL: place.environment.DATABASE_URL ?? '',
    });
    const create = async (name: string) => {
      const body = { name, price: 1 };
      return (await call(service, { method: 'POST', path: '/v1/products', as: 'editor', body })).status;
    };
    for (const name of ['Lamp', 'Shade', 'Shelf', 'Spade']) expect(await create(name)).toBe(201);
    await run(place, "select setval('products_id_seq', 1)");
    expect(await create('Rake')).toBe(409);
    expect(await place.runHere(['check'])).toMatchObject({
      status: 1,
      out: expect.stringMatching(/^next ids: the sequence of products is behind its largest id, 4\n1 wrong;/),
    });
    expect(await place.runHere(['check', '--repair'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('next ids: repaired'),
    });
    expect(await create('Rake')).toBe(201);
    place.remove();
  });
});
