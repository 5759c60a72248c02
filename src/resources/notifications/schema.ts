/** The schema of notifications. */
import { z } from 'zod';
import { commonSorts, listParameters } from '../../http/paginate.ts';
import { count, identifier, text, timestamp } from '../../http/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';

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

export const { hal, page } = buildHalSchemas(notification, 'notifications', {
  always: ['edit', 'delete'],
  sometimes: ['order', 'invoice'],
});

/** All fields that a reader may change. */
export const replaceNotification = z.object({ read });
export const patchNotification = replaceNotification.partial().meta({ id: 'PatchNotification' });

export const markedRead = z.object({ updated: count() }).meta({ id: 'MarkedRead' });

export const sortColumns = commonSorts;
export const listNotifications = z.object({
  unread: z.enum(['true', 'false']).optional().describe('Only unread notifications, or only read ones.'),
  ...listParameters(sortColumns),
});

export type Notification = z.output<typeof notification>;
