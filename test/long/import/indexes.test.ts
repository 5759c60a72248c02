/** Large imports into empty catalogs: indexes are built at the end, and nothing is lost when the end is not reached. */

import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { sql } from 'kysely';
import { deferIndexes, prepareLoad } from '../../../src/storage/sqlite/deferred-indexes.ts';
import { administrator, expectExactTotals, records } from '../../cli/import/large-imports.ts';
import {
  createPlace,
  type Place,
  productsOf,
  untilThereAre,
  waitFor,
  withDatabaseOf,
} from '../../cli/program.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { signIn } from '../../support/service/service.ts';

// Each test starts several processes.

describe('indexes that a large import leaves out', () => {
  const indexesOf = (file: string) => {
    using connection = new Database(file, { readonly: true });
    const query =
      "select name, sql from sqlite_master where type = 'index' and sql is not null order by name";
    return connection.query<{ name: string; sql: string }, []>(query).all();
  };

  test('do not stop the service after a kill: it finds every imported product, and searches do not delay it', async () => {
    const settings = { ...administrator, PORT: '0', HOST: '127.0.0.1', RATE_LIMIT: '1000000' };
    const place = await createPlace('sqlite', settings);
    const child = place.start(['import', place.file('p.ndjson', records(100_000)), '--batch', '500']);
    await waitFor(child.stderr, /records done/);
    // Wait for more records than a search may read in passing; by then the indexes are left out.
    await untilThereAre(21_000, place);
    child.kill('SIGKILL');
    await child.exited;
    const server = place.start(['serve']);
    try {
      const [, url = ''] = await waitFor(server.stdout, /"address":"([^"]+)"/);
      const token = await signIn(url, administrator.ADMIN_EMAIL, administrator.ADMIN_PASSWORD);
      const get = async (path: string) => {
        const response = await fetch(`${url}/v1${path}`, { headers: { Authorization: `Bearer ${token}` } });
        expect(response.status).toBe(200);
        // Boundary: responses of the service, of which the expectations below check the named members.
        return (await response.json()) as { data: { title: string }[]; meta: { total: number } };
      };
      const { meta } = await get('/products?perPage=1');
      expect(meta.total).toBeGreaterThanOrEqual(21_000);
      // A common word, its beginning, several words, and below the beginning of very many words.
      for (const query of ['product', 'produ', 'category+product']) {
        expect((await get(`/search?q=${query}`)).meta.total).toBe(meta.total);
      }
      const numbers = Array.from({ length: meta.total }, (_, index) => index);
      const beginning = numbers.filter(number => String(number).startsWith('12'));
      expect((await get('/search?q=12')).meta.total).toBe(beginning.length);
      // A single character is not matched as a beginning.
      const third = numbers.filter(number => number % 7 === 3);
      expect((await get('/search?q=category+3')).meta.total).toBe(third.length);
      const deep = await get(`/search?q=product&page=${Math.floor((meta.total - 1) / 20) + 1}`);
      expect(deep.data.at(-1)?.title).toBe(`Product ${meta.total - 1}`);
    } finally {
      server.kill('SIGTERM');
      await server.exited;
    }
    place.remove();
  });

  test('are built at its end, or after a crash by the next migration', async () => {
    const place = await createPlace('sqlite');
    const file = join(place.folder, 'data', 'catalog.db');
    await place.runHere(['migrate']);
    const before = indexesOf(file).map(({ name }) => name);
    const ended = await place.runHere(['import', place.file('p.ndjson', records(12_000))]);
    expect(ended.err).toContain('catalog import: built ');
    expect(indexesOf(file).map(({ name }) => name)).toEqual(before);

    prepareLoad(file);
    expect(deferIndexes(file, ['products', 'events'])).toBe(true);
    expect(indexesOf(file).length).toBeLessThan(before.length);
    const { out } = await place.runHere(['migrate']);
    expect(out).toMatch(/^built \d indexes that an import had left out$/m);
    expect(indexesOf(file).map(({ name }) => name)).toEqual(before);
    place.remove();
  });

  test('are waited for by a start while another process builds them, however long that takes', async () => {
    const place = await createPlace('sqlite', { ...administrator, PORT: '0', HOST: '127.0.0.1' });
    const file = join(place.folder, 'data', 'catalog.db');
    await place.runHere(['migrate']);
    prepareLoad(file);
    expect(deferIndexes(file, ['products', 'events'])).toBe(true);
    using building = new Database(file);
    building.run('begin immediate');
    const server = place.start(['serve']);
    // Longer than a request may wait.
    await Promise.race([server.exited, Bun.sleep(12_000)]);
    building.run('rollback');
    try {
      await waitFor(server.stdout, /"message":"serving"/);
    } finally {
      server.kill('SIGTERM');
      await server.exited;
    }
    place.remove();
  });
});

