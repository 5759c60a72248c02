/** Which consumer gets which events. A constant, since every process must agree on it, including the command line. */

export interface Subscription {
  /** The queue whose consumer gets the events (see dispatcher.ts). */
  readonly queue: string;
  /** Types of events: `<resource>.<action>`. */
  readonly types: readonly string[];
}

export const notificationQueue = 'notifications';

export const subscriptions: readonly Subscription[] = [
  {
    queue: notificationQueue,
    types: ['order.paid', 'order.cancelled', 'invoice.sent', 'user.password_changed'],
  },
];
