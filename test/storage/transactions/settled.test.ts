/** Each transaction of a group learns its own outcome, and the next group runs in any case. */
import { Database as Connection } from 'bun:sqlite';
import { expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { loadConfig } from '../../../src/config.ts';
import type { Database, WriteOptions } from '../../../src/storage/database.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import { expectRejection } from '../../support/http/rejection.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createDatabase } from '../../support/service/postgres.ts';

/** An empty database, closed and removed at the end of the block. */
async function openEmpty(settings: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-settled-'));
  const secret = 'a secret of at least thirty-two characters';
  const database = openDatabase(loadConfig({ JWT_SECRET: secret, DATA_DIR: folder, ...settings }));
  await database.write(session =>
    session.run(sql`create table written (name varchar(200) unique)`.compile(database.build)),
  );
  return {
    database,
    async [Symbol.asyncDispose]() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const insert = (database: Database, name: string, options?: WriteOptions, effect = () => undefined) =>
  database.write(async session => {
    session.onCommit(effect);
    await session.run(sql`insert into written (name) values (${name})`.compile(database.build));
    return name;
  }, options);

async function namesOf({ read, build }: Database): Promise<string[]> {
  return (await read.all(sql<{ name: string }>`select name from written order by name`.compile(build))).map(
    ({ name }) => name,
  );
}

describeOnDatabases('effects on %s', kind => {
  test.each<WriteOptions | undefined>([{ touches: [] }, undefined])(
    'a failed effect is reported once, by its own transaction and no other of the group: %j',
    async options => {
      await using opened = await openEmpty(kind === 'sqlite' ? {} : { DATABASE_URL: await createDatabase() });
      const { database } = opened;
      let calls = 0;
      const fail = () => {
        calls += 1;
        throw new Error('not kept');
      };
      const [before, failed, after] = [
        insert(database, 'before', options),
        insert(database, 'failed', options, fail),
        insert(database, 'next', options),
      ];
      await expectRejection(failed, 'not kept');
      expect([await before, await after, calls]).toEqual(['before', 'next', 1]);
      expect(await namesOf(database)).toEqual(['before', 'failed', 'next']);
    },
  );
});

test('a transaction that cannot be rolled back ends, and so do later ones', async () => {
  await using opened = await openEmpty();
  const { database } = opened;
  const { prepare } = Connection.prototype;
  const broken = spyOn(Connection.prototype, 'prepare').mockImplementation(function (
    this: Connection,
    text: string,
    ...rest: unknown[]
  ) {
    if (text === 'ROLLBACK') throw new Error('disk I/O error');
    return Reflect.apply(prepare, this, [text, ...rest]);
  });
  await insert(database, 'before');
  await expectRejection(insert(database, 'before'), 'UNIQUE constraint failed');
  await expectRejection(insert(database, 'meanwhile'), 'within a transaction');
  broken.mockRestore();
  // This write finds the transaction that is still open, and ends it.
  await expectRejection(insert(database, 'finding'), 'within a transaction');
  await insert(database, 'after');
  expect(await namesOf(database)).toEqual(['after', 'before']);
});
