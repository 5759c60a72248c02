/** Notifications: told once, to whom it concerns, and nobody else's business. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Role } from '../../src/http/access.ts';
import { nowOf } from '../support/catalog.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { type Happening, record } from '../support/events.ts';
import { type Call, call } from '../support/http.ts';
import { userIdOf } from '../support/people.ts';
import { play } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

const path = '/v1/notifications';
const hal = { Accept: 'application/hal+json' };

describeOnDatabases('notifications on %s', kind => {
  let service: TestService;
  let ids: Record<Role, number>;
  let orders = 100;
  beforeAll(async () => {
    service = await startTestService(kind);
    ids = {
      admin: await userIdOf(service, 'admin'),
      editor: await userIdOf(service, 'editor'),
      user: await userIdOf(service, 'user'),
    };
  });
  afterAll(() => service.stop());

  const of = async (as: Role, query = 'limit=100') =>
    (await call(service, { path: `${path}?${query}`, as })).body.data;

  const paid = (customerId: number, resourceId = ++orders): Happening => ({
    resource: 'order',
    resourceId,
    action: 'paid',
    before: { id: resourceId, status: 'PENDING', customerId },
    after: { id: resourceId, status: 'PAID', customerId },
  });

  /** Tells this role of an order that has been paid. */
  async function tell(as: Role) {
    const happening = paid(ids[as]);
    await record(service, happening);
    const found = (await of(as, 'sort=id&order=desc&limit=1'))[0];
    expect(found.resourceId).toBe(happening.resourceId);
    return { ...found, path: `${path}/${found.id}` };
  }

  const told: [name: string, happening: (userId: number) => Happening, message: string, links: string[]][] = [
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
  test.each(told)('%s', async (_, happening, message, links) => {
    const { resource, resourceId, action } = happening(ids.editor);
    const before = { editor: await of('editor'), user: await of('user') };
    await record(service, happening(ids.editor));
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
      createdAt: nowOf(service),
    };
    expect(now.at(-1)).toEqual(shown);
    expect(await of('user')).toEqual(before.user);
    const self = `${path}/${now.at(-1).id}`;
    const href = `${service.url}/v1/${resource}s/${resourceId}`;
    await play(service, {
      name: 'as HAL',
      path: self,
      as: 'editor',
      headers: hal,
      status: 200,
      answer: {
        ...now.at(-1),
        _links: {
          self: { href: `${service.url}${self}` },
          ...Object.fromEntries(links.map(name => [name, { href }])),
        },
        _embedded: {},
      },
    });
  });

  test.each([
    [
      'other events',
      () => ({ resource: 'order', resourceId: 1, action: 'updated', after: { customerId: ids.user } }),
    ],
    ['a user who is gone', () => paid(2_147_483_000)],
    [
      'an event that names no customer',
      () => ({ resource: 'order', resourceId: 1, action: 'paid', after: {} }),
    ],
    [
      'a customer that is no number',
      () => ({ resource: 'order', resourceId: 1, action: 'paid', after: { customerId: String(ids.user) } }),
    ],
  ] satisfies [string, () => Happening][])(
    'nobody is told of %s, and nothing stays queued',
    async (_, happening) => {
      const before = await of('user');
      await record(service, happening());
      expect(await of('user')).toEqual(before);
      const queued = service.database.build.selectFrom('deliveries').selectAll().compile();
      expect(await service.database.read.all(queued)).toEqual([]);
    },
  );

  test('a delivery that is made twice tells once', async () => {
    await tell('user');
    const before = await of('user');
    const { build } = service.database;
    const { event_id } = await service.database.write(async session => {
      const last = build.selectFrom('notifications').select(['event_id']).orderBy('id', 'desc').limit(1);
      const row = await session.first(last.compile());
      const values = { queue: 'notifications', key: 'order:1', attempts: 0, failed_at: null };
      const moments = { due_at: service.clock.now(), created_at: service.clock.now() };
      const again = { ...values, ...moments, payload: String(row?.event_id) };
      await session.run(build.insertInto('deliveries').values(again).compile());
      return row ?? { event_id: 0 };
    });
    expect(event_id).toBeGreaterThan(0);
    await service.settle();
    expect(await of('user')).toEqual(before);
  });

  test('another’s notification does not exist, for administrators neither', async () => {
    const theirs = await tell('user');
    const requests: Call[] = [
      { path: theirs.path },
      { method: 'PATCH', path: theirs.path, body: { read: true } },
      { method: 'DELETE', path: theirs.path },
    ];
    for (const as of ['admin', 'editor'] as const) {
      for (const request of requests)
        await play(service, {
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
    service.clock.advance(5000);
    const asRead = { ...notification, read: true, readAt: nowOf(service) };
    await play(service, { ...patch, name: 'read', body: read, status: 200, answer: asRead });
    service.clock.advance(5000);
    if (type === 'application/json')
      await play(service, { ...patch, name: 'once more', body: read, status: 200, answer: asRead });
    await play(service, { name: 'as GET shows it', path: self, as: 'user', status: 200, answer: asRead });
    await play(service, { ...patch, name: 'unread', body: unread, status: 200, answer: notification });
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
    await play(service, { name, method: 'PATCH', path: self, as: 'user', headers, body, status, error });
  });

  test('preconditions hold for the variant that Accept asks for', async () => {
    const { path: self } = await tell('user');
    const tags = await Promise.all(
      [hal, { Accept: 'application/json' }].map(async headers => {
        const { headers: answered } = await call(service, { path: self, as: 'user', headers });
        return answered.get('ETag') ?? 'none';
      }),
    );
    const [halTag = '', plainTag = ''] = tags;
    expect(halTag).not.toBe(plainTag);
    const patch = { method: 'PATCH', path: self, as: 'user', body: { read: true } } as const;
    const stale = { ...patch, headers: { ...hal, 'If-Match': plainTag } };
    await play(service, { ...stale, name: 'the other variant', status: 412, error: 'PRECONDITION_FAILED' });
    await play(service, { ...patch, headers: { ...hal, 'If-Match': halTag }, name: 'its own', status: 200 });
    const remove = { method: 'DELETE', path: self, as: 'user' } as const;
    const old = { ...remove, headers: { 'If-Match': plainTag } };
    await play(service, { ...old, name: 'changed since', status: 412, error: 'PRECONDITION_FAILED' });
    await play(service, { ...remove, name: 'without one', status: 204 });
    await play(service, { ...remove, name: 'a second time', status: 404, error: 'NOT_FOUND' });
  });

  test('marking all marks one’s own, once', async () => {
    await tell('admin');
    await call(service, { method: 'POST', path: `${path}/mark-all-read`, as: 'admin' });
    await tell('admin');
    await tell('admin');
    const theirs = await tell('editor');
    const mark = { method: 'POST', path: `${path}/mark-all-read`, as: 'admin' } as const;
    expect(await of('admin', 'unread=true')).toHaveLength(2);
    await play(service, { ...mark, name: 'first', status: 200, answer: { updated: 2 } });
    await play(service, { ...mark, name: 'second', status: 200, answer: { updated: 0 } });
    expect(await of('admin', 'unread=true')).toEqual([]);
    expect((await of('editor', 'unread=true')).map(({ id }: { id: number }) => id)).toContain(theirs.id);
    const key = { ...mark, headers: { 'Idempotency-Key': `mark-${orders}` } };
    await tell('admin');
    await play(service, { ...key, name: 'with a key', status: 200, answer: { updated: 1 } });
    await tell('admin');
    const again = await play(service, { ...key, name: 'again', status: 200, answer: { updated: 1 } });
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect(await of('admin', 'unread=true')).toHaveLength(1);
  });

  test('lists page by offset and cursor, in plain JSON and HAL', async () => {
    for (let n = 0; n < 5; n++) {
      await tell('editor');
      service.clock.advance(1000);
    }
    const all = await of('editor');
    const wanted = all.map(({ id }: { id: number }) => id).reverse();
    const byPage: number[] = [];
    const byCursor: number[] = [];
    const idsOf = (data: readonly { id: number }[]) => data.map(({ id }) => id);
    for (let page = 1; byPage.length < wanted.length; page++) {
      const query = `sort=createdAt&order=desc&perPage=2&page=${page}`;
      const { body } = await call(service, { path: `${path}?${query}`, as: 'editor' });
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
      const { body } = await call(service, { path: next, as: 'editor', headers: hal });
      expect(body._links.self.href).toBe(`${service.url}${next}`);
      byCursor.push(...idsOf(body._embedded.notifications));
      next = body._links.next?.href.slice(service.url.length);
    }
    expect(byPage).toEqual(wanted);
    expect(byCursor).toEqual(wanted);
    const { body } = await call(service, { path: `${path}?limit=1`, as: 'editor' });
    const foreign = `${path}?limit=1&cursor=${body.meta.nextCursor}`;
    await play(service, {
      name: 'another’s cursor',
      path: foreign,
      as: 'user',
      status: 400,
      error: 'INVALID_CURSOR',
    });
    const filtered = `${foreign}&unread=true`;
    await play(service, {
      name: 'another filter',
      path: filtered,
      as: 'editor',
      status: 400,
      error: 'INVALID_CURSOR',
    });
    const unknown = { path: `${path}?unread=false`, as: 'editor' } as const;
    await play(service, { ...unknown, name: 'unread=false', status: 400, problems: [['unread', 'enum']] });
  });
});
