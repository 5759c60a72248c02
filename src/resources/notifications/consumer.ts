/** Notifies users of events: the consumer of the queue `notifications` (events/subscriptions.ts). */
import type { Consumer } from '../../events/dispatcher.ts';
import type { StoredEvent } from '../../events/outbox.ts';
import { notificationQueue } from '../../events/subscriptions.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Stores } from '../stores.ts';

/** The resource, as the event stores it. */
type Document = Readonly<Record<string, unknown>>;

interface News {
  /** The id of the user to notify. */
  readonly reader: (event: StoredEvent, document: Document) => unknown;
  readonly message: (event: StoredEvent, document: Document) => string;
}

const getCustomer: News['reader'] = (_, { customerId }) => customerId;

const newsByType: Readonly<Record<string, News>> = {
  'order.paid': { reader: getCustomer, message: ({ resource_id }) => `Order ${resource_id} has been paid.` },
  'order.cancelled': {
    reader: getCustomer,
    message: ({ resource_id }) => `Order ${resource_id} has been cancelled.`,
  },
  'invoice.sent': {
    reader: getCustomer,
    message: ({ resource_id }, { number }) =>
      `Invoice ${typeof number === 'number' || typeof number === 'string' ? number : resource_id} has been sent to you by e-mail.`,
  },
  'user.password_changed': {
    reader: ({ resource_id }) => resource_id,
    message: () => 'Your password has been changed.',
  },
};

export function createNotificationConsumer({ events, users, notifications }: Stores): Consumer {
  return {
    queue: notificationQueue,
    kind: 'internal',
    async deliver(session, payload) {
      const event = await events.find(session, Number(payload));
      const news = event && newsByType[event.type];
      if (event === undefined || news === undefined) return;
      const document = parseStored<Document>(event.new_document ?? event.old_document ?? '{}');
      const reader = news.reader(event, document);
      // A user deleted since the event gets no notification.
      if (typeof reader !== 'number' || (await users.find(session, reader)) === undefined) return;
      await notifications.insert(session, {
        user_id: reader,
        event_id: event.id,
        type: event.type,
        message: news.message(event, document),
        resource: event.resource,
        resource_id: event.resource_id,
        created_at: event.created_at,
      });
    },
  };
}
