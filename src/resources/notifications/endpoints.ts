/** Notifications over HTTP: users see only their own. */
import { allow, requireUserId } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import type { Links } from '../../http/hal/index.ts';
import { replyOk } from '../../http/response/reply.ts';
import { type Condition, createEqualConditions } from '../../storage/list/request.ts';
import type { RequestContext } from '../context.ts';
import { byId, createCrudEndpoints } from '../crud/index.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';
import { type StoredNotification, toNotification } from './store.ts';

const tag = 'Notifications';
const path = '/notifications';
const access = allow.everyone();

/** Conditions for `unread`. The time at which a notification was read is never before 1970. */
const readConditions: Readonly<Record<'true' | 'false', Condition>> = {
  true: { column: 'read_at', operator: 'is null', value: '', literal: true },
  false: { column: 'read_at', operator: '>=', value: 0 },
};

export function createNotificationEndpoints(stores: Stores): Endpoint[] {
  const { database, paginator, notifications: store } = stores;
  const presenter = createPresenter<StoredNotification>({
    placeOf: ({ id }) => ['notifications', id],
    representationOf: toNotification,
    linksOf: (context, row, self) => ({
      ...linkSubject(context, row),
      edit: { href: self, method: 'PATCH' },
      delete: { href: self, method: 'DELETE' },
    }),
  });
  const success = 'The notification.';
  const crud = createCrudEndpoints(database, paginator, {
    name: 'notification',
    path: `${path}/{id}`,
    params: byId,
    tag,
    read: access,
    write: access,
    schema: schema.notification,
    hal: schema.hal,
    replace: { schema: schema.replaceNotification },
    patch: { schema: schema.patchNotification, example: { read: true } },
    presenter,
    rows: {
      find: async (session, { id }, caller) =>
        requireOwn(id, await store.find(session, requireUserId(caller), id)),
      lock: async (session, { id }, caller) =>
        requireOwn(id, await store.lock(session, requireUserId(caller), id)),
      async update(session, before, { read }, cause) {
        const readAt = read ? (before.read_at ?? cause.at) : null;
        if (readAt !== before.read_at) await store.setReadAt(session, before.id, readAt);
        return { ...before, read_at: readAt };
      },
      remove: (session, before) => store.remove(session, before.id),
    },
  });

  return [
    crud.list({
      operationId: 'listNotifications',
      summary: 'List your notifications',
      query: schema.listNotifications,
      page: schema.page,
      name: 'notifications',
      items: 'your notifications',
      list: store.list,
      sortColumns: schema.sortColumns,
      requested({ query, caller }) {
        const mine = createEqualConditions({ user_id: requireUserId(caller) });
        const conditions = query.unread === undefined ? mine : [...mine, readConditions[query.unread]];
        return { query, conditions };
      },
    }),
    createEndpoint({
      method: 'POST',
      path: `${path}/mark-all-read`,
      operationId: 'markAllNotificationsRead',
      summary: 'Mark all your notifications as read',
      tag,
      access,
      responses: {
        200: {
          description: 'The number of notifications that were unread.',
          schema: schema.markedRead,
          example: { updated: 3 },
        },
      },
      handle({ caller, write, cause }) {
        return write(async session =>
          replyOk({ updated: await store.markAllRead(session, requireUserId(caller), cause().at) }),
        );
      },
    }),
    crud.get({
      summary: 'Read one of your notifications',
      description: 'This does not mark it as read.',
    }),
    crud.patch({ summary: 'Mark a notification as read or unread', success }),
    crud.remove(),
  ];
}

/** @throws HttpError 404 */
function requireOwn(id: number, row: StoredNotification | undefined): StoredNotification {
  if (row !== undefined) return row;
  throw new HttpError('NOT_FOUND', { message: `You have no notification ${id || 'with this id'}.` });
}

function linkSubject({ url }: RequestContext, { resource, resource_id }: StoredNotification): Links {
  if (resource === 'order') return { order: { href: buildAddress(url, 'orders', resource_id) } };
  if (resource === 'invoice') return { invoice: { href: buildAddress(url, 'invoices', resource_id) } };
  return {};
}
