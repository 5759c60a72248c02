/**
 * Orders that are not paid in time are cancelled (ORDER_TIMEOUT), to release their reserved stock. Each order has a
 * queued delivery that is due at that time; one replica performs it, once. It first cancels an open payment with the
 * provider, so that no cancelled order is paid. If the provider says that it has been made, the order is PAID, even if
 * the report of it is lost, unless the amount is another; a payment in progress keeps the order open until its outcome
 * is known.
 */
import { sql } from 'kysely';
import { type Consumer, PermanentFailure } from '../../events/dispatcher.ts';
import { createCause } from '../../events/outbox.ts';
import type { Queue } from '../../events/queue.ts';
import { type Clock, maxClockSkewMs } from '../../ports/clock.ts';
import type { Cancellation, PaymentProvider } from '../../ports/payment.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { removeInParts } from '../../storage/table-rows.ts';
import { readPages } from '../../turns/slices.ts';
import type { PaymentStore, StoredPayment } from './payments.ts';
import { isOpen } from './rules.ts';
import type { Cancel, CompletePayment } from './settle.ts';
import type { OrderStore, StoredOrder } from './store.ts';

const queueName = 'order-timeouts';
/** The number of orders that a sweep plans in one transaction, so that it never blocks the writer for long. */
const batch = 100;

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly queue: Queue;
  readonly orders: OrderStore;
  readonly payments: Pick<PaymentStore, 'find' | 'save' | 'changeStatus'>;
  readonly provider: PaymentProvider | undefined;
  readonly cancel: Cancel;
  readonly completePayment: CompletePayment;
}

/** @param seconds undefined if orders never time out */
export function createOrderTimeouts(
  { database, clock, queue, orders, payments, provider, cancel, completePayment }: Parts,
  seconds: number | undefined,
) {
  const { build } = database;
  const milliseconds = (seconds ?? Number.POSITIVE_INFINITY) * 1000;
  const computeDueTime = ({ created_at }: Pick<StoredOrder, 'created_at'>) => created_at + milliseconds;

  const planAt = (session: Session, id: number, at: number) =>
    queue.add(session, { queue: queueName, key: `order:${id}`, payload: String(id), at });

  /** Whether an order was placed before the clock was set back: `setBack` has then planned when its time is over. */
  const isAhead = ({ created_at }: StoredOrder) => created_at > clock.now() + maxClockSkewMs;

  const isOverdue = (order: StoredOrder | undefined): order is StoredOrder =>
    order !== undefined && isOpen(order.status) && (computeDueTime(order) <= clock.now() || isAhead(order));

  /** Some orders placed before the clock was set back wait as if placed now: they would wait until it has caught up. */
  const setBack = (): Promise<number> =>
    database.write(session => {
      const now = clock.now();
      const ahead = sql`select deliveries.id from deliveries
        join orders on orders.id = cast(deliveries.payload as integer)
        where queue = ${queueName} and failed_at is null and due_at > ${now + milliseconds + maxClockSkewMs}
          and orders.created_at > ${now + maxClockSkewMs}
        limit ${sql.lit(batch)}`;
      const query = sql`update deliveries set due_at = ${now + milliseconds} where id in (${ahead})`;
      return session.run(query.compile(build));
    });

  /** @throws Error if the payment is in progress: the dispatcher tries again later */
  async function endPayment(order: StoredOrder): Promise<void> {
    const { id } = order;
    const payment = await payments.find(database.read, id);
    if (provider === undefined || payment?.status !== 'pending' || payment.reference === null) return;
    const ended = await endAtProvider(provider, payment.reference);
    if (ended === 'in progress') throw new Error(`the payment of order ${id} is in progress`);
    const isWhole = ended === 'made' && (await isPaid(provider, order, payment.reference));
    await database.write(session =>
      ended === 'made'
        ? settleOpen(session, id, payment, isWhole)
        : payments.changeStatus(session, payment, 'cancelled', clock.now()),
    );
  }

  /** Whether a payment that was made is that of the whole order. */
  async function isPaid(to: PaymentProvider, order: StoredOrder, reference: string): Promise<boolean> {
    const { id: orderId, total, currency, created_at: createdAt } = order;
    return (await to.open({ orderId, total, currency, createdAt, at: clock.now() }, reference)).succeeded;
  }

  /**
   * Moves the order to PAID, unless it has changed since. One that was paid with another amount is cancelled, and its
   * payment refunded, as that of an order that is cancelled now.
   */
  async function settleOpen(session: Transaction, id: number, made: StoredPayment, isWhole: boolean) {
    const order = await orders.lock(session, id);
    const payment = await payments.find(session, id);
    if (order === undefined || !isOpen(order.status) || payment?.reference !== made.reference) return;
    const whole = { order, items: await orders.items(session, id) };
    if (isWhole) {
      const cause = createCause('stripe', clock.now());
      await payments.save(session, { ...payment, status: 'succeeded' }, cause.at);
      await completePayment(session, whole, cause);
    } else await cancel(session, whole, createCause('order-timeout', clock.now()));
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

    /** Plans the cancellation of orders placed before there was a timeout, or a clock was set back; returns how many. */
    async sweep(): Promise<number> {
      if (seconds === undefined) return 0;
      const buildUnplannedQuery = (after: number) => sql<{ id: number }>`select id from orders
        where status = 'PENDING' and created_at <= ${clock.now() - milliseconds} and id > ${after}
          and not exists (select 1 from deliveries where queue = ${queueName} and failed_at is null
            and key = 'order:' || orders.id)
        order by id limit ${sql.lit(batch)}`;
      let planned = await removeInParts(setBack);
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

/** Cancels a payment that can still be made; one unknown to the provider never could. */
async function endAtProvider(provider: PaymentProvider, reference: string): Promise<Cancellation> {
  try {
    return await provider.cancel(reference);
  } catch (error) {
    if (error instanceof PermanentFailure) return 'cancelled';
    throw error;
  }
}
