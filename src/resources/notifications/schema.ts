/** The schema of notifications. */
import { z } from 'zod';
import { buildHalSchema, buildLinksSchema, buildPageSchemas } from '../../http/hal/index.ts';
import { commonSorts, listParameters } from '../../http/paginate.ts';
import { count, identifier, text, timestamp } from '../../http/schema.ts';

const read = z.boolean().meta({ examples: [true] });

export const notification = z
  .object({
    id: identifier(),
    type: text(100)
      .describe('The type of the event.')
      .meta({ examples: ['order.paid'] }),
    message: text(500).meta({ examples: ['Order 12 has been paid.'] }),
    resource: text(50)
      .describe('The kind of the resource.')
      .meta({ examples: ['order'] }),
    resourceId: identifier(),
    read,
    readAt: timestamp().nullable(),
    createdAt: timestamp().describe('When the event happened.'),
  })
  .meta({ id: 'Notification' });

const links = buildLinksSchema(['self', 'edit', 'delete'], ['order', 'invoice']);
export const notificationHal = buildHalSchema(notification, 'NotificationHal', links);

/** All fields that a reader may change. */
export const replaceNotification = z.object({ read });
export const patchNotification = replaceNotification.partial().meta({ id: 'PatchNotification' });

export const notificationPage = buildPageSchemas(
  notification,
  notificationHal,
  'notifications',
  'NotificationList',
);
export const markedRead = z.object({ updated: count() }).meta({ id: 'MarkedRead' });

export const sortColumns = commonSorts;
export const listNotifications = z.object({
  unread: z.enum(['true', 'false']).optional().describe('Only unread notifications, or only read ones.'),
  ...listParameters(sortColumns),
});

export type Notification = z.output<typeof notification>;
