/**
 * Deliveries that were postponed by a clock that was set back since. They would wait as much longer as it was wrong: they are
 * due at once instead.
 */
import type { Log } from '../operations/log.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import { type Consumer, longestPauseMs } from './dispatcher.ts';

/** By so much the clock of another replica, which has postponed a delivery, may be ahead. */
const skewMs = 5 * 60 * 1000;

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly consumers: readonly Consumer[];
}

/** @returns a function that does it, and gives how many there were */
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
      .where('due_at', '>', now + longestPauseMs + skewMs);
    const hastened = await write(session => session.run(query.compile()));
    if (hastened > 0)
      log.warn('the clock was set back: deliveries are due at once', { deliveries: hastened });
    return hastened;
  };
}
