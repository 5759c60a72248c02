/**
 * Makes deliveries due that were postponed before the clock was set back. They would otherwise wait until the clock has
 * caught up.
 */
import { maxClockSkewMs } from '../ports/clock.ts';
import { type Consumer, type DispatcherOptions, maxPauseMs } from './dispatcher.ts';

/** @returns a function that makes such deliveries due, and returns their number */
export function createHastener({
  database,
  clock,
  log,
  consumers,
}: DispatcherOptions): () => Promise<number> {
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
