/**
 * Makes deliveries due that were postponed before the clock was set back. They would otherwise wait until the clock has
 * caught up.
 */
import type { Log } from '../operations/log.ts';
import { type Clock, maxClockSkewMs } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import { type Consumer, maxPauseMs } from './dispatcher.ts';

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly consumers: readonly Consumer[];
}

/** @returns a function that makes such deliveries due, and returns their number */
export function createHastener({ database, clock, log, consumers }: Options): () => Promise<number> {
  const { build, write } = database;
  const isPlanned = (consumer: Consumer) => consumer.kind === 'external' && consumer.isPlanned === true;
  const queues = consumers.filter(consumer => !isPlanned(consumer)).map(({ queue }) => queue);
  return async () => {
    const now = clock.now();
    const query = build
      .updateTable('deliveries')
      .set({ due_at: now })
      .where('queue', 'in', queues)
      .where('failed_at', 'is', null)
      .where('due_at', '>', now + maxPauseMs + maxClockSkewMs);
    const hastened = await write(session => session.run(query.compile()));
    if (hastened > 0)
      log.warn('the clock was set back: deliveries are due at once', { deliveries: hastened });
    return hastened;
  };
}
