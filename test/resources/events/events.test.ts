/** The audit trail: what changed, by whom, the values before and after, and no secrets. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, pathOf } from '../../support/data/catalog.ts';
import { record } from '../../support/data/events.ts';
import { addKey, userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const path = '/v1/events';

describeOnDatabases('events on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const list = async (query: string) => (await call(service, { path: `${path}?${query}`, as: 'admin' })).body;
  const idsOf = (body: { data: readonly { id: number }[] }) => body.data.map(({ id }) => id);

  test('record each change of a product with the actor, the request, and the state before and after', async () => {
    const admin = await userIdOf(service, 'admin');
    const editor = await userIdOf(service, 'editor');
    const product = await addProduct(service, { name: 'Lamp "A" \u2028' });
    const created = nowOf(service);
    service.clock.advance(1000);
    const headers = { 'X-Request-ID': 'change-1' };
    const change = { method: 'PATCH', path: pathOf(product), body: { price: 20 }, headers } as const;
    const { body: changed } = await call(service, { ...change, as: 'editor' });
    const updated = nowOf(service);
    service.clock.advance(1000);
    await call(service, { method: 'DELETE', path: pathOf(product), as: 'admin' });
    const { data } = await list(`resource=product&resourceId=${product.id}`);
    const common = { id: expect.any(Number), resource: 'product', resourceId: product.id };
    expect(data).toEqual([
      {
        ...common,
        type: 'product.created',
        actor: `user:${admin}`,
        requestId: expect.any(String),
        before: null,
        after: product,
        createdAt: created,
      },
      {
        ...common,
        type: 'product.updated',
        actor: `user:${editor}`,
        requestId: 'change-1',
        before: product,
        after: changed,
        createdAt: updated,
      },
      {
        ...common,
        type: 'product.deleted',
        actor: `user:${admin}`,
        requestId: expect.any(String),
        before: changed,
        after: null,
        createdAt: nowOf(service),
      },
    ]);
    await play(service, {
      name: 'one',
      path: `${path}/${data[1].id}`,
      as: 'admin',
      status: 200,
      response: data[1],
    });
  });

  test('a follower continues after the id of the last event it has read, even the newest', async () => {
    const end = (await list('order=desc&limit=1')).data[0].id;
    expect(await list(`afterId=${end}&limit=100`)).toMatchObject({ data: [], meta: { nextCursor: null } });
    const product = await addProduct(service);
    await call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { price: 3 } });
    const { data } = await list(`afterId=${end}&limit=100`);
    expect(data.map(({ type }: { type: string }) => type)).toEqual(['product.created', 'product.updated']);
    expect(data.map(({ resourceId }: { resourceId: number }) => resourceId)).toEqual([
      product.id,
      product.id,
    ]);
    const [first = 0, second = 0] = idsOf({ data });
    expect(idsOf(await list(`afterId=${first}&limit=1`))).toEqual([second]);
    expect(await list(`afterId=${end}&resource=product&type=product.updated`)).toMatchObject({
      data: [{ id: second }],
      meta: { total: 1 },
    });
    expect(idsOf(await list('afterId=0&limit=1'))).toEqual(idsOf(await list('limit=1')));
    expect(await list('afterId=-1')).toMatchObject({ details: [{ field: 'afterId', code: 'minimum' }] });
  });

  test('a refused change leaves no event', async () => {
    const product = await addProduct(service);
    await writesNothing(service, () =>
      call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { price: -1 } }),
    );
  });

  test('filters select, alone and together', async () => {
    const of = (resourceId: number, resource: string, action: string) => ({
      resource,
      resourceId,
      action,
      after: { n: 1 },
    });
    service.clock.advance(60_000);
    const start = nowOf(service);
    await record(service, of(1, 'filtered', 'made'), of(2, 'filtered', 'made'));
    service.clock.advance(1000);
    const middle = nowOf(service);
    await record(service, of(1, 'filtered', 'broken'), of(1, 'unfiltered', 'made'));
    service.clock.advance(1000);
    const { data } = await list(`since=${start}`);
    const names = data.map(
      (event: { type: string; resourceId: number }) => `${event.type} ${event.resourceId}`,
    );
    expect(names).toEqual(['filtered.made 1', 'filtered.made 2', 'filtered.broken 1', 'unfiltered.made 1']);
    const [a = 0, b = 0, c = 0, d = 0] = idsOf({ data });
    const wanted: [query: string, ids: number[]][] = [
      ['type=filtered.made', [a, b]],
      ['resource=filtered', [a, b, c]],
      ['resource=filtered&resourceId=1', [a, c]],
      ['resource=filtered&resourceId=1&type=filtered.broken', [c]],
      [`since=${middle}`, [c, d]],
      [`since=${start}&until=${start}`, [a, b]],
      [`since=${start}&actor=test&order=desc`, [d, c, b, a]],
      [`since=${start}&actor=nobody`, []],
      [`resource=filtered&sort=createdAt&order=desc`, [c, b, a]],
      ['resource=filtered&resourceId=2147483647', []],
      [`until=${encodeURIComponent('1999-12-31T23:59:59+02:00')}`, []],
    ];
    for (const [query, ids] of wanted) {
      expect([query, idsOf(await list(query))]).toEqual([query, ids]);
      expect([query, idsOf(await list(`${query}&limit=100`))]).toEqual([query, ids]);
      expect([query, (await list(`${query}&limit=1&count=exact`)).meta.total]).toEqual([query, ids.length]);
    }
  });

  test('paging by offset has the exact total, and by cursor none', async () => {
    await record(
      service,
      ...Array.from({ length: 7 }, (_, n) => ({
        resource: 'paged',
        resourceId: n + 1,
        action: 'made',
        after: { n },
      })),
    );
    const { data, meta } = await list('resource=paged&perPage=3&page=2');
    expect(data.map(({ after }: { after: { n: number } }) => after.n)).toEqual([3, 4, 5]);
    expect(meta).toEqual({ currentPage: 2, perPage: 3, total: 7, lastPage: 3 });
    const seen: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await list(
        `resource=paged&sort=createdAt&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      expect(page.meta.total).toBeUndefined();
      seen.push(...page.data.map(({ after }: { after: { n: number } }) => after.n));
      cursor = page.meta.nextCursor;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test.each([
    ['resourceId=1', [['resource', 'required']]],
    ['resource=product&resourceId=0', [['resourceId', 'minimum']]],
    ['resource=product&resourceId=2147483648', [['resourceId', 'maximum']]],
    [
      'since=yesterday&until=2026-01-15',
      [
        ['since', 'format'],
        ['until', 'format'],
      ],
    ],
    // Without encoding, the sign of the offset is a space.
    ['since=2026-01-15T09:30:00+02:00', [['since', 'format']]],
    ['sort=actor', [['sort', 'enum']]],
  ] satisfies [string, [string, string][]][])('refuses %s', async (query, problems) => {
    await play(service, { name: query, path: `${path}?${query}`, as: 'admin', status: 400, problems });
  });

  test('are for administrators, and keys with their scope', async () => {
    for (const as of ['editor', 'user'] as const)
      await play(service, { name: as, path, as, status: 403, error: 'FORBIDDEN' });
    const read = async (scope: string) =>
      (await call(service, { path, headers: await addKey(service, scope) })).status;
    expect([await read('events:read'), await read('products:read')]).toEqual([200, 403]);
  });

  test.each([
    'password',
    'passwordHash',
    'password_hash',
    'token',
    'tokenHash',
    'refreshToken',
    'key',
    'keyHash',
    'secret',
  ])('a change whose representation holds %s fails as a whole', async name => {
    for (const documents of [
      { before: { [name]: 'x' } },
      { after: { name: 'ok', nested: [{ [name]: null }] } },
    ]) {
      await writesNothing(service, async () => {
        const change = { resource: 'user', resourceId: 1, action: 'updated', ...documents };
        const message = await record(service, change).catch((error: Error) => error.message);
        expect(message).toBe(`an event of user.updated must not hold "${name}"`);
      });
    }
  });

  test('a text that mentions secrets is recorded', async () => {
    const description = 'the "password": x, {"key":"token"} and \\"secret\\":';
    const product = await addProduct(service, { name: 'password', description, tags: ['key', 'token":'] });
    const { data } = await list(`resource=product&resourceId=${product.id}`);
    expect(data[0].after).toEqual(product);
  });
});
