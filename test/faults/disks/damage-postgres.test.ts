/** A page of PostgreSQL's files that the disk changed: checksums reveal it, and the service and its check report it. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { type Cluster, createCluster } from '../../../scripts/tests/postgresql.ts';
import { createPlace, type Place, waitFor } from '../../cli/program.ts';
import { type Call, call } from '../../support/http/http.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { signIn } from '../../support/service/service.ts';
import { conclude } from '../outcome.ts';

setDefaultTimeout(60_000);

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
const products = 1000;
const torn = 500;
/** Ids around the damage: more products than one page holds on either side. */
const asked = { first: torn - 100, last: torn + 100 };

/** Finds the file of the products, and those that are on other pages. Requires a server with checksums of pages. */
async function layoutOf({ url, folder }: Cluster): Promise<{ file: string; elsewhere: number[] }> {
  const admin = new SQL(url, { max: 1 });
  const [row] = await admin.unsafe(
    `select pg_relation_filepath('products') as path, current_setting('data_checksums') as sums`,
  );
  const page = '(ctid::text::point)[0]';
  const others: { id: number }[] = await admin.unsafe(
    `select id from products where ${page} <> (select ${page} from products where id = ${torn})
      and id between ${asked.first} and ${asked.last}`,
  );
  await admin.close();
  expect(row.sums).toBe('on');
  return { file: join(folder, row.path), elsewhere: others.map(({ id }) => id) };
}

function scribble(file: string, text: string): void {
  const at = readFileSync(file).indexOf(text);
  expect(at).toBeGreaterThan(0);
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, 'X', at);
  closeSync(descriptor);
}

/** @param elsewhere ids of products that are not on a damaged page */
async function serveWhatIsWhole(place: Place, elsewhere: readonly number[]): Promise<void> {
  const child = place.start(['serve', '--port', '0']);
  try {
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const token = await signIn(url, administrator.ADMIN_EMAIL);
    const service = { url, tokens: { admin: token, editor: token, user: token } };
    const ask = (request: Call) => call(service, { as: 'admin', ...request });
    const whole: number[] = [];
    const broken: string[] = [];
    let damaged = 0;
    for (let id = asked.first; id <= asked.last; id++) {
      const { status, body } = await ask({ path: `/v1/products/${id}` });
      if (status === 500 && body.error === 'DATABASE_DAMAGED') damaged++;
      else if (status === 200 && body.description === `Marker ${id} of a text`) whole.push(id);
      else broken.push(`${id}: ${status}`);
    }
    for (const request of [
      { path: '/v1/products?perPage=100&page=5' },
      { method: 'PATCH', path: `/v1/products/${torn}`, body: { price: 2 } },
    ]) {
      const { status, body } = await ask(request);
      expect([status, body.error]).toEqual([500, 'DATABASE_DAMAGED']);
      damaged++;
    }
    expect((await ask({ path: '/v1/products?perPage=100' })).body.data).toHaveLength(100);
    expect((await ask({ method: 'POST', path: '/v1/todos', body: { title: 'Restore' } })).status).toBe(201);
    const { text } = await ask({ path: '/metrics' });
    expect(text).toContain(`catalog_database_damage_total ${damaged}\n`);
    child.kill('SIGKILL');
    const lines = (await child.stdout.text()).split('\n').filter(line => line.includes('request failed'));
    expect(lines).toHaveLength(damaged);
    for (const line of lines) expect(line).toContain('invalid page in block');
    expect(whole).not.toContain(torn);
    const name = 'Damaged page: rows beside it';
    const done = 'one byte of a page is changed in the file (checksums on)';
    conclude(
      { name, done, database: 'PostgreSQL', rounds: 1 },
      { acknowledged: elsewhere, found: whole, broken },
    );
  } finally {
    child.kill('SIGKILL');
    await child.exited;
  }
}

test.skipIf(!hasPostgres)(
  'a damaged page of PostgreSQL is a 500 with its own code, a log line and a metric',
  async () => {
    const cluster = await createCluster({ settings: ['fsync=off', 'max_connections=50'] });
    const place = await createPlace('sqlite', {
      ...administrator,
      HOST: '127.0.0.1',
      RATE_LIMIT: '1000000',
      DATABASE_URL: cluster.url,
    });
    try {
      await cluster.start();
      const lines = Array.from({ length: products }, (_, i) => `Lamp ${i + 1},1,Marker ${i + 1} of a text`);
      const csv = place.file('in.csv', ['name,price,description', ...lines].join('\n'));
      expect(await place.run(['import', csv])).toMatchObject({ status: 0 });
      const { file, elsewhere } = await layoutOf(cluster);
      // A clean stop, so that everything is in the files.
      await cluster.stop();
      scribble(file, `Marker ${torn} of a text`);
      await cluster.start();
      await serveWhatIsWhole(place, elsewhere);
      const { status, out } = await place.run(['check']);
      expect(status).toBe(1);
      expect(out).toMatch(/^integrity: products: .*invalid page in block/m);
    } finally {
      await cluster.stop('SIGQUIT');
      cluster.remove();
      place.remove();
    }
  },
);
