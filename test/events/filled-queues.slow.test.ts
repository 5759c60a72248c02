/** A queue that fills suddenly after having been empty, while PostgreSQL still uses plans made for the empty one. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { sql } from 'kysely';
import { describeOnDatabases } from '../support/service/databases.ts';
import { deliveriesOn, external } from './deliveries.ts';

// Tens of thousands of rows are written.
setDefaultTimeout(60_000);

/** Too many rows for PostgreSQL to compare each with each within the statement timeout. */
const total = 60_000;

describeOnDatabases('queues that fill on %s', kind => {
  const on = deliveriesOn(kind);
  const { newQueue, dispatcherOf } = on;

  test('the first of very many deliveries is found, although the table was empty when it was analyzed', async () => {
    const queue = newQueue();
    const arrived = Promise.withResolvers<string>();
    const dispatcher = dispatcherOf([
      external(queue, async payload => {
        arrived.resolve(payload);
        void dispatcher.stop();
      }),
    ]);
    const { build, read, write } = on.service.database;
    // As autovacuum does.
    if (kind === 'postgresql') await read.all(sql`vacuum analyze deliveries`.compile(build));
    // Poll until PostgreSQL uses generic plans for all prepared statements.
    for (let polls = 0; polls < 10; polls++) await dispatcher.settle();
    const numbers = sql`with recursive numbers as (select 1 as number union all
      select number + 1 from numbers where number < ${sql.lit(total)})`;
    await write(session =>
      session.run(
        sql`insert into deliveries (queue, key, payload, attempts, due_at, created_at)
          ${numbers} select cast(${queue} as text), cast(number as text), cast(number as text), 0, 0, 0 from numbers`.compile(
          build,
        ),
      ),
    );
    await dispatcher.settle();
    expect(await arrived.promise).toBe('1');
    await write(session => session.run(sql`delete from deliveries where queue = ${queue}`.compile(build)));
  });
});
