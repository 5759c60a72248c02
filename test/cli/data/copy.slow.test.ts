/** `catalog copy` moves a catalog from the embedded database to PostgreSQL, where its service continues. */
import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { awaitNames } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { operations, performing } from '../../support/http/operations.ts';
import { walkOf, webhookSecret } from '../../support/http/walk.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { serviceSecret, startTestService, type TestService } from '../../support/service/service.ts';
import { createPlace, type Ended, type Place } from '../program.ts';

// Each test starts several processes.
setDefaultTimeout(120_000);

const marks = 'tab\tline\nback\\slash \\N "quoted" {a,b} ’ äß 漢 🎉';
const oneRequest = { method: 'POST', as: 'admin' } as const;

describe.skipIf(!hasPostgres)('catalog copy', () => {
  let service: TestService;
  let source: Place;
  let target: Place;
  let whileOpen: Ended;
  let copied: Ended;
  let before: ReadonlyMap<string, unknown>;
  /** The id of a deleted product. */
  let deleted = 0;

  const folder = mkdtempSync(join(tmpdir(), 'catalog-copy-'));
  const settings = { DATA_DIR: folder, JWT_SECRET: serviceSecret };
  const lists = operations.filter(
    ({ method, operationId, path }) =>
      method === 'GET' && operationId.startsWith('list') && !path.includes('{'),
  );
  const searches = ['/v1/search?q=backslash', '/v1/search/suggest?q=back', '/v1/products?category=stock'];

  async function readAll(of: TestService): Promise<ReadonlyMap<string, unknown>> {
    // Until the names are in memory, suggestions have other scores.
    await awaitNames(of);
    const found = new Map<string, unknown>();
    for (const path of [...lists.map(({ path }) => path), ...searches])
      found.set(path, (await call(of, { path, as: 'admin' })).body);
    return found;
  }

  async function fill(): Promise<void> {
    // Before any other product: the last id must be that of the deleted one.
    await awaitNames(service);
    const walk = await walkOf(service, operations);
    for (const operation of performing.filter(({ method }) => method === 'POST'))
      await walk.send(operation, await walk.existingPath(operation));
    const product = {
      name: `Backslash ${marks}`,
      price: 0.1,
      category: 'stock > deep',
      attributes: { marks },
    };
    const creation = { ...oneRequest, path: '/v1/products', body: product };
    await call(service, creation);
    deleted = (await call(service, creation)).body.id;
    await call(service, { method: 'DELETE', path: `/v1/products/${deleted}`, as: 'admin' });
    await service.settle();
  }

  beforeAll(async () => {
    service = await startTestService('sqlite', {
      DATA_DIR: folder,
      BASE_URL: 'https://shop.example',
      STRIPE_WEBHOOK_SECRET: webhookSecret,
    });
    await fill();
    before = await readAll(service);
    source = await createPlace('sqlite', settings);
    target = await createPlace('postgresql', settings);
    // In a process of its own: locks do not exclude the process that holds them.
    whileOpen = await target.run(['copy']);
    await service.stop();
    copied = await target.run(['copy']);
  });
  afterAll(async () => {
    await service.stop();
    for (const place of [source, target]) place.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test('does nothing while a service has the embedded database open', () => {
    expect(whileOpen).toEqual({
      status: 1,
      out: '',
      err: expect.stringMatching(
        /catalog\.db is in use by .*; stop the service first\. Nothing was changed$/m,
      ),
    });
  });

  test('copies everything, and check finds no problems in the copy', async () => {
    const out =
      /^copied [\d,]+ products, [\d,]+ variants?, [\d,]+ users, .* events and everything that belongs to them$/m;
    expect(copied).toEqual({ status: 0, err: '', out: expect.stringMatching(out) });
    expect(await target.runHere(['check'])).toEqual({
      status: 0,
      err: '',
      out: expect.stringMatching(/^no problems found/),
    });
  });

  test('a service on the copy has the same lists, accepts the same tokens and continues the ids', async () => {
    await using moved = await service.replica({ DATABASE_URL: target.environment.DATABASE_URL ?? '' });
    const after = await readAll(moved);
    for (const [path, body] of before) expect({ path, body: after.get(path) }).toEqual({ path, body });
    const created = await call(moved, {
      ...oneRequest,
      path: '/v1/products',
      body: { name: 'New', price: 1 },
    });
    expect(created.status).toBe(201);
    expect(created.body.id).toBe(deleted + 1);
  });

  test('refuses a database that has rows, and leaves it unchanged', async () => {
    expect(await target.runHere(['copy'])).toEqual({
      status: 1,
      out: '',
      err: 'catalog copy: the database of DATABASE_URL is not empty: users has rows; name an empty one\n',
    });
    expect((await target.runHere(['check'])).status).toBe(0);
  });

  test('requires a target database, and the secret that signs the tokens', async () => {
    expect(await source.runHere(['copy'])).toEqual({
      status: 1,
      out: '',
      err: 'catalog copy: DATABASE_URL is not set: it names the PostgreSQL database to copy into\n',
    });
    const secret = 'another secret that is long enough for HS256';
    for (const [settings, reason] of [
      [{}, 'JWT_SECRET is not the secret in'],
      [{ JWT_PREVIOUS_SECRETS: secret }, 'there is no database in'],
    ] as const) {
      const place = await createPlace('postgresql', settings);
      mkdirSync(join(place.folder, 'data'));
      writeFileSync(join(place.folder, 'data', 'jwt-secret'), secret);
      const { status, err } = await place.runHere(['copy']);
      expect([status, err]).toEqual([1, expect.stringContaining(reason)]);
      place.remove();
    }
  });

  test('refuses a target of an earlier release without migrating it, and a source that is no catalog', async () => {
    const place = await createPlace('postgresql', settings);
    await place.runHere(['migrate']);
    const sql = new Bun.SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
    const countMigrations = async () => (await sql`select name from migrations order by name`).length;
    await sql`delete from migrations where name = (select max(name) from migrations)`;
    const before = await countMigrations();
    const { status, err } = await place.runHere(['copy']);
    expect({ status, err }).toEqual({ status: 1, err: expect.stringContaining('lacks the migration') });
    expect(await countMigrations()).toBe(before);
    await sql.close();
    place.remove();

    const other = await createPlace('postgresql');
    mkdirSync(join(other.folder, 'data'));
    const file = new Connection(join(other.folder, 'data', 'catalog.db'));
    file.run('create table other (id integer)');
    file.close();
    expect(await other.runHere(['copy'])).toEqual({
      status: 1,
      out: '',
      err: expect.stringContaining('catalog.db is not a Catalog database'),
    });
    other.remove();
  });

  test('names a row that refers to a missing one, and copies nothing', async () => {
    const place = await createPlace('postgresql', settings);
    const change = (statement: string) => {
      using file = new Connection(join(folder, 'catalog.db'));
      file.run('pragma foreign_keys = off');
      file.run(statement);
    };
    change(`insert into reviews (product_id, user_id, author_name, rating, created_at, updated_at)
      select 9999, min(id), 'X', 5, 0, 0 from users`);
    const { status, err } = await place.runHere(['copy']);
    change('delete from reviews where product_id = 9999');
    expect([status, err]).toEqual([
      1,
      'catalog copy: the embedded database is damaged: 1 row of reviews refers by product_id to products that do not ' +
        'exist, such as 9999. Nothing was copied. catalog check, with DATABASE_URL unset, finds all such rows: restore ' +
        'a backup, or fix them by hand\n',
    ]);
    place.remove();
  });

  test('copies nothing when a row is refused', async () => {
    const place = await createPlace('postgresql', settings);
    await place.runHere(['migrate']);
    const sql = new Bun.SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
    await sql`alter table notifications add constraint none check (id < 0)`;
    expect((await place.runHere(['copy'])).status).toBe(1);
    expect([...(await sql`select count(*)::integer as total from users`)]).toEqual([{ total: 0 }]);
    await sql.close();
    place.remove();
  });
});
