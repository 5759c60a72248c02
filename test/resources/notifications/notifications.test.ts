/** Notifications: sent once, to the users they concern, and shown only to those. */
import { expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { type Happening, record } from '../../support/data/events.ts';
import { notificationsOn } from '../../support/data/notifications.ts';
import { type Call, call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

const path = '/v1/notifications';
const hal = { Accept: 'application/hal+json' };

describeOnDatabases('notifications on %s', kind => {
  const on = notificationsOn(kind);
  const { of, paid, tell } = on;

  const notified: [
    name: string,
    happening: (userId: number) => Happening,
    message: string,
    links: string[],
  ][] = [
    ['an order paid', userId => paid(userId, 12), 'Order 12 has been paid.', ['order']],
    [
      'an order cancelled',
      customerId => ({
        resource: 'order',
        resourceId: 12,
        action: 'cancelled',
        before: { customerId },
        after: { customerId },
      }),
      'Order 12 has been cancelled.',
      ['order'],
    ],
    [
      'an invoice sent',
      customerId => ({
        resource: 'invoice',
        resourceId: 12,
        action: 'sent',
        after: { number: 7, customerId },
      }),
      'Invoice 7 has been sent to you by e-mail.',
      ['invoice'],
    ],
    [
      'an invoice sent whose event shows the customer before only',
      customerId => ({ resource: 'invoice', resourceId: 12, action: 'sent', before: { customerId } }),
      'Invoice 12 has been sent to you by e-mail.',
      ['invoice'],
    ],
    [
      'a password changed',
      userId => ({ resource: 'user', resourceId: userId, action: 'password_changed', after: { id: userId } }),
      'Your password has been changed.',
      [],
    ],
  ];
  test.each(notified)('%s', async (_, happening, message, links) => {
    const { resource, resourceId, action } = happening(on.ids.editor);
    const before = { editor: await of('editor'), user: await of('user') };
    await record(on.service, happening(on.ids.editor));
    const now = await of('editor');
    expect(now.slice(0, -1)).toEqual(before.editor);
    const shown = {
      id: expect.any(Number),
      type: `${resource}.${action}`,
      message,
      resource,
      resourceId,
      read: false,
      readAt: null,
      createdAt: nowOf(on.service),
    };
    expect(now.at(-1)).toEqual(shown);
    expect(await of('user')).toEqual(before.user);
    const self = `${path}/${now.at(-1).id}`;
    const href = `${on.service.url}/v1/${resource}s/${resourceId}`;
    await play(on.service, {
      name: 'as HAL',
      path: self,
      as: 'editor',
      headers: hal,
      status: 200,
      response: {
        ...now.at(-1),
        _links: {
          self: { href: `${on.service.url}${self}` },
          ...Object.fromEntries(links.map(name => [name, { href }])),
          edit: { href: `${on.service.url}${self}`, method: 'PATCH' },
          delete: { href: `${on.service.url}${self}`, method: 'DELETE' },
        },
        _embedded: {},
      },
    });
  });

  test.each([
    [
      'other events',
      () => ({ resource: 'order', resourceId: 1, action: 'updated', after: { customerId: on.ids.user } }),
    ],
    ['a user who is gone', () => paid(2_147_483_000)],
    [
      'an event that names no customer',
      () => ({ resource: 'order', resourceId: 1, action: 'paid', after: {} }),
    ],
    [
      'a customer that is no number',
      () => ({
        resource: 'order',
        resourceId: 1,
        action: 'paid',
        after: { customerId: String(on.ids.user) },
      }),
    ],
  ] satisfies [string, () => Happening][])(
    'no user is notified of %s, and nothing stays queued',
    async (_, happening) => {
      const before = await of('user');
      await record(on.service, happening());
      expect(await of('user')).toEqual(before);
      const queued = on.service.database.build.selectFrom('deliveries').selectAll().compile();
      expect(await on.service.database.read.all(queued)).toEqual([]);
    },
  );

  test('a delivery that is made twice notifies once', async () => {
    await tell('user');
    const before = await of('user');
    const { build } = on.service.database;
    const { event_id } = await on.service.database.write(async session => {
      const last = build.selectFrom('notifications').select(['event_id']).orderBy('id', 'desc').limit(1);
      const row = await session.first(last.compile());
      const values = { queue: 'notifications', key: 'order:1', attempts: 0, failed_at: null };
      const moments = { due_at: on.service.clock.now(), created_at: on.service.clock.now() };
      const again = { ...values, ...moments, payload: String(row?.event_id) };
      await session.run(build.insertInto('deliveries').values(again).compile());
      return row ?? { event_id: 0 };
    });
    expect(event_id).toBeGreaterThan(0);
    await on.service.settle();
    expect(await of('user')).toEqual(before);
  });

  test('another user’s notification does not exist, not even for administrators', async () => {
    const theirs = await tell('user');
    const requests: Call[] = [
      { path: theirs.path },
      { method: 'PATCH', path: theirs.path, body: { read: true } },
      { method: 'DELETE', path: theirs.path },
    ];
    for (const as of ['admin', 'editor'] as const) {
      for (const request of requests)
        await play(on.service, {
          name: `${request.method ?? 'GET'} as ${as}`,
          ...request,
          as,
          status: 404,
          error: 'NOT_FOUND',
        });
      expect((await of(as)).map(({ id }: { id: number }) => id)).not.toContain(theirs.id);
    }
    expect((await of('user')).at(-1).read).toBe(false);
  });

  test('marking all as read marks only the caller’s own, once', async () => {
    await tell('admin');
    await call(on.service, { method: 'POST', path: `${path}/mark-all-read`, as: 'admin' });
    await tell('admin');
    await tell('admin');
    const theirs = await tell('editor');
    const mark = { method: 'POST', path: `${path}/mark-all-read`, as: 'admin' } as const;
    expect(await of('admin', 'unread=true')).toHaveLength(2);
    await play(on.service, { ...mark, name: 'first', status: 200, response: { updated: 2 } });
    await play(on.service, { ...mark, name: 'second', status: 200, response: { updated: 0 } });
    expect(await of('admin', 'unread=true')).toEqual([]);
    expect((await of('editor', 'unread=true')).map(({ id }: { id: number }) => id)).toContain(theirs.id);
    const key = { ...mark, headers: { 'Idempotency-Key': 'mark-all' } };
    await tell('admin');
    await play(on.service, { ...key, name: 'with a key', status: 200, response: { updated: 1 } });
    await tell('admin');
    const again = await play(on.service, { ...key, name: 'again', status: 200, response: { updated: 1 } });
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect(await of('admin', 'unread=true')).toHaveLength(1);
    const read = (await of('admin')).filter(({ read }) => read);
    expect(read.length).toBeGreaterThan(3);
    expect(await of('admin', 'unread=false&limit=100')).toEqual(read);
  });

  test('lists page by offset and cursor, in plain JSON and HAL', async () => {
    for (let n = 0; n < 5; n++) {
      await tell('editor');
      on.service.clock.advance(1000);
    }
    const all = await of('editor');
    const wanted = all.map(({ id }: { id: number }) => id).reverse();
    const byPage: number[] = [];
    const byCursor: number[] = [];
    const idsOf = (data: readonly { id: number }[]) => data.map(({ id }) => id);
    for (let page = 1; byPage.length < wanted.length; page++) {
      const query = `sort=createdAt&order=desc&perPage=2&page=${page}`;
      const { body } = await call(on.service, { path: `${path}?${query}`, as: 'editor' });
      expect(body.meta).toEqual({
        currentPage: page,
        perPage: 2,
        total: wanted.length,
        lastPage: Math.ceil(wanted.length / 2),
      });
      byPage.push(...idsOf(body.data));
    }
    let next: string | undefined = `${path}?sort=id&order=desc&limit=2`;
    while (next !== undefined) {
      const { body } = await call(on.service, { path: next, as: 'editor', headers: hal });
      expect(body._links.self.href).toBe(`${on.service.url}${next}`);
      byCursor.push(...idsOf(body._embedded.notifications));
      next = body._links.next?.href.slice(on.service.url.length);
    }
    expect(byPage).toEqual(wanted);
    expect(byCursor).toEqual(wanted);
    const { body } = await call(on.service, { path: `${path}?limit=1`, as: 'editor' });
    const foreign = `${path}?limit=1&cursor=${body.meta.nextCursor}`;
    await play(on.service, {
      name: 'another’s cursor',
      path: foreign,
      as: 'user',
      status: 400,
      error: 'INVALID_CURSOR',
    });
    const filtered = `${foreign}&unread=true`;
    await play(on.service, {
      name: 'another filter',
      path: filtered,
      as: 'editor',
      status: 400,
      error: 'INVALID_CURSOR',
    });
    const unknown = { path: `${path}?unread=1`, as: 'editor' } as const;
    await play(on.service, { ...unknown, name: 'unread=1', status: 400, problems: [['unread', 'enum']] });
  });
});
