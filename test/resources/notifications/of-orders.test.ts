/** The notifications of a customer about an order, from paying or cancelling it over HTTP to reading them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { act, placeOrder } from '../../support/data/orders.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('notifications of orders on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const of = async (as: 'user' | 'admin') => {
    await service.settle();
    return (await call(service, { path: '/v1/notifications?limit=100', as })).body.data;
  };

  test.each([
    ['payment', 'order.paid', 'has been paid.'],
    ['cancel', 'order.cancelled', 'has been cancelled.'],
  ] as const)('the customer is notified once of %s, no matter who did it', async (action, type, what) => {
    for (const as of ['user', 'admin'] as const) {
      const placed = await placeOrder(service);
      const before = { user: await of('user'), admin: await of('admin') };
      expect((await act(service, placed, action, as)).status).toBe(200);
      expect((await act(service, placed, action, as)).status).toBe(409);
      const { id } = placed.order;
      expect(await of('user')).toEqual([
        ...before.user,
        {
          id: expect.any(Number),
          type,
          message: `Order ${id} ${what}`,
          resource: 'order',
          resourceId: id,
          read: false,
          readAt: null,
          createdAt: nowOf(service),
        },
      ]);
      expect(await of('admin')).toEqual(before.admin);
      const path = `/v1/notifications/${(await of('user')).at(-1).id}`;
      const headers = { Accept: 'application/hal+json' };
      const { href } = (await call(service, { path, as: 'user', headers })).body._links.order;
      expect((await call(service, { path: href.slice(service.url.length), as: 'user' })).body.id).toBe(id);
    }
  });
});
