/**
 * Orders that are not paid in time are cancelled (ORDER_TIMEOUT), to release their reserved stock. Each order has a
 * queued delivery that is due at that time; one replica performs it, once. It first cancels an open payment with the
 * provider, so that no cancelled order is paid. A payment that has succeeded, or is in progress, keeps the order open
 * until the provider reports the outcome.
 */
import { sql } from 'kysely';
import { type Consumer, PermanentFailure } from '../../events/dispatcher.ts';
import { createCause } from '../../events/outbox.ts';
import type { Queue } from '../../events/queue.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PaymentProvider } from '../../ports/payment.ts';
import type { Database, Session } from '../../storage/database.ts';
import { readPages } from '../../turns/slices.ts';
import type { PaymentStore } from './payments.ts';
import { isOpen } from './rules.ts';
import type { Cancel } from './settle.ts';
import type { OrderStore, StoredOrder } from './store.ts';

const queueName = 'order-timeouts';
/** The number of orders that a sweep plans in one transaction, so that it never blocks the writer for long. */
const batch = 100;

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly queue: Queue;
  readonly orders: OrderStore;
  readonly payments: Pick<PaymentStore, 'find' | 'changeStatus'>;
  readonly provider: PaymentProvider | undefined;
  readonly cancel: Cancel;
}

/** @param seconds undefined if orders never time out */
export function createOrderTimeouts(
  { database, clock, queue, orders, payments, provider, cancel }: Parts,
  seconds: number | undefined,
) {
  const { build } = database;
  const milliseconds = (seconds ?? Number.POSITIVE_INFINITY) * 1000;
  const computeDueTime = ({ created_at }: Pick<StoredOrder, 'created_at'>) => created_at + milliseconds;

  const planAt = (session: Session, id: number, at: number) =>
    queue.add(session, { queue: queueName, key: `order:${id}`, payload: String(id), at });

  /** Whether an open order has exceeded its time. */
  const isOverdue = (order: StoredOrder | undefined): order is StoredOrder =>
    order !== undefined && isOpen(order.status) && computeDueTime(order) <= clock.now();

  /** @throws Error if the payment has succeeded or is in progress: the provider's report then decides */
  async function endPayment({ id }: StoredOrder): Promise<void> {
    const payment = await payments.find(database.read, id);
    if (provider === undefined || payment?.status !== 'pending' || payment.reference === null) return;
    if (!(await isEnded(provider, payment.reference)))
      throw new Error(`the payment of order ${id} is made or being made; its report decides`);
    await database.write(session => payments.changeStatus(session, payment, 'cancelled', clock.now()));
  }

  return {
    consumer: {
      queue: queueName,
      kind: 'external',
      isPlanned: true,
      async deliver(payload) {
        const order = await orders.find(database.read, Number(payload));
        if (isOverdue(order)) await endPayment(order);
      },
      async delivered(session, payload) {
        const order = await orders.lock(session, Number(payload));
        if (order === undefined || !isOpen(order.status) || seconds === undefined) return;
        const { id } = order;
        const payment = await payments.find(session, id);
        // The timeout was extended since the order was placed, or a payment has just been opened.
        if (!isOverdue(order)) await planAt(session, id, computeDueTime(order));
        else if (provider !== undefined && payment?.status === 'pending' && payment.reference !== null)
          await planAt(session, id, clock.now());
        else {
          const items = await orders.items(session, id);
          await cancel(session, { order, items }, createCause('order-timeout', clock.now()));
        }
      },
    } satisfies Consumer,

    /** Plans the cancellation of a new order, in case it is not paid in time. */
    async plan(session: Session, order: Pick<StoredOrder, 'id' | 'created_at'>): Promise<void> {
      if (seconds !== undefined) await planAt(session, order.id, computeDueTime(order));
    },

    /** Plans the cancellation of orders placed before there was a timeout; returns how many. */
    async sweep(): Promise<number> {
      if (seconds === undefined) return 0;
      const buildUnplannedQuery = (after: number) => sql<{ id: number }>`select id from orders
        where status = 'PENDING' and created_at <= ${clock.now() - milliseconds} and id > ${after}
          and not exists (select 1 from deliveries where queue = ${queueName} and failed_at is null
            and key = 'order:' || orders.id)
        order by id limit ${sql.lit(batch)}`;
      let planned = 0;
      const pages = readPages<{ id: number }>(last =>
        database.read.all(buildUnplannedQuery(last?.id ?? 0).compile(build)),
      );
      for await (const late of pages) {
        await database.write(async session => {
          for (const { id } of late) await planAt(session, id, clock.now());
        });
        planned += late.length;
      }
      return planned;
    },
  };
}

/** Whether a payment can no longer succeed; one unknown to the provider never could. */
async function isEnded(provider: PaymentProvider, reference: string): Promise<boolean> {
  try {
    return (await provider.cancel(reference)) === 'cancelled';
  } catch (error) {
    if (error instanceof PermanentFailure) return true;
    throw error;
  }
}
