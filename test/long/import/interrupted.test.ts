/** Imports beside a service, and imports that are killed and run again. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { administrator, expectExactTotals, records } from '../../cli/import/large-imports.ts';
import { createPlace, productsOf, waitFor, withDatabaseOf } from '../../cli/program.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { signIn } from '../../support/service/service.ts';

// Each test starts several processes.

describeOnDatabases('interrupted imports on %s', kind => {
  test('an import while the service runs: no write is lost, list totals are exact', async () => {
    const place = await createPlace(kind, {
      ...administrator,
      PORT: '0',
      HOST: '127.0.0.1',
      RATE_LIMIT: '1000000',
    });
    const server = place.start(['serve']);
    try {
      const [, url = ''] = await waitFor(server.stdout, /"address":"([^"]+)"/);
      const token = await signIn(url, administrator.ADMIN_EMAIL, administrator.ADMIN_PASSWORD);
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const total = async (query: string) => {
        const response = await fetch(`${url}/v1/products?perPage=1${query}`, { headers });
        return Number(/"total":(\d+)/.exec(await response.text())?.[1]);
      };
      let running = true;
      const imported = place.run(['import', place.file('p.ndjson', records(8000))]).finally(() => {
        running = false;
      });
      let posted = 0;
      while (running) {
        const body = JSON.stringify({ name: `Posted ${posted}`, price: 1, category: 'posted' });
        const response = await fetch(`${url}/v1/products`, { method: 'POST', headers, body });
        expect(response.status).toBe(201);
        await response.text();
        posted += 1;
        expect(await total('&category=posted')).toBe(posted);
      }
      expect((await imported).out).toContain('8,000 created');
      expect(posted).toBeGreaterThan(1);
      expect(await total('')).toBe(8000 + posted);
      expect(await total('&category=category%203')).toBe(1143);
      const search = async (query: string) => {
        const response = await fetch(`${url}/v1/search?q=${query}&perPage=1`, { headers });
        return Number(/"total":(\d+)/.exec(await response.text())?.[1]);
      };
      expect(await search('product')).toBe(8000);
      expect(await search('posted')).toBe(posted);
      expect(await search('7999')).toBe(1);
    } finally {
      server.kill('SIGTERM');
      await server.exited;
    }
    await expectExactTotals(place);
    place.remove();
  });

  test('an import killed midway and run again imports every record once', async () => {
    const place = await createPlace(kind);
    const file = place.file('p.ndjson', records(20_000));
    const child = place.start(['import', file, '--batch', '200']);
    await waitFor(child.stderr, /records done/);
    child.kill('SIGKILL');
    await child.exited;
    await expectExactTotals(place);
    const ended = await place.runHere(['import', file]);
    expect(ended.status).toBe(0);
    expect(ended.out).toMatch(/ [1-9][\d,]* unchanged/);
    const skus = (await productsOf(place)).map(product => product.sku);
    expect(skus.length).toBe(20_000);
    expect(new Set(skus).size).toBe(20_000);
    await expectExactTotals(place);
    place.remove();
  });

  test('skus that exist only from the middle of a file are updated, and all others created once', async () => {
    const place = await createPlace(kind);
    const old = records(600, true, 1700).replaceAll('"price":', '"price":1');
    expect((await place.runHere(['import', place.file('old.ndjson', old)])).out).toContain('600 created');
    const ended = await place.runHere(['import', place.file('p.ndjson', records(4000)), '--batch', '100']);
    expect(ended).toMatchObject({ status: 0, err: expect.not.stringContaining('failed') });
    expect(ended.out).toContain('3,400 created, 600 updated, 0 unchanged');
    const products = await productsOf(place);
    expect(products.map(({ sku }) => sku).sort()).toEqual(
      Array.from({ length: 4000 }, (_, index) => `S-${index}`).sort(),
    );
    for (const { sku, price } of products) expect(price).toBe(Number(sku?.slice(2)) % 97);
    const events = await withDatabaseOf(place, ({ read, build }) =>
      read.all(
        sql<{ type: string; count: number }>`select type, cast(count(*) as integer) as count from events
          where resource = 'product' group by type order by type`.compile(build),
      ),
    );
    expect(events).toEqual([
      { type: 'product.created', count: 4000 },
      { type: 'product.updated', count: 600 },
    ]);
    await expectExactTotals(place);
    place.remove();
  });

  test('an interrupted import resumes where its message says', async () => {
    const place = await createPlace(kind);
    const names = records(4000, false).trimEnd().split('\n');
    // Every hundredth record is refused, so the committed batch does not hold all records that were read.
    const text = names
      .map((line, index) => (index % 100 === 99 ? `${line}\n{"price":${index}}\n` : `${line}\n`))
      .join('');
    const rejects = place.file('rejects', '');
    const readRejects = async () => (await Bun.file(rejects).text()).trimEnd().split('\n');
    const command = ['import', '-', '--format', 'ndjson', '--rejects', rejects];
    const child = place.start([...command, '--batch', '450']);
    // The stream stays open, so the import is waiting for more when it is interrupted.
    child.stdin.write(text);
    await child.stdin.flush();
    await waitFor(child.stderr, /records done/);
    child.kill('SIGINT');
    const [, done = ''] = await waitFor(child.stderr, /interrupted; [\d,]+ records are done.*--skip (\d+) /);
    expect(await child.exited).toBe(130);
    expect((await productsOf(place)).length + (await readRejects()).length).toBe(Number(done));
    expect((await place.run([...command, '--skip', done], text)).status).toBe(2);
    const refused = await readRejects();
    expect([refused.length, new Set(refused).size]).toEqual([40, 40]);
    expect((await productsOf(place)).map(product => product.name)).toEqual(
      Array.from({ length: 4000 }, (_, index) => `Product ${index}`),
    );
    await expectExactTotals(place);
    place.remove();
  });
});
