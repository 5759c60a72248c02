/** Messages about an unusable DATABASE_URL: the setting and the rule, but no part of the password. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { expectRejection } from '../../support/http/rejection.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { createPlace, withDatabaseOf } from '../program.ts';

const encoded = 'needs % in user and password written as %25, @ as %40, / as %2F, ? as %3F, # as %23\n';

const wrong: readonly (readonly [address: string, rule: string])[] = [
  [
    'postgres://shop:geheim@db:99999/goods',
    'names a server with a port that is not from 1 to 65535: "db:99999"',
  ],
  ['postgres://shop:geheim@db:0/goods', 'names a server with a port that is not from 1 to 65535: "db:0"'],
  [
    'postgres://shop:geheim@db,b:70000/goods',
    'names a server with a port that is not from 1 to 65535: "b:70000"',
  ],
  [
    'postgres://shop:geheim@/goods?host=/run/postgresql',
    'names no server: it needs host:port after ://, or the folder',
  ],
  ['postgres:///goods', 'names no server: it needs host:port after ://'],
  ['postgres://shop:geheim@d b/goods', 'names a server that is not host:port: "d b"'],
  [
    'postgres://shop:geheim@db/goods?sslmode=foo',
    'sslmode must be given once, as disable, allow, prefer, require, ',
  ],
  [
    'postgres://shop:geheim@db/goods?sslmode=disable&sslmode=require',
    'sslmode must be given once, as disable, ',
  ],
  ['postgres://shop:geheim%zz@db/goods', encoded],
  ['postgres://geheim%:x@db/goods', encoded],
  ['postgres://shop:x@db/goods%zz', 'needs % in the name of the database written as %25'],
  ['postgres://shop:geheim/x@db/goods', encoded],
  ['postgres://geheim:a@geheim/x@db/goods', encoded],
  ['postgres://shop:geheim?x@db/goods', encoded],
  ['postgres://shop:a@geheim?x@db/goods', encoded],
  ['postgres://shop:geheim#x@db/goods', encoded],
  ['postgres://shop:a@geheim@db/goods', encoded],
];

test.each(wrong)('DATABASE_URL=%s is refused', async (address, rule) => {
  const place = await createPlace('sqlite', { DATABASE_URL: address });
  const { err, out, status } = await place.runHere(['users', 'list']);
  expect(err).toStartWith(`catalog: setting DATABASE_URL: ${rule}`);
  expect(err.trimEnd()).not.toMatch(/geheim|shop:|\n/);
  expect([out, status]).toEqual(['', 78]);
  place.remove();
});

test.each([
  'postgres://shop:p%25zz%40%2F%3F%23@127.0.0.1:1/goods?sslmode=disable',
  'postgres://127.0.0.1:1/goods?sslmode=Prefer',
  'postgresql://shop@[::1]:1/a%20b?sslmode=verify_ca',
])('%s is accepted and tried', async address => {
  const place = await createPlace('sqlite', { DATABASE_URL: address });
  expect((await place.runHere(['users', 'list'])).err).toMatch(/^catalog users: .*PostgreSQL at /);
  place.remove();
});

/** A server without TLS, which refuses an SSLRequest. */
const withoutTls = () =>
  Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: socket => void socket.write('N') } });

test.each(['require', 'verify-full'])('sslmode=%s without TLS on the server names the server', async mode => {
  const server = withoutTls();
  const url = `postgres://shop:geheim@127.0.0.1:${server.port}/goods?sslmode=${mode}`;
  const place = await createPlace('sqlite', { DATABASE_URL: url });
  for (const args of [['users', 'list'], ['serve'], ['migrate']]) {
    const { err, status } = await place.runHere(args);
    const where = `PostgreSQL at 127.0.0.1:${server.port} (database goods)`;
    expect([status, err]).toEqual([1, `catalog ${args[0]}: ${where}: Server does not support SSL\n`]);
  }
  server.stop(true);
  place.remove();
});

test.each([
  ['postgres://shop@127.0.0.1:1', 'shop'],
  ['postgres://shop:geheim@127.0.0.1:1/?sslmode=disable', 'shop'],
  ['postgres://127.0.0.1:1/goods', 'goods'],
])('%s: a message names the database that is used', async (address, database) => {
  const place = await createPlace('sqlite', { DATABASE_URL: address });
  const { err } = await place.runHere(['users', 'list']);
  expect(err).toStartWith(`catalog users: PostgreSQL at 127.0.0.1:1 (database ${database}): `);
  place.remove();
});

test.skipIf(!hasPostgres).each(['LATIN1', 'SQL_ASCII'])(
  'a new database with the encoding %s is refused before anything is written to it',
  async encoding => {
    const DATABASE_URL = await createDatabase(
      ` encoding '${encoding}' lc_collate 'C' lc_ctype 'C' template template0`,
    );
    const place = await createPlace('sqlite', { DATABASE_URL });
    const file = place.file('p.csv', 'sku,name,price\nA-1,漢,1\n');
    const { status, err } = await place.runHere(['import', file]);
    expect({ status, err }).toEqual({
      status: 1,
      err: expect.stringContaining(
        `The encoding of the database is ${encoding}, and texts of a catalog need UTF8`,
      ),
    });
    expect((await place.runHere(['export'])).err).toContain('it has no table of migrations');
    place.remove();
  },
);

test.skipIf(!hasPostgres)('a new database on a server that is too old is refused', async () => {
  const place = await createPlace('postgresql');
  await withDatabaseOf(place, async database => {
    const server = sql<{ encoding: string; version: number }>`select 'UTF8' as encoding, 140023 as version`;
    const older = { ...database, dialect: { ...database.dialect, server } };
    await expectRejection(
      migrate(older, () => 1),
      'The server is PostgreSQL 14, and a catalog needs 15 or newer.',
    );
  });
  expect((await place.runHere(['export'])).err).toContain('it has no table of migrations');
  place.remove();
});
