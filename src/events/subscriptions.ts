/** Which consumer gets which events. Every process must agree on this, the command line too: it is a constant. */

export interface Subscription {
  /** The queue whose consumer gets it (see dispatcher.ts). */
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
