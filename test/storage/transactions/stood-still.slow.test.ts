/** When a process stands still within a transaction, the server rolls it back, and the service runs it again. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { loadConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';

const settings = async () =>
  loadConfig({
    JWT_SECRET: 'a secret of at least thirty-two characters',
    DATABASE_URL: await createDatabase(),
  });

/** Blocks the whole process. */
function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describe.skipIf(!hasPostgres)('a transaction in which the process stood still', () => {
  test.each([
    ['a write by itself', {}],
    ['the counting of requests', { reservedConnection: true }],
    ['a write that shares a transaction', { touches: ['row'] }],
  ])('%s is run again and takes effect once', async (_, options) => {
    const database = openDatabase(await settings());
    const { build, read, write } = database;
    await write(session => session.run(sql`create table written (at integer)`.compile(build)));
    let runs = 0;
    const result = await write(async session => {
      runs++;
      await session.run(sql`insert into written values (${sql.lit(runs)})`.compile(build));
      if (runs === 1) {
        // Every session has this limit; a shorter one saves waiting.
        await session.run(sql`set local idle_in_transaction_session_timeout = 20`.compile(build));
        standStill(60);
      }
      await session.run(sql`select 1`.compile(build));
      return runs;
    }, options);
    expect([result, runs]).toEqual([2, 2]);
    expect(await read.all(sql`select at from written`.compile(build))).toEqual([{ at: 2 }]);
    await database.close();
  });

  test('that works for longer between two statements, with turns for others, continues', async () => {
    const database = openDatabase(await settings());
    const { build, write } = database;
    let runs = 0;
    const silent = 900;
    const result = await write(async session => {
      runs++;
      await session.run(
        sql`set local idle_in_transaction_session_timeout = ${sql.lit(silent)}`.compile(build),
      );
      const begun = performance.now();
      while (performance.now() - begun < 1.5 * silent) await new Promise(resolve => setTimeout(resolve, 1));
      return session.first(sql<{ one: number }>`select 1 as one`.compile(build));
    });
    expect([result, runs]).toEqual([{ one: 1 }, 1]);
    await database.close();
  });

  test('that stands still on every attempt is given up in the end', async () => {
    const database = openDatabase(await settings());
    const { build, write } = database;
    let runs = 0;
    const failed = write(async session => {
      runs++;
      await session.run(sql`set local idle_in_transaction_session_timeout = 20`.compile(build));
      standStill(60);
      await session.run(sql`select 1`.compile(build));
    });
    expect(await failed.catch(({ kind }) => kind)).toBe('unavailable');
    expect(runs).toBe(4);
    await database.close();
  });
});
