/** Deletes events older than the retention period, and deliveries that were given up that long ago. */
import { sql } from 'kysely';
import { type Clock, dayMs } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import { prepareQuery } from '../storage/prepared.ts';
import { createSweep, longRowsAtOnce, removeInParts } from '../storage/table-rows.ts';
import { splitIntoParts } from '../turns/slices.ts';
import { subscriptions } from './subscriptions.ts';

/** Events per transaction, so that none holds up other writers for long. */
const batch = 500;

/** The place of an event in the order of time. */
type Place = { readonly created_at: number; readonly id: number };

/**
 * @param days undefined to keep everything
 * @returns functions that delete until `isStopping`, which is called between batches, and return how many rows they have
 *   deleted
 */
export function createRetention(database: Database, clock: Clock, days: number | undefined) {
  const { build, read, write } = database;
  const queues = sql.join(subscriptions.map(({ queue }) => sql.lit(queue)));
  // An index has these columns; those of the row follow its long texts.
  const oldEvents = prepareQuery<Place & { readonly before: number }, Place>(
    build,
    ({ before, created_at, id }) => sql`select created_at, id from events
      where created_at < ${before} and (created_at, id) > (${created_at}, ${id})
      order by created_at, id limit ${sql.lit(batch)}`,
  );
  const removeDeliveries = createSweep(
    database,
    { table: 'deliveries', key: ['id'], atOnce: longRowsAtOnce },
    'failed_at',
  );
  // The key and payload match those that outbox.record gives a delivery.
  const buildRemoval = (events: readonly Place[]) =>
    sql`delete from events where id in (${sql.join(events.map(({ id }) => id))})
      and not exists (select 1 from deliveries where queue in (${queues}) and failed_at is null
        and key = events.resource || ':' || events.resource_id and payload = cast(events.id as text))`.compile(
      build,
    );

  const removeEvents = (events: readonly Place[]): Promise<number> =>
    write(async session => {
      let removed = 0;
      for (const some of splitIntoParts(events, longRowsAtOnce))
        removed += await session.run(buildRemoval(some));
      return removed;
    });

  return {
    async events(isStopping: () => boolean): Promise<number> {
      let removed = 0;
      if (days === undefined) return removed;
      const before = clock.now() - days * dayMs;
      for (let last: Place = { created_at: 0, id: 0 }; !isStopping(); ) {
        const some = await read.all(oldEvents({ ...last, before }));
        const next = some.at(-1);
        if (next === undefined) break;
        removed += await removeEvents(some);
        last = next;
      }
      return removed;
    },
    async deliveries(isStopping: () => boolean): Promise<number> {
      if (days === undefined || isStopping()) return 0;
      // The last moment before the period, in whole milliseconds.
      const last = clock.now() - days * dayMs - 1;
      return removeInParts(() => write(session => removeDeliveries(session, last)), isStopping);
    },
  };
}
