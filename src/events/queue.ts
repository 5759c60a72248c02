/**
 * Work to be done after a transaction commits. The transaction itself queues it in the database, so a rollback discards
 * it. dispatcher.ts delivers queued work at least once, in order for each key.
 */
import type { Database, Session } from '../storage/database.ts';
import { prepareQuery } from '../storage/prepared.ts';

type Delivery = {
  /** The queue of the consumer that does the work. */
  readonly queue: string;
  /** Deliveries with the same key are made one after another: `order:5`. */
  readonly key: string;
  readonly payload: string;
  /** When it was queued, in epoch milliseconds; it is due at once. */
  readonly at: number;
};

export type Queue = ReturnType<typeof createQueue>;

export function createQueue({ build }: Pick<Database, 'build'>) {
  const added = new WeakSet<Session>();
  const insert = prepareQuery<Delivery, unknown>(build, ({ queue, key, payload, at }) =>
    build
      .insertInto('deliveries')
      .values({ queue, key, payload, attempts: 0, due_at: at, failed_at: null, created_at: at }),
  );
  return {
    async add(session: Session, delivery: Delivery): Promise<void> {
      added.add(session);
      await session.run(insert(delivery));
    },
    /** Whether anything was added in this transaction. */
    hasAdded: (session: Session) => added.has(session),
  };
}
