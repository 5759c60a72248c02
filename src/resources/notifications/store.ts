/** The queries of notifications. Each belongs to one user, and finding one requires that user's id. */
import { sql } from 'kysely';
import type { Database, Session } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { toIsoDate } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createOwnedRows } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';
import type { Notification } from './schema.ts';

export type StoredNotification = Row<'notifications'>;

/** Notifications that one statement marks as read: a user may have very many. */
const markedAtOnce = 1000;

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

export function createNotificationStore(database: Database) {
  const { build } = database;
  const rows = createOwnedRows<StoredNotification>(database, 'notifications', columns);
  // Unread is checked twice: on PostgreSQL, another transaction may have marked what the inner query found.
  const markSome = prepareQuery<{ userId: number; now: number }, unknown>(
    build,
    ({ userId, now }) => sql`update notifications set read_at = ${now} where read_at is null and id in (
        select id from notifications where user_id = ${userId} and read_at is null
        order by id limit ${sql.lit(markedAtOnce)})`,
  );
  const add = prepareQuery<Omit<StoredNotification, 'id'>, unknown>(
    build,
    argument => sql`insert into notifications (${sql.join(columns.map(column => sql.ref(column)))})
      values (${sql.join(columns.map(column => argument[column]))}) on conflict (event_id, user_id) do nothing`,
  );
  return {
    /** Requires a condition on `user_id`. */
    list: createLister<StoredNotification>(database, { table: 'notifications', columns }),
    find: rows.find,
    lock: rows.lock,
    /** Does nothing if the user already has a notification of the event. */
    async insert(session: Session, notification: Omit<StoredNotification, 'id' | 'read_at'>): Promise<void> {
      await session.run(add({ ...notification, read_at: null }));
    },
    setReadAt: (session: Session, id: number, readAt: number | null) =>
      rows.update(session, id, { read_at: readAt }),
    /** @returns how many were unread */
    async markAllRead(session: Session, userId: number, now: number): Promise<number> {
      for (let marked = 0; ; ) {
        const some = await session.run(markSome({ userId, now }));
        marked += some;
        if (some === 0) return marked;
      }
    },
    remove: rows.remove,
  };
}
