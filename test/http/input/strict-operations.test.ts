/** `Prefer: handling=strict` with every operation, on one database, since strictness does not depend on it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Operation } from '../../support/http/contract.ts';
import type { Call, Received } from '../../support/http/http.ts';
import { named, operations } from '../../support/http/operations.ts';
import { type Walk, walkOf, webhookSecret } from '../../support/http/walk.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const strict = { Prefer: 'handling=strict' };
const patch = 'application/json-patch+json';

interface Problem {
  readonly field: string;
  readonly message: string;
}

/** The problems that the message names, for errors that have only a message. */
const readPlainError = (message: string): Problem[] =>
  message.split('; ').flatMap(part => {
    const [field, said] = part.split(': ');
    return field === undefined || said === undefined ? [] : [{ field, message: said }];
  });

describe('strict handling of every operation', () => {
  let service: TestService;
  let walk: Walk;
  beforeAll(async () => {
    service = await startTestService('sqlite', { STRIPE_WEBHOOK_SECRET: webhookSecret });
    walk = await walkOf(service, operations);
  });
  afterAll(() => service.stop());

  test.each(named(operations))(
    '%s: accepts its own example and refuses any unknown name',
    async (_, operation) => {
      const path = await walk.existingPath(operation);
      const other = `${path}${path.includes('?') ? '&' : '?'}unheardOf=1`;
      await writesNothing(service, async () => {
        expectRefusal(await walk.send(operation, other, { headers: strict }), 'unheardOf');
        for (const request of withUnknownMember(operation)) {
          expectRefusal(await walk.send(operation, path, request), request.field);
        }
      });
      const taken = await walk.send(operation, path, {
        headers: { ...walk.credentials(operation).headers, ...strict },
      });
      expect({ success: taken.status < 300, text: taken.text }).toEqual({ success: true, text: taken.text });
      expect(taken.headers.get('Preference-Applied')).toBe('handling=strict');
    },
  );

  // The result of a bulk operation is not the representation of a single resource.
  const representing = operations.filter(
    ({ operationId, method, body, responses }) =>
      body !== undefined &&
      !operationId.startsWith('bulk') &&
      (method === 'POST' ? '201' : '200') in responses,
  );
  test('some operations respond with the resource that they created or changed', () => {
    expect(representing.filter(({ method }) => method === 'POST').length).toBeGreaterThan(10);
  });

  test.each(named(representing))(
    '%s: members that it returns but does not accept are read-only',
    async (_, operation) => {
      const path = await walk.existingPath(operation);
      const { body } = await walk.send(operation, path);
      const shown: object = body.data ?? body;
      const example = walk.body(operation);
      const { headers } = walk.credentials(operation);
      const sent = { ...(typeof example === 'object' ? example : {}), ...shown, unheardOf: 1 };
      await writesNothing(service, async () => {
        const json = { ...headers, ...strict, 'Content-Type': 'application/json' };
        const refused = await walk.send(operation, path, { headers: json, body: sent });
        expect(refused.status).toBe(400);
        const problems: Problem[] = refused.body.details ?? readPlainError(refused.body.error);
        const readOnly = problems.filter(({ message }) => message === 'is read-only');
        expect(problems.filter(problem => !readOnly.includes(problem))).toMatchObject([
          { field: 'unheardOf' },
        ]);
        if ('id' in shown) expect(readOnly.map(({ field }) => field)).toContain('id');
      });
    },
  );

  /** The operation's example with an unknown member, in each of its JSON media types. */
  function withUnknownMember(operation: Operation): (Partial<Call> & { readonly field: string })[] {
    const example = walk.body(operation);
    if (operation.operationId === 'receiveStripeEvent' || typeof example !== 'object') return [];
    const credentials = walk.credentials(operation).headers;
    const types = Object.keys(operation.body ?? {}).filter(type => type.endsWith('json'));
    return types.map(type => {
      const headers = { ...credentials, ...strict, 'Content-Type': type };
      return type === patch
        ? { headers, body: [{ op: 'add', path: '/unheardOf', value: 1 }], field: '0.path' }
        : { headers, body: { ...example, unheardOf: 1 }, field: 'unheardOf' };
    });
  }

  function expectRefusal({ status, body, text }: Received, field: string): void {
    expect([status, text]).toEqual([400, expect.stringContaining(`${field}: `)]);
    if (body.details === undefined) return;
    const found = body.details.find((detail: { field: string }) => detail.field === field);
    expect(found).toMatchObject({ code: 'unknown', message: expect.stringContaining('is not known') });
  }
});
