/** Migrations are reported while they run, because an upgrade of a large catalog takes minutes. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { buildRelease } from '../../support/service/release.ts';
import { createCatalog, createPlace, csv, type Place, waitFor } from '../program.ts';

const step = { name: '9001-expand-colours', statement: 'create table colours (name text)' };

describeOnDatabases('a migration of a catalog in use on %s', kind => {
  let place: Place;
  let program: string;
  beforeEach(async () => {
    place = await createCatalog(kind, { HOST: '127.0.0.1', LOG_LEVEL: 'info' });
    program = buildRelease(place.folder, 'later', [step]);
  });
  afterEach(() => place.remove());

  test('is named in the log of serve as it begins', async () => {
    const child = place.start(['serve', '--port', '0'], [], program);
    await waitFor(child.stderr, /ready at (http:\S+)/);
    child.kill('SIGTERM');
    const lines = (await child.stdout.text()).split('\n');
    const named = lines.filter(line => line.includes('"migrating"'));
    expect(named.map(line => JSON.parse(line))).toMatchObject([{ level: 'info', migration: step.name }]);
    await child.exited;
  });

  test.each(['migrate', 'import'])('is named by %s on standard error', async name => {
    const child = place.start(name === 'import' ? [name, place.file('p.csv', csv)] : [name], [], program);
    expect(await child.stderr.text()).toStartWith(`catalog: migrating ${step.name}\n`);
    await child.exited;
  });
});

test('a new catalog has no log line for each migration', async () => {
  const fresh = await createPlace('sqlite');
  expect(await fresh.runHere(['migrate'])).toMatchObject({ status: 0, err: '' });
  fresh.remove();
});
