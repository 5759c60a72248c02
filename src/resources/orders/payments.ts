/**
 * The payment of an order, and the tasks that the provider must perform after a commit. The secret with which a
 * customer confirms a payment is never stored.
 */
import type { Consumer } from '../../events/dispatcher.ts';
import { type Cause, createCause } from '../../events/outbox.ts';
import type { Queue } from '../../events/queue.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PaymentProvider } from '../../ports/payment.ts';
import type { Database, Session } from '../../storage/database.ts';

/** `pending`: opened, waits for the customer; `refunding`: was paid too late, and the refund is under way. */
type PaymentStatus = 'pending' | 'succeeded' | 'cancelled' | 'refunding' | 'refunded';

export interface StoredPayment {
  readonly order_id: number;
  readonly provider: 'manual' | 'stripe';
  readonly reference: string | null;
  readonly status: PaymentStatus;
}

export type PaymentStore = ReturnType<typeof createPaymentStore>;

const paymentQueue = 'payments';

interface Task {
  readonly task: 'cancel' | 'refund';
  readonly orderId: number;
  readonly reference: string;
}

export function createPaymentStore({ build }: Pick<Database, 'build'>, queue: Queue) {
  const columns = ['order_id', 'provider', 'reference', 'status'] as const;
  const select = build.selectFrom('payments').select(columns).$castTo<StoredPayment>();

  /** Writes the payment of an order, replacing any former one. */
  async function save(session: Session, payment: StoredPayment, now: number): Promise<void> {
    const { order_id, provider, reference, status } = payment;
    const changed = { provider, reference, status, updated_at: now };
    const query = build
      .insertInto('payments')
      .values({ order_id, ...changed, created_at: now })
      .onConflict(conflict => conflict.column('order_id').doUpdateSet(changed));
    await session.run(query.compile());
  }

  function add(session: Session, task: Task['task'], payment: StoredPayment, { at }: Cause): Promise<void> {
    const { order_id: orderId, reference } = payment;
    if (reference === null) throw new Error(`the payment of order ${orderId} has no reference`);
    const payload: Task = { task, orderId, reference };
    return queue.add(session, {
      queue: paymentQueue,
      key: `order:${orderId}`,
      payload: JSON.stringify(payload),
      at,
    });
  }

  return {
    /** Callers that change the payment must hold the lock of its order. */
    find: (session: Session, orderId: number) =>
      session.first(select.where('order_id', '=', orderId).compile()),
    findByReference: (session: Session, reference: string) =>
      session.first(select.where('provider', '=', 'stripe').where('reference', '=', reference).compile()),
    save,
    /** Queues the cancellation of an open payment for after the commit; one unknown to the provider ends at once. */
    cancel: (session: Session, payment: StoredPayment, cause: Cause) =>
      payment.reference === null
        ? save(session, { ...payment, status: 'cancelled' }, cause.at)
        : add(session, 'cancel', payment, cause),
    /** Changes the status of a payment, unless it has changed since. @param now epoch milliseconds */
    async changeStatus(
      session: Session,
      { order_id, reference, status: from }: Omit<StoredPayment, 'provider'>,
      status: PaymentStatus,
      now: number,
    ): Promise<void> {
      const query = build
        .updateTable('payments')
        .set({ status, updated_at: now })
        .where('order_id', '=', order_id)
        .where('reference', '=', reference)
        .where('status', '=', from);
      await session.run(query.compile());
    },
    /** Queues the refund of a payment for after the commit. */
    async refund(session: Session, payment: StoredPayment, cause: Cause): Promise<void> {
      await save(session, { ...payment, status: 'refunding' }, cause.at);
      await add(session, 'refund', payment, cause);
    },
  };
}

interface Parts {
  readonly database: Pick<Database, 'write'>;
  readonly clock: Clock;
  readonly orders: { lock(session: Session, id: number): Promise<unknown> };
  readonly payments: Pick<PaymentStore, 'find' | 'refund' | 'changeStatus'>;
  readonly provider: PaymentProvider | undefined;
}

/** Calls the provider. A task may be delivered twice, but the provider performs it once. */
export function createPaymentConsumer({ database, clock, orders, payments, provider }: Parts): Consumer {
  // Boundary: `add` above has written this text.
  const read = (payload: string) => JSON.parse(payload) as Task;

  /** Queues the refund of a payment whose order is cancelled, unless the report of it has done so. */
  const refundMade = ({ orderId, reference }: Task) =>
    database.write(async session => {
      await orders.lock(session, orderId);
      const payment = await payments.find(session, orderId);
      if (payment?.reference === reference && payment.status === 'pending')
        await payments.refund(session, payment, createCause('stripe', clock.now()));
    });

  return {
    queue: paymentQueue,
    kind: 'external',
    async deliver(payload) {
      const task = read(payload);
      if (provider === undefined) throw new Error('a payment waits for STRIPE_SECRET_KEY to be set');
      if (task.task === 'refund') return provider.refund(task.reference);
      const outcome = await provider.cancel(task.reference);
      // Tried again later, since the report of a payment that is made in the end may never arrive.
      if (outcome === 'in progress') throw new Error(`the payment of order ${task.orderId} is in progress`);
      if (outcome === 'made') await refundMade(task);
    },
    async delivered(session, payload) {
      const { task, orderId, reference } = read(payload);
      const [from, to] =
        task === 'cancel' ? (['pending', 'cancelled'] as const) : (['refunding', 'refunded'] as const);
      await payments.changeStatus(session, { order_id: orderId, reference, status: from }, to, clock.now());
    },
  };
}
