/** Notifications for tests to work on: a service, and calls that notify its users. */
import { afterAll, beforeAll, expect } from 'bun:test';
import type { Role } from '../../../src/http/access.ts';
import { call } from '../http/http.ts';
import { startTestService, type TestService } from '../service/service.ts';
import { type Happening, record } from './events.ts';
import { userIdOf } from './people.ts';

const path = '/v1/notifications';

interface Notification {
  readonly id: number;
  readonly resourceId: number;
  readonly read: boolean;
  readonly path: string;
}

export interface Notifications {
  /** Shared by all tests of the block. */
  readonly service: TestService;
  readonly ids: Readonly<Record<Role, number>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies of every shape, and assert what they find
  of(as: Role, query?: string): Promise<any[]>;
  /** @param resourceId by default another order each time */
  paid(customerId: number, resourceId?: number): Happening;
  /** Notifies this role of an order that has been paid. */
  tell(as: Role): Promise<Notification>;
}

/** Call this in a block of tests: the service starts and stops with the block. */
export function notificationsOn(kind: TestService['kind']): Notifications {
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
  const of: Notifications['of'] = async (as, query = 'limit=100') =>
    (await call(service, { path: `${path}?${query}`, as })).body.data;
  const paid: Notifications['paid'] = (customerId, resourceId = ++orders) => ({
    resource: 'order',
    resourceId,
    action: 'paid',
    before: { id: resourceId, status: 'PENDING', customerId },
    after: { id: resourceId, status: 'PAID', customerId },
  });
  return {
    get service() {
      return service;
    },
    get ids() {
      return ids;
    },
    of,
    paid,
    async tell(as) {
      const happening = paid(ids[as]);
      await record(service, happening);
      const found = (await of(as, 'sort=id&order=desc&limit=1'))[0];
      expect(found.resourceId).toBe(happening.resourceId);
      return { ...found, path: `${path}/${found.id}` };
    },
  };
}
