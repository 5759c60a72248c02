/** A form that sends an empty field gets an error that names it, never a list that looks as if nothing matched. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { named, operations } from '../../support/http/operations.ts';
import { requiredQuery, type Walk, walkOf, webhookSecret } from '../../support/http/walk.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const lists = operations.filter(
  ({ method, parameters }) => method === 'GET' && parameters.some(({ name }) => name === 'perPage'),
);
/** Not a name to send: it stands for all that begin with `attr.`, of which an empty text may be a value. */
const placeholder = 'attributes';

test('there are lists to send empty parameters to', () => expect(lists.length).toBeGreaterThan(15));

describeOnDatabases('empty parameters of lists on %s', kind => {
  let service: TestService;
  let walk: Walk;
  beforeAll(async () => {
    service = await startTestService(kind, { STRIPE_WEBHOOK_SECRET: webhookSecret });
    walk = await walkOf(service, operations);
  });
  afterAll(() => service.stop());

  test.each(named(lists))('%s: refuses them', async (_, list) => {
    const path = await walk.keptPath(list);
    for (const { in: place, name, required } of list.parameters) {
      if (place !== 'query' || name === placeholder) continue;
      const query = required === true ? '?' : `${requiredQuery(list) || '?'}&`;
      const { status, body } = await walk.send(list, path, { path: `${path}${query}${name}=` });
      const code = name === 'cursor' ? 'INVALID_CURSOR' : 'VALIDATION_FAILED';
      expect([name, status, body.error]).toEqual([name, 400, code]);
      if (name !== 'cursor') expect(body.message).toStartWith(`${name}: must `);
    }
  });
});
