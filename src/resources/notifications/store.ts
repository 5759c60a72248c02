/** The queries of notifications. Each belongs to one user: no query here reaches another's. */
import type { Database, Session } from '../../storage/database.ts';
import { createLister, type Lister } from '../../storage/list/index.ts';
import { toIsoDate } from '../../storage/moments.ts';
import { createTableRows } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';
import type { Notification } from './schema.ts';

export type StoredNotification = Row<'notifications'>;

export interface NotificationStore {
  /** Needs a condition on `user_id`. */
  readonly list: Lister<StoredNotification>;
  find(session: Session, userId: number, id: number): Promise<StoredNotification | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Session, userId: number, id: number): Promise<StoredNotification | undefined>;
  /** Does nothing when the user has a notification of the event already. */
  insert(session: Session, notification: Omit<StoredNotification, 'id' | 'read_at'>): Promise<void>;
  setReadAt(session: Session, id: number, readAt: number | null): Promise<void>;
  /** @returns how many were unread */
  markAllRead(session: Session, userId: number, now: number): Promise<number>;
  remove(session: Session, id: number): Promise<void>;
}

const columns = [
  'user_id',
  'event_id',
  'type',
  'message',
  'resource',
  'resource_id',
  'read_at',
  'created_at',
] as const;

export function toNotification(row: StoredNotification): Notification {
  return {
    id: row.id,
    type: row.type,
    message: row.message,
    resource: row.resource,
    resourceId: row.resource_id,
    read: row.read_at !== null,
    readAt: toIsoDate(row.read_at),
    createdAt: toIsoDate(row.created_at),
  };
}

export function createNotificationStore(database: Database): NotificationStore {
  const { build } = database;
  const rows = createTableRows<StoredNotification>(database, 'notifications', columns);
  const keepOwned = (userId: number, row: StoredNotification | undefined) =>
    row?.user_id === userId ? row : undefined;
  return {
    list: createLister<StoredNotification>(database, { table: 'notifications', columns }),
    find: async (session, userId, id) => keepOwned(userId, await rows.find(session, id)),
    lock: async (session, userId, id) => keepOwned(userId, await rows.lock(session, id)),
    async insert(session, notification) {
      const insert = build
        .insertInto('notifications')
        .values({ ...notification, read_at: null })
        .onConflict(conflict => conflict.columns(['event_id', 'user_id']).doNothing());
      await session.run(insert.compile());
    },
    setReadAt: (session, id, readAt) => rows.update(session, id, { read_at: readAt }),
    markAllRead(session, userId, now) {
      const update = build.updateTable('notifications').set({ read_at: now });
      return session.run(update.where('user_id', '=', userId).where('read_at', 'is', null).compile());
    },
    remove: rows.remove,
  };
}