describe.skipIf(!hasPostgres)(
  'indexes that a large import into an empty PostgreSQL database leaves out',
  () => {
    const settings = { ...administrator, PORT: '0', HOST: '127.0.0.1' };
    const indexesOf = (place: Place) =>
      withDatabaseOf(place, ({ read, build }) =>
        read.all(
          sql<{ statement: string }>`select pg_get_indexdef(indexrelid) as statement from pg_index
          where indrelid::regclass::text not like 'pg_%' order by 1`.compile(build),
        ),
      );
    const lefts = sql<{ found: boolean }>`select to_regclass('deferred_indexes') is not null as found`;
    const isDeferred = (place: Place) =>
      withDatabaseOf(place, async ({ read, build }) => (await read.first(lefts.compile(build)))?.found);

    /**
     * Starts an import that waits for more input, and waits until it has left indexes out: when it reports the refused
     * record, those before it are stored. A query could not find that out, because its connection would count.
     */
    async function startDeferred(place: Place) {
      const child = place.start(['import', '-', '--format', 'ndjson', '--batch', '1000']);
      child.stdin.write(`${records(8000)}{"price":"none"}\n${records(2000, true, 8000)}`);
      await child.stdin.flush();
      await waitFor(child.stderr, /price/);
      return child;
    }

    test('are built at its end', async () => {
      const place = await createPlace('postgresql');
      await place.runHere(['migrate']);
      const before = await indexesOf(place);
      const ended = await place.run(['import', place.file('p.ndjson', records(12_000))]);
      expect(ended.err).toContain('catalog import: built ');
      expect(await indexesOf(place)).toEqual(before);
      expect(await isDeferred(place)).toBe(false);
      // A catalog with products keeps its indexes.
      const more = await place.run(['import', place.file('q.ndjson', records(8000, true, 12_000))]);
      expect(more).toMatchObject({ status: 0, err: expect.not.stringContaining('built') });
      await expectExactTotals(place);
      place.remove();
    });

    test('are built by the same import when it is run again after a kill', async () => {
      const place = await createPlace('postgresql');
      await place.runHere(['migrate']);
      const before = await indexesOf(place);
      const child = await startDeferred(place);
      child.kill('SIGKILL');
      await child.exited;
      expect((await indexesOf(place)).length).toBeLessThan(before.length);
      const ended = await place.run(['import', place.file('p.ndjson', records(14_000))]);
      expect(ended).toMatchObject({ status: 0, err: expect.stringContaining('catalog import: built ') });
      expect((await productsOf(place)).length).toBe(14_000);
      expect(await indexesOf(place)).toEqual(before);
      await expectExactTotals(place);
      place.remove();
    });

    test('are built by a service that starts during the import, which continues with them', async () => {
      const place = await createPlace('postgresql', settings);
      await place.runHere(['migrate']);
      const before = await indexesOf(place);
      const child = await startDeferred(place);
      expect(await isDeferred(place)).toBe(true);
      const server = place.start(['serve']);
      try {
        const [, url = ''] = await waitFor(server.stdout, /"address":"([^"]+)"/);
        expect(await indexesOf(place)).toEqual(before);
        child.stdin.write(records(6000, true, 10_000));
        await child.stdin.end();
        const token = await signIn(url, administrator.ADMIN_EMAIL, administrator.ADMIN_PASSWORD);
        // Status 2: a record was rejected.
        expect(await child.exited).toBe(2);
        const found = await fetch(`${url}/v1/search?q=product&perPage=1`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        expect(await found.text()).toContain('"total":16000');
        expect(await indexesOf(place)).toEqual(before);
      } finally {
        server.kill('SIGTERM');
        await server.exited;
      }
      await expectExactTotals(place);
      place.remove();
    });

    test('are kept when a service is already running', async () => {
      const place = await createPlace('postgresql', settings);
      const server = place.start(['serve']);
      try {
        await waitFor(server.stdout, /"address":"([^"]+)"/);
        const before = await indexesOf(place);
        const ended = await place.run(['import', place.file('p.ndjson', records(12_000))]);
        expect(ended).toMatchObject({ status: 0, err: expect.not.stringContaining('built') });
        expect(await indexesOf(place)).toEqual(before);
      } finally {
        server.kill('SIGTERM');
        await server.exited;
      }
      place.remove();
    });
  },
);
