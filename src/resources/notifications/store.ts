/** The queries of notifications. Each belongs to one user: no query here reaches another's. */
import type { RawBuilder } from 'kysely';
import type { Database, Session } from '../../storage/database.ts';
import { type Lister, lister } from '../../storage/list/index.ts';
import { prepared } from '../../storage/prepared.ts';
import type { Notification } from './schema.ts';

export interface StoredNotification {
  readonly id: number;
  readonly user_id: number;
  readonly event_id: number;
  readonly type: string;
  readonly message: string;
  readonly resource: string;
  readonly resource_id: number;
  readonly read_at: number | null;
  readonly created_at: number;
}

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

export function notificationOf(row: StoredNotification): Notification {
  return {
    id: row.id,
    type: row.type,
    message: row.message,
    resource: row.resource,
    resourceId: row.resource_id,
    read: row.read_at !== null,
    readAt: row.read_at === null ? null : new Date(row.read_at).toISOString(),
    createdAt: new Date(row.created_at).toISOString(),
  };
}

export function notificationStore(database: Database): NotificationStore {
  const { build, dialect } = database;
  type Own = { id: number; userId: number };
  const own = (argument: { [Name in keyof Own]: RawBuilder<number> }) =>
    build
      .selectFrom('notifications')
      .select(['id', ...columns])
      .where('id', '=', argument.id)
      .where('user_id', '=', argument.userId);
  const byId = prepared<Own, StoredNotification>(build, own);
  const byIdForUpdate = prepared<Own, StoredNotification>(build, argument =>
    own(argument).modifyEnd(dialect.forUpdate),
  );
  return {
    list: lister<StoredNotification>(database, { table: 'notifications', columns }),
    find: (session, userId, id) => session.first(byId({ id, userId })),
    lock: (session, userId, id) => session.first(byIdForUpdate({ id, userId })),
    async insert(session, notification) {
      const insert = build
        .insertInto('notifications')
        .values({ ...notification, read_at: null })
        .onConflict(conflict => conflict.columns(['event_id', 'user_id']).doNothing());
      await session.run(insert.compile());
    },
    async setReadAt(session, id, readAt) {
      const update = build.updateTable('notifications').set({ read_at: readAt }).where('id', '=', id);
      await session.run(update.compile());
    },
    markAllRead(session, userId, now) {
      const update = build.updateTable('notifications').set({ read_at: now });
      return session.run(update.where('user_id', '=', userId).where('read_at', 'is', null).compile());
    },
    async remove(session, id) {
      await session.run(build.deleteFrom('notifications').where('id', '=', id).compile());
    },
  };
}
