/** Notifications over HTTP: each user has their own and sees no others. */
import { z } from 'zod';
import { allow, type Caller, unauthorized } from '../../http/access.ts';
import { type Endpoint, endpoint, type RequestUrl } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { selfAddress } from '../../http/hal/addresses.ts';
import { hal, halCollection, isHal, type Links } from '../../http/hal/index.ts';
import { patched } from '../../http/patch/index.ts';
import { noContent, ok } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Condition } from '../../storage/list/request.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type NotificationStore, notificationOf, type StoredNotification } from './store.ts';

const tag = 'Notifications';
const path = '/notifications';
const params = z.object({ id: identifier() });
const readOnly = ['id', 'type', 'message', 'resource', 'resourceId', 'readAt', 'createdAt'];
const one = {
  200: { description: 'The notification.', schema: schema.notification, hal: schema.notificationHal },
};

export function notificationEndpoints(
  { database, paginator }: Dependencies,
  store: NotificationStore,
): Endpoint[] {
  const found = (row: StoredNotification | undefined, id: number): StoredNotification => {
    if (row === undefined)
      throw new HttpError('NOT_FOUND', { message: `You have no notification ${id || 'with this id'}.` });
    return row;
  };

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listNotifications',
      summary: 'List your notifications',
      tag,
      access: allow.everyone(),
      query: schema.listNotifications,
      responses: {
        200: {
          description: 'One page of your notifications.',
          schema: schema.notificationList,
          hal: schema.notificationListHal,
        },
      },
      errors: ['INVALID_CURSOR'],
      async handle({ query, caller, url, mediaType }) {
        const conditions: Condition[] = [{ column: 'user_id', operator: '=', value: readerOf(caller) }];
        if (query.unread !== undefined)
          conditions.push({ column: 'read_at', operator: 'is null', value: '', literal: true });
        const request = paginator.request(query, conditions, schema.sortColumns, 'notifications');
        const item = (row: StoredNotification) => JSON.stringify(shownAs(row, mediaType, url));
        const envelope = paginator.envelope(await store.list(request), request, 'notifications', url, item);
        return ok(isHal(mediaType) ? halCollection(envelope, 'notifications', selfAddress(url)) : envelope);
      },
    }),
    endpoint({
      method: 'POST',
      path: `${path}/mark-all-read`,
      operationId: 'markAllNotificationsRead',
      summary: 'Mark all your notifications as read',
      tag,
      access: allow.everyone(),
      responses: {
        200: {
          description: 'How many had not been read.',
          schema: schema.markedRead,
          example: { updated: 3 },
        },
      },
      handle({ caller, write, cause }) {
        return write(async session =>
          ok({ updated: await store.markAllRead(session, readerOf(caller), cause().at) }),
        );
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getNotification',
      summary: 'Read one of your notifications',
      description: 'Reading it does not mark it as read.',
      tag,
      access: allow.everyone(),
      params,
      responses: one,
      errors: ['NOT_FOUND'],
      async handle({ params: { id }, caller, url, mediaType }) {
        const row = found(await store.find(database.read, readerOf(caller), id), id);
        return ok(shownAs(row, mediaType, url));
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${path}/{id}`,
      operationId: 'patchNotification',
      summary: 'Mark a notification as read or unread',
      tag,
      access: allow.everyone(),
      params,
      body: { kind: 'patch', schema: schema.patchNotification, example: { read: true } },
      responses: one,
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle({ params: { id }, body, caller, url, mediaType, precondition, write, cause }) {
        return write(async session => {
          const row = found(await store.lock(session, readerOf(caller), id), id);
          precondition(JSON.stringify(shownAs(row, mediaType, url)));
          const { read } = patched(notificationOf(row), body, schema.replaceNotification, readOnly);
          const readAt = read ? (row.read_at ?? cause().at) : null;
          if (readAt !== row.read_at) await store.setReadAt(session, id, readAt);
          return ok(shownAs({ ...row, read_at: readAt }, mediaType, url));
        });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: 'deleteNotification',
      summary: 'Delete a notification',
      tag,
      access: allow.everyone(),
      params,
      responses: { 204: { description: 'The notification is gone.' } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle({ params: { id }, caller, url, mediaType, precondition, write }) {
        return write(async session => {
          const row = found(await store.lock(session, readerOf(caller), id), id);
          precondition(JSON.stringify(shownAs(row, mediaType, url)));
          await store.remove(session, id);
          return noContent();
        });
      },
    }),
  ];
}

/** An API key is no user: no scope admits one to these endpoints. */
function readerOf(caller: Caller): number {
  if (caller.kind !== 'user') throw unauthorized('UNAUTHORIZED');
  return caller.userId;
}

/** What a GET with this media type answers, as a value. */
function shownAs(row: StoredNotification, mediaType: string, url: RequestUrl): object {
  return isHal(mediaType) ? hal(notificationOf(row), linksTo(row, url)) : notificationOf(row);
}

/** Itself, and what it is about where that has an address of its own. */
function linksTo({ id, resource, resource_id }: StoredNotification, url: RequestUrl): Links {
  const root = `${url.base}${url.path.slice(0, url.path.indexOf(path))}`;
  const self = { href: `${root}${path}/${id}` };
  if (resource === 'order') return { self, order: { href: `${root}/orders/${resource_id}` } };
  if (resource === 'invoice') return { self, invoice: { href: `${root}/invoices/${resource_id}` } };
  return { self };
}
