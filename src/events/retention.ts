/** Deletes events older than the retention period, and deliveries that were given up that long ago. */
import { type RawBuilder, sql } from 'kysely';
import { type Clock, dayMs } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import { prepareQuery } from '../storage/prepared.ts';
import { subscriptions } from './subscriptions.ts';

/** Rows per transaction, so that none holds up other writers for long. */
const batch = 500;

/** @param isStopping called between batches @returns how many rows were deleted */
type Forget = (isStopping: () => boolean) => Promise<number>;

export interface Retention {
  readonly events: Forget;
  readonly deliveries: Forget;
}

/** @param days undefined to keep everything */
export function createRetention(database: Database, clock: Clock, days: number | undefined): Retention {
  const { build, read, write } = database;
  const queues = sql.join(subscriptions.map(({ queue }) => sql.lit(queue)));

  /** @param isOld which rows to delete, among those read in order of id, which is nearly chronological */
  function createForget(
    table: 'events' | 'deliveries',
    isOld: (limit: RawBuilder<number>) => RawBuilder<unknown>,
  ): Forget {
    const rows = sql.table(table);
    const page = prepareQuery<{ after: number }, { id: number; created_at: number }>(
      build,
      ({ after }) =>
        sql`select id, created_at from ${rows} where id > ${after} order by id limit ${sql.lit(batch)}`,
    );
    const remove = prepareQuery<{ after: number; last: number; limit: number }, unknown>(
      build,
      ({ after, last, limit }) =>
        sql`delete from ${rows} where id > ${after} and id <= ${last} and ${isOld(limit)}`,
    );
    return async isStopping => {
      let forgotten = 0;
      if (days === undefined) return forgotten;
      const limit = clock.now() - days * dayMs;
      for (let after = 0; !isStopping(); ) {
        const some = await read.all(page({ after }));
        const last = some.at(-1)?.id;
        // Stops at the first batch without an old row.
        if (last === undefined || some.every(({ created_at }) => created_at >= limit)) break;
        const start = after;
        forgotten += await write(session => session.run(remove({ after: start, last, limit })));
        after = last;
      }
      return forgotten;
    };
  }

  return {
    // The key and payload match those that outbox.record gives a delivery.
    events: createForget(
      'events',
      limit => sql`created_at < ${limit}
        and not exists (select 1 from deliveries where queue in (${queues}) and failed_at is null
          and key = events.resource || ':' || events.resource_id and payload = cast(events.id as text))`,
    ),
    deliveries: createForget('deliveries', limit => sql`failed_at < ${limit}`),
  };
}
