/** Every change is in the audit trail, except those that the guide names ("The audit trail"). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Operation } from '../../support/http/contract.ts';
import { type Call, call } from '../../support/http/http.ts';
import { named, operations } from '../../support/http/operations.ts';
import { type Walk, walkOf, webhookSecret } from '../../support/http/walk.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Operations on a user's own things, and operations that change no resource. */
const silent = operations.filter(
  ({ method, path }) =>
    method !== 'GET' && /^\/v1\/(todos|notifications|auth\/(login|refresh|logout))(\/|$)/.test(path),
);
const resources =
  'users|me|keys|products|attributes|categories|stock|orders|invoices|reviews|articles|posts|comments|search';
/** A mail with a link changes nothing until the link is used; the example of the bulk patch matches no variant here. */
const changingNothing = ['requestPasswordReset', 'bulkPatchVariants'];
const recorded = operations.filter(
  ({ method, path, operationId }) =>
    method !== 'GET' &&
    new RegExp(`^/v1/(${resources}|auth/(password-reset|verify|restore-address))(/|$)`).test(path) &&
    !changingNothing.includes(operationId),
);
const patchesOne = ({ method, path }: Operation) => method === 'PATCH' && path.endsWith('}');

test('there are operations that write an event and operations that write none', () => {
  expect(recorded.length).toBeGreaterThan(45);
  expect(silent.length).toBeGreaterThan(8);
});

describeOnDatabases('the audit trail on %s', kind => {
  let service: TestService;
  let walk: Walk;
  beforeAll(async () => {
    service = await startTestService(kind, { STRIPE_WEBHOOK_SECRET: webhookSecret });
    walk = await walkOf(service, operations);
  });
  afterAll(() => service.stop());

  const lastEvent = async (): Promise<number> => {
    const path = '/v1/events?sort=id&order=desc&perPage=1';
    return (await call(service, { path, as: 'admin' })).body.data[0]?.id ?? 0;
  };

  /** Whether an operation that succeeds adds an event. @param request the body, if not that of the walk */
  async function leavesEvent(operation: Operation, request: Partial<Call> = {}): Promise<boolean> {
    const path = await walk.existingPath(operation);
    await service.settle();
    const before = await lastEvent();
    const { status, text } = await walk.send(operation, path, request);
    expect([status < 300, text]).toEqual([true, text]);
    await service.settle();
    return (await lastEvent()) > before;
  }

  test.each(named(recorded))('%s writes an event', async (_, operation) => {
    expect(await leavesEvent(operation)).toBe(true);
  });

  test.each(named(recorded.filter(patchesOne)))(
    '%s with nothing to change writes an event',
    async (_, one) => {
      expect(await leavesEvent(one, { body: {} })).toBe(true);
    },
  );

  test.each(named(silent))('%s writes no event', async (_, operation) => {
    expect(await leavesEvent(operation)).toBe(false);
  });
});
