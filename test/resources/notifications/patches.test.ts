/** Notifications are marked as read or unread by patches in three media types, with preconditions. */
import { expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { notificationsOn } from '../../support/data/notifications.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

const hal = { Accept: 'application/hal+json' };

describeOnDatabases('notifications that are read on %s', kind => {
  const on = notificationsOn(kind);
  const { tell } = on;

  test.each([
    ['application/json', { read: true }, { read: false }],
    ['application/merge-patch+json', { read: true }, { read: false }],
    [
      'application/json-patch+json',
      [
        { op: 'test', path: '/read', value: false },
        { op: 'replace', path: '/read', value: true },
      ],
      [{ op: 'replace', path: '/read', value: false }],
    ],
  ])('is marked as read and unread with %s', async (type, read, unread) => {
    const { path: self, ...notification } = await tell('user');
    const patch = { method: 'PATCH', path: self, as: 'user', headers: { 'Content-Type': type } } as const;
    on.service.clock.advance(5000);
    const asRead = { ...notification, read: true, readAt: nowOf(on.service) };
    await play(on.service, { ...patch, name: 'read', body: read, status: 200, response: asRead });
    on.service.clock.advance(5000);
    if (type === 'application/json')
      await play(on.service, { ...patch, name: 'once more', body: read, status: 200, response: asRead });
    await play(on.service, {
      name: 'as GET shows it',
      path: self,
      as: 'user',
      status: 200,
      response: asRead,
    });
    await play(on.service, { ...patch, name: 'unread', body: unread, status: 200, response: notification });
  });

  const refused: [name: string, type: string, body: unknown, status: number, error: string][] = [
    ['read as text', 'application/json', { read: 'true' }, 400, 'VALIDATION_FAILED'],
    ['read null', 'application/merge-patch+json', { read: null }, 400, 'VALIDATION_FAILED'],
    [
      'a change of the message',
      'application/json-patch+json',
      [{ op: 'replace', path: '/message', value: 'x' }],
      422,
      'PATCH_RESULT_INVALID',
    ],
    [
      'a change of readAt',
      'application/json-patch+json',
      [{ op: 'replace', path: '/readAt', value: '2020-01-01T00:00:00.000Z' }],
      422,
      'PATCH_RESULT_INVALID',
    ],
    [
      'a failing test',
      'application/json-patch+json',
      [{ op: 'test', path: '/read', value: true }],
      409,
      'PATCH_TEST_FAILED',
    ],
  ];
  test.each(refused)('a patch with %s is refused', async (name, type, body, status, error) => {
    const { path: self } = await tell('user');
    const headers = { 'Content-Type': type };
    await play(on.service, { name, method: 'PATCH', path: self, as: 'user', headers, body, status, error });
  });

  test('preconditions hold for the variant that Accept asks for', async () => {
    const { path: self } = await tell('user');
    const tags = await Promise.all(
      [hal, { Accept: 'application/json' }].map(async headers => {
        const { headers: answered } = await call(on.service, { path: self, as: 'user', headers });
        return answered.get('ETag') ?? 'none';
      }),
    );
    const [halTag = '', plainTag = ''] = tags;
    expect(halTag).not.toBe(plainTag);
    const patch = { method: 'PATCH', path: self, as: 'user', body: { read: true } } as const;
    const stale = { ...patch, headers: { ...hal, 'If-Match': plainTag } };
    await play(on.service, {
      ...stale,
      name: 'the other variant',
      status: 412,
      error: 'PRECONDITION_FAILED',
    });
    await play(on.service, {
      ...patch,
      headers: { ...hal, 'If-Match': halTag },
      name: 'its own',
      status: 200,
    });
    const remove = { method: 'DELETE', path: self, as: 'user' } as const;
    const old = { ...remove, headers: { 'If-Match': plainTag } };
    await play(on.service, { ...old, name: 'changed since', status: 412, error: 'PRECONDITION_FAILED' });
    await play(on.service, { ...remove, name: 'without one', status: 204 });
    await play(on.service, { ...remove, name: 'a second time', status: 404, error: 'NOT_FOUND' });
  });
});
