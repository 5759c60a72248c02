/** `catalog check` on PostgreSQL is not subject to the limits of requests: a statement may read a whole table. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { hasPostgres } from '../../support/service/postgres.ts';
import { createCatalog, type Place } from '../program.ts';

/** Seconds; the client of the database, which polls, cancels a statement at most half a second later. */
const timeout = 1;
const longer = timeout + 0.7;

describe.skipIf(!hasPostgres)('a check whose statement takes longer than DATABASE_TIMEOUT', () => {
  let place: Place;
  let other: SQL;
  beforeEach(async () => {
    place = await createCatalog('postgresql', { DATABASE_TIMEOUT: String(timeout) });
    other = new SQL(place.environment.DATABASE_URL ?? '', { max: 2 });
  });
  afterEach(async () => {
    await other.close();
    place.remove();
  });

  /** Locks a table that only the reading of all values concerns: the statement that reads it takes long while `work` runs. */
  const whileLocked = <T>(work: () => Promise<T>): Promise<T> =>
    other.begin(async session => {
      await session`lock table quotas in access exclusive mode`;
      return work();
    });

  test('waits for it', async () => {
    const check = place.start(['check'], ['env', 'DATABASE_LOCK_TIMEOUT=25']);
    await whileLocked(async () => {
      const waits = () => other`select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and now() - query_start > make_interval(secs => ${longer})`;
      while (check.exitCode === null && (await waits()).count === 0);
    });
    expect(await check.stdout.text()).toStartWith('no problems found');
    expect(await check.exited).toBe(0);
  });

  test('fails, and reports no damage, if a lock is held for longer than DATABASE_LOCK_TIMEOUT', async () => {
    const check = place.start(['check'], ['env', 'DATABASE_LOCK_TIMEOUT=1']);
    await whileLocked(async () => void (await check.exited));
    expect([check.exitCode, await check.stdout.text(), await check.stderr.text()]).toEqual([
      ...[1, ''],
      expect.stringMatching(/^catalog check: PostgreSQL at \S+ \(database \w+\): .*lock timeout\n$/),
    ]);
  });
});
