/** Forgets events that are older than is wished, and with them deliveries that were given up as long ago. */
import { sql } from 'kysely';
import { type Clock, dayMs } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import { prepareQuery } from '../storage/prepared.ts';
import { subscriptions } from './subscriptions.ts';

/** Events per transaction: none keeps the writer for long. */
const batch = 500;

export interface Retention {
  /** @param isStopping called between batches */
  sweep(isStopping: () => boolean): Promise<{ readonly events: number; readonly deliveries: number }>;
}

/** @param days undefined: everything is kept */
export function createRetention(database: Database, clock: Clock, days: number | undefined): Retention {
  const { build } = database;
  const queues = sql.join(subscriptions.map(({ queue }) => sql.lit(queue)));
  const page = prepareQuery<{ after: number }, { id: number; created_at: number }>(build, argument =>
    build
      .selectFrom('events')
      .select(['id', 'created_at'])
      .where('id', '>', argument.after)
      .orderBy('id')
      .limit(batch),
  );
  // The key and the payload are those that outbox.record gives a delivery.
  const remove = prepareQuery<{ after: number; last: number; limit: number }, unknown>(
    build,
    argument => sql`delete from events where id > ${argument.after} and id <= ${argument.last} and created_at < ${argument.limit}
        and not exists (select 1 from deliveries where queue in (${queues}) and failed_at is null
          and key = events.resource || ':' || events.resource_id and payload = cast(events.id as text))`,
  );

  return {
    async sweep(isStopping) {
      let events = 0;
      if (days === undefined) return { events, deliveries: 0 };
      const limit = clock.now() - days * dayMs;
      let after = 0;
      while (!isStopping()) {
        // In order of id, which is nearly that of time: it ends at the first batch with nothing old in it.
        const rows = await database.read.all(page({ after }));
        const last = rows.at(-1)?.id;
        if (last === undefined || rows.every(({ created_at }) => created_at >= limit)) break;
        const start = after;
        events += await database.write(session => session.run(remove({ after: start, last, limit })));
        after = last;
      }
      const givenUp = build.deleteFrom('deliveries').where('failed_at', '<', limit).compile();
      return { events, deliveries: await database.write(session => session.run(givenUp)) };
    },
  };
}
