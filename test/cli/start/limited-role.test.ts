/** A role of PostgreSQL that may read and write rows, but not change tables: another role runs the migrations. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { z } from 'zod';
import { hasPostgres } from '../../support/service/postgres.ts';
import { createCatalog, createPlace, csv, type Place, waitFor } from '../program.ts';

const role = `catalog_test_${crypto.randomUUID().slice(0, 8)}`;

const administrator = { email: 'admin@test.example', password: 'correct horse battery' };

/** The database of a place as the limited role sees it. */
const asRole = ({ environment }: Place): string =>
  Object.assign(new URL(environment.DATABASE_URL ?? ''), { username: role, password: role }).href;

const answer = z.looseObject({
  accessToken: z.string().optional(),
  details: z.array(z.object({ field: z.string() })).optional(),
  meta: z.object({ facets: z.object({ price: z.object({ min: z.number() }) }) }).optional(),
});

/** @returns the member that the 409 to a second product with the same sku names, and the price that a facet shows */
async function createTwice(url: string, price: number) {
  const send = async (path: string, token = '', body?: object) => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return answer.parse(await (await fetch(`${url}/v1${path}`, { headers, ...sent })).json());
  };
  const { accessToken } = await send('/auth/login', '', administrator);
  const product = { name: 'Lamp', price, sku: 'TWICE' };
  await send('/products', accessToken, product);
  const { details } = await send('/products', accessToken, product);
  const { meta } = await send('/products?sku=TWICE&facets=price', accessToken);
  return { field: details?.[0]?.field, shown: meta?.facets.price.min };
}

describe.skipIf(!hasPostgres)('a role without CREATE', () => {
  let migrated: Place;
  let owner: SQL;
  let limited: Place;
  beforeAll(async () => {
    migrated = await createCatalog('postgresql');
    owner = new SQL(migrated.environment.DATABASE_URL ?? '', { max: 1 });
    await owner.unsafe(`create role ${role} login password '${role}'`);
    // As some administrators set it for dumps: the server quotes names in its errors too.
    await owner.unsafe(`alter role ${role} set quote_all_identifiers = on`);
    // The formats of old releases.
    await owner.unsafe(`alter role ${role} set array_nulls = off`);
    await owner.unsafe(`alter role ${role} set extra_float_digits = 0`);
    await owner.unsafe(`grant select, insert, update, delete on all tables in schema public to ${role}`);
    await owner.unsafe(`grant usage, select, update on all sequences in schema public to ${role}`);
    limited = await createPlace('sqlite', {
      ...{ DATABASE_URL: asRole(migrated), HOST: '127.0.0.1', LOG_LEVEL: 'silent' },
      ...{ ADMIN_EMAIL: administrator.email, ADMIN_PASSWORD: administrator.password },
    });
  });
  afterAll(async () => {
    await owner.unsafe(`drop owned by ${role}`);
    await owner.unsafe(`drop role ${role}`);
    await owner.close();
    limited.remove();
    migrated.remove();
  });

  test('imports into a database that another role has migrated, serves and checks it', async () => {
    expect(await limited.runHere(['migrate'])).toMatchObject({ status: 0, err: '' });
    expect(await limited.runHere(['import', limited.file('p.csv', csv)])).toMatchObject({ status: 0 });
    const child = limited.start(['serve', '--port', '0']);
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    const price = 0.1 + 0.2;
    expect(await createTwice(url, price)).toEqual({ field: 'sku', shown: price });
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    expect(await limited.runHere(['check'])).toMatchObject({ status: 0 });
  });

  test('is advised to let the owner migrate where an import of the owner left out indexes', async () => {
    await owner.unsafe('create table deferred_indexes (name text primary key, statement text not null)');
    const advice =
      'run catalog migrate as the role that owns the tables, and grant this one the rights that docs/operation.md names';
    expect(await limited.run(['serve', '--port', '0'])).toMatchObject({
      status: 1,
      err: `catalog serve: permission denied for table deferred_indexes; ${advice}\n`,
    });
    expect(await migrated.runHere(['migrate'])).toMatchObject({ status: 0 });
    expect(await limited.runHere(['migrate'])).toMatchObject({ status: 0 });
  });
});
