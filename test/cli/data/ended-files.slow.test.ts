/** A signal leaves nothing of the file that a command was writing; a kill leaves nothing beyond the next run. */
import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readNames } from '../../../src/secrets/private-files.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, type Place, type Running } from '../program.ts';

setDefaultTimeout(60_000);

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

const partialsOf = (folder: string): string[] =>
  readdirSync(folder).filter(name => name.includes('.partial'));

async function untilWriting(folder: string, running: Running): Promise<void> {
  const hasBegun = () => partialsOf(folder).some(name => readNames(join(folder, name)).length > 0);
  while (!hasBegun() && running.exitCode === null) await new Promise(resolve => setImmediate(resolve));
}

/** Sends the signal as soon as the command has started to write its file. */
async function signalWhileWriting(
  place: Place,
  args: readonly string[],
  signal: NodeJS.Signals,
  folder = place.folder,
) {
  const running = place.start(args);
  await untilWriting(folder, running);
  running.kill(signal);
  await running.exited;
  return { signal: running.signalCode, out: await running.stdout.text(), err: await running.stderr.text() };
}

describe('a backup', () => {
  let place: Place;
  let file: string;
  beforeAll(async () => {
    place = await createCatalog('sqlite');
    file = join(place.folder, 'nightly.db');
    using connection = new Connection(join(place.environment.DATA_DIR ?? '', 'catalog.db'));
    connection.run('create table filler (id integer primary key, bytes blob)');
    connection.run(`insert into filler (bytes) with recursive n (i) as (select 1 union all select i + 1 from n
      where i < 100000) select zeroblob(1000) from n`);
  });
  afterAll(() => place.remove());

  test.each(signals)('that is ended by %s leaves no file and reports it', async signal => {
    const ended = await signalWhileWriting(place, ['backup', file], signal);
    expect(ended).toEqual({
      signal,
      out: '',
      err: `catalog backup: ended by ${signal}; nothing was written to ${file}\n`,
    });
    expect([partialsOf(place.folder), existsSync(file)]).toEqual([[], false]);
  });

  test('that was killed leaves a partial file; the next backup to the same file removes only that', async () => {
    await signalWhileWriting(place, ['backup', file], 'SIGKILL');
    const [left] = partialsOf(place.folder);
    expect(left).toMatch(/^nightly\.db\.\d+\.partial$/);
    const kept = [`nightly.db.${process.pid}.partial`, 'nightly.db.x.partial', 'other.db.999999999.partial'];
    for (const name of kept) place.file(name, 'of others');
    const { status, out, err } = await place.run(['backup', file]);
    expect([status, out]).toEqual([0, expect.stringContaining('integrity checked')]);
    expect(err).toContain(
      `catalog backup: removed ${join(place.folder, left ?? '')}, left by a process that ended\n`,
    );
    expect(partialsOf(place.folder).sort()).toEqual(kept.sort());
    for (const name of [...kept, 'nightly.db']) rmSync(join(place.folder, name));
  });

  test('does not replace a file that another one has completed meanwhile', async () => {
    const running = place.start(['backup', file]);
    await untilWriting(place.folder, running);
    place.file('nightly.db', 'of another');
    expect([await running.exited, await running.stderr.text(), readFileSync(file, 'utf8')]).toEqual([
      1,
      `catalog backup: ${file} already exists; nothing was written\n`,
      'of another',
    ]);
    expect(partialsOf(place.folder)).toEqual([]);
    rmSync(file);
  });

  describe('that is restored', () => {
    let data: string;
    beforeAll(async () => {
      data = place.environment.DATA_DIR ?? '';
      expect(await place.runHere(['backup', file])).toMatchObject({ status: 0 });
    });
    afterAll(() => rmSync(file));

    test.each(signals)('and ended by %s leaves the database unchanged and reports it', async signal => {
      const before = readdirSync(data);
      const ended = await signalWhileWriting(place, ['restore', file], signal, data);
      expect(ended).toEqual({
        signal,
        out: '',
        err: `catalog restore: ended by ${signal}; nothing was written to ${join(data, 'catalog.db')}\n`,
      });
      expect(readdirSync(data)).toEqual(before);
    });

    test('and killed leaves a partial file, which the next restore removes', async () => {
      await signalWhileWriting(place, ['restore', file], 'SIGKILL', data);
      const [left] = partialsOf(data);
      const { status, err } = await place.run(['restore', file]);
      expect([status, err]).toEqual([
        0,
        `catalog restore: removed ${join(data, left ?? '')}, left by a process that ended\n`,
      ]);
      expect(partialsOf(data)).toEqual([]);
    });
  });

  test.skipIf(process.platform !== 'linux')('under nohup continues when its terminal is closed', async () => {
    const running = place.start(['backup', file], ['nohup']);
    await untilWriting(place.folder, running);
    running.kill('SIGHUP');
    expect([await running.exited, existsSync(file)]).toEqual([0, true]);
    rmSync(file);
  });
});

describeOnDatabases('an export to a file on %s', kind => {
  let place: Place;
  beforeAll(async () => {
    place = await createCatalog(kind);
    const rows = Array.from({ length: 5000 }, (_, index) => `S-${index},Lamp ${index},1`);
    await place.runHere(['import', place.file('all.csv', ['sku,name,price', ...rows].join('\n'))]);
  });
  afterAll(() => place.remove());

  test.each(signals)('that is ended by %s leaves the existing file unchanged and no other', async signal => {
    const file = place.file('products.csv', 'of the day before');
    const { err, ...ended } = await signalWhileWriting(place, ['export', '--output', file], signal);
    expect(ended).toEqual({ signal, out: '' });
    expect(err).toBe(`catalog export: ended by ${signal}; nothing was written to ${file}\n`);
    expect([partialsOf(place.folder), await Bun.file(file).text()]).toEqual([[], 'of the day before']);
  });
});
