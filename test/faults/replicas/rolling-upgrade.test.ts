/**
 * Successive releases on one PostgreSQL, as docs/operation.md describes: one that only adds (expand) starts beside the
 * previous one; one that removes (contract) takes releases out of service that do not know it.
 */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { createPlace, type Place, type Running, waitFor } from '../../cli/program.ts';
import { signIn } from '../../support/data/sign-in.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { buildRelease } from '../../support/service/release.ts';
import { readNames, startLoad } from '../load.ts';
import { conclude } from '../outcome.ts';

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
const category = 'upgrade';

const expansion = { name: '9001-expand-colours', statement: 'alter table products add column colour text' };
const contraction = { name: '9002-no-notes', statement: 'alter table products drop column colour' };

interface Replica {
  readonly child: Running;
  readonly url: string;
}

async function ready(child: Running): Promise<Replica> {
  const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
  return { child, url };
}

describe.skipIf(!hasPostgres)('a rolling upgrade', () => {
  test('old replicas serve beside a release that only adds to the schema, and not beside one that removes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'catalog-releases-'));
    const place = await createPlace('postgresql', {
      ...{ ...administrator, HOST: '127.0.0.1', RATE_LIMIT: '1000000', LOG_LEVEL: 'error' },
    });
    const running: Running[] = [];
    const start = (program?: string): Running => {
      const child = place.start(['serve', '--port', '0'], [], program);
      running.push(child);
      return child;
    };
    try {
      await upgrade(place, start, {
        adds: buildRelease(folder, 'next', [expansion]),
        takesAway: buildRelease(folder, 'after-next', [expansion, contraction]),
      });
    } finally {
      for (const child of running) child.kill('SIGKILL');
      for (const child of running) await child.exited;
      place.remove();
      rmSync(folder, { recursive: true });
    }
  });
});

async function upgrade(
  place: Place,
  start: (program?: string) => Running,
  later: { readonly adds: string; readonly takesAway: string },
): Promise<void> {
  const replicas = [await ready(start())];
  const [{ url: oldUrl } = { url: '' }] = replicas;
  const token = await signIn(oldUrl, administrator.ADMIN_EMAIL);
  const load = startLoad(category, {
    url: writer => replicas[writer % replicas.length]?.url ?? oldUrl,
    token: () => token,
  });
  await load.acknowledge(50);

  // The migration waits for readers of the table, but nothing waits for the migration.
  const reader = new SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
  await reader.unsafe('begin; select count(*) from products');
  const migrating = start(later.adds);
  const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%add column colour%'`;
  const observer = new SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
  while ((await observer.unsafe(waits)).length === 0);
  await load.acknowledge(100);
  await reader.unsafe('commit');
  replicas.push(await ready(migrating));
  await load.acknowledge(100);

  // An old replica that starts only now, as when a machine is replaced during the upgrade.
  replicas.push(await ready(start()));
  await load.acknowledge(100);
  for (const { url } of replicas) expect((await fetch(`${url}/ready`)).status).toBe(200);
  await load.stop();

  const last = await ready(start(later.takesAway));
  expect((await fetch(`${last.url}/ready`)).status).toBe(200);
  for (const { url } of replicas) {
    const refused = await fetch(`${url}/ready`);
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining(contraction.name)]);
  }
  const old = start();
  const [line = '', ...more] = (await old.stderr.text()).trimEnd().split('\n');
  expect([await old.exited, line, more]).toEqual([
    ...[1, expect.stringContaining(`does not know its migration ${contraction.name}: start the release`), []],
  ]);
  await reader.close();
  await observer.close();

  const { names, broken } = await readNames(last.url, token, category);
  const name = 'Rolling upgrade';
  const done = 'a release that adds a column is started beside the one before, an old one after it';
  conclude(
    { name, done, database: 'PostgreSQL', rounds: 1 },
    { acknowledged: load.acknowledged, found: names, broken: [...load.broken, ...broken] },
  );
}
