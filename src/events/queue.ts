/**
 * Work to be done after a transaction commits. The transaction itself queues it in the database, so a rollback discards
 * it. dispatcher.ts delivers queued work at least once, in order for each key.
 */
import type { Database, Session } from '../storage/database.ts';
import { prepareQuery } from '../storage/prepared.ts';

interface Delivery {
  /** The queue of the consumer that does the work. */
  readonly queue: string;
  /** Deliveries with the same key are made one after another: `order:5`. */
  readonly key: string;
  readonly payload: string;
  /** When it was queued, in epoch milliseconds; it is due at once. */
  readonly at: number;
}

export type Queue = ReturnType<typeof createQueue>;

export function createQueue({ build }: Pick<Database, 'build'>) {
  const added = new WeakSet<Session>();
  const insert = prepareQuery<{ queue: string; key: string; payload: string; at: number }, unknown>(
    build,
    argument =>
      build.insertInto('deliveries').values({
        queue: argument.queue,
        key: argument.key,
        payload: argument.payload,
        attempts: 0,
        due_at: argument.at,
        failed_at: null,
        created_at: argument.at,
      }),
  );
  return {
    async add(session: Session, { queue, key, payload, at }: Delivery): Promise<void> {
      added.add(session);
      await session.run(insert({ queue, key, payload, at }));
    },
    /** Whether anything was added in this transaction. */
    hasAdded: (session: Session) => added.has(session),
  };
}
