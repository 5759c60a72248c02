/** Checks every operation of the published document against the rules that hold for all of them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { settleShown } from './support/data/catalog.ts';
import { addPerson } from './support/data/people.ts';
import { methodsOfHttp, type Operation } from './support/http/contract.ts';
import { call, lasting } from './support/http/http.ts';
import {
  changing,
  conditional,
  guarded,
  named,
  nameOf,
  neverHolding,
  operations,
  paths,
  performing,
  withBody,
} from './support/http/operations.ts';
import { type Walk, walkOf, webhookSecret } from './support/http/walk.ts';
import { writesNothing } from './support/service/contents.ts';
import { describeOnDatabases } from './support/service/databases.ts';
import { startTestService, type TestService } from './support/service/service.ts';

/** Operations whose response does not depend on whether the resource in their path exists. */
const neverNotFound = ['requestPasswordReset'];

test('the document declares what the generic scenarios need', () => {
  expect(operations.length).toBeGreaterThan(20);
  for (const operation of operations) {
    const { method, path, responses, isPublic, roles, scope } = operation;
    const declared = Object.keys(responses);
    const hasParameters = path.includes('{');
    const expected = [
      ...(isPublic ? [] : ['401', '403']),
      ...(hasParameters ? ['400'] : []),
      ...(hasParameters && !neverNotFound.includes(operation.operationId) ? ['404'] : []),
      ...(operation.body === undefined ? [] : ['400', '413', '415']),
      ...(method === 'GET' && path.startsWith('/v1/') ? ['304'] : []),
    ];
    expect({ operation: nameOf(operation), declared }).toEqual({
      operation: nameOf(operation),
      declared: expect.arrayContaining(expected),
    });
    expect({
      operation: nameOf(operation),
      admits: isPublic || roles.length > 0 || scope !== undefined,
    }).toEqual({ operation: nameOf(operation), admits: true });
  }
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});

describeOnDatabases('the contract on %s', kind => {
  let service: TestService;
  let walk: Walk;
  /** Unexpired tokens of administrators whose accounts have since been demoted or deleted. */
  let outdated: readonly (readonly [what: string, headers: Readonly<Record<string, string>>])[];
  beforeAll(async () => {
    service = await startTestService(kind, { STRIPE_WEBHOOK_SECRET: webhookSecret });
    walk = await walkOf(service, operations);
    const [demoted, deleted] = [await addPerson(service, 'admin'), await addPerson(service, 'admin')];
    const role = { role: 'user' };
    await call(service, { method: 'PATCH', path: demoted.path, as: 'admin', body: role });
    await call(service, { method: 'DELETE', path: deleted.path, as: 'admin' });
    outdated = [
      ['demoted', demoted.headers],
      ['deleted', deleted.headers],
    ];
  });
  afterAll(() => service.stop());

  test.each(named(operations))(
    '%s: succeeds with exactly the values of its examples',
    async (_, operation) => {
      const response = await walk.send(operation, await walk.existingPath(operation));
      expect({ success: response.status >= 200 && response.status < 300, text: response.text }).toEqual({
        success: true,
        text: response.text,
      });
      if (response.status !== 201) return;
      const location = response.headers.get('Location') ?? '';
      expect(location).toStartWith(`${service.url}/v1/`);
      const found = await call(service, { path: new URL(location).pathname, ...walk.credentials(operation) });
      expect(found.status).toBe(200);
    },
  );

  test.each(named(guarded))('%s: 401 without credentials and with invalid ones', async (_, operation) => {
    const path = await walk.keptPath(operation);
    const keysOnly = operation.roles.length === 0;
    await writesNothing(service, async () => {
      const wrong = { Accept: 'image/x', 'Content-Type': 'text/x' };
      const without = await unauthenticated(operation, path, wrong);
      expect(without.status).toBe(401);
      expect(without.body.error).toBe('UNAUTHORIZED');
      expect(without.headers.get('WWW-Authenticate')).toBe(
        keysOnly ? 'ApiKey realm="catalog", header="X-API-Key"' : 'Bearer realm="catalog"',
      );
      // Errors of a token are reported where tokens are accepted, and those of a key where only keys are.
      for (const [headers, error] of [
        [{ Authorization: '' }, false],
        [{ Authorization: 'Bearer garbage.not.token' }, !keysOnly],
        [{ 'X-API-Key': `ck_${'A'.repeat(43)}` }, keysOnly],
      ] as const) {
        const refused = await unauthenticated(operation, path, headers);
        expect(refused.status).toBe(401);
        expect(refused.headers.get('WWW-Authenticate')?.includes('error="invalid_')).toBe(error);
        const isKey = 'X-API-Key' in headers;
        expect(refused.body.message.startsWith('The API key is wrong')).toBe(isKey);
      }
      const problem = await unauthenticated(operation, path, {
        Accept: 'application/json, application/problem+json',
      });
      expect(problem.headers.get('Content-Type')).toBe('application/problem+json');
      expect(problem.body).toMatchObject({ type: 'about:blank', status: 401, error: 'UNAUTHORIZED' });
      expect(problem.body.detail).toBe(problem.body.message);
    });
  });

  function unauthenticated(operation: Operation, path: string, headers: Record<string, string>) {
    const content = operation.body === undefined ? {} : { 'Content-Type': 'application/json' };
    return call(service, {
      method: operation.method,
      path,
      headers: { ...content, ...headers },
      ...(operation.body === undefined ? {} : { body: '{}' }),
    });
  }

  test.each(named(guarded))('%s: 403 for roles and keys without the right', async (_, operation) => {
    const path = await walk.keptPath(operation);
    await writesNothing(service, async () => {
      for (const as of (['admin', 'editor', 'user'] as const).filter(
        role => !operation.roles.includes(role),
      )) {
        const refused = await walk.send(operation, path, { as, headers: {} });
        expect([as, refused.status, refused.body.error]).toEqual([as, 403, 'FORBIDDEN']);
      }
      const { method, body } = operation;
      const refused = await call(service, {
        method,
        path,
        headers: { 'X-API-Key': walk.refusedKey(operation), 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: '{}' }),
      });
      expect([refused.status, refused.body.error]).toEqual([403, 'FORBIDDEN']);
    });
  });

  test.each(named(changing))('%s: 401 for a token older than the role of its user', async (_, operation) => {
    const path = await walk.keptPath(operation);
    const body = walk.body(operation);
    const idempotent = operation.method === 'POST' ? { 'Idempotency-Key': `"${operation.operationId}"` } : {};
    await writesNothing(service, async () => {
      for (const [what, token] of outdated) {
        const headers = { ...token, ...idempotent };
        const { method } = operation;
        const refused = await call(service, {
          method,
          path,
          headers,
          ...(body === undefined ? {} : { body }),
        });
        expect([what, refused.status, refused.body?.error]).toEqual([what, 401, 'UNAUTHORIZED']);
        expect(refused.headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
      }
    });
  });

  const withParameters = operations.filter(
    ({ path, operationId }) => path.includes('{') && !neverNotFound.includes(operationId),
  );
  test.each(named(withParameters))('%s: 404 for a resource that does not exist', async (_, operation) => {
    const response = await writesNothing(service, () => walk.send(operation, walk.missingPath(operation)));
    expect(response.status).toBe(404);
    if (operation.plainErrors) expect(response.body).toEqual({ error: expect.any(String) });
    else expect(response.body?.error).toBe('NOT_FOUND');
  });

  test.each(paths.map(({ path, declared }) => [path, declared] as const))(
    '%s: 405 with Allow for methods that are not declared, CORS for OPTIONS',
    async (path, declared) => {
      const own = declared.map(({ method }) => method);
      const allow = [...own, ...(own.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
      const target = path.replaceAll(/\{\w+\}/g, '1');
      await writesNothing(service, async () => {
        for (const method of methodsOfHttp.filter(method => !own.includes(method))) {
          const refused = await call(service, { method, path: target, as: 'admin' });
          expect([method, refused.status, refused.headers.get('Allow')]).toEqual([method, 405, allow]);
          expect(refused.body.error).toBe('METHOD_NOT_ALLOWED');
        }
      });
      const headers = { Origin: 'https://shop.example', 'Access-Control-Request-Method': own[0] ?? 'GET' };
      const preflight = await call(service, { method: 'OPTIONS', path: target, headers });
      const cors = [...preflight.headers].filter(([name]) => name.startsWith('access-control-a'));
      expect(preflight.status).toBe(204);
      expect(Object.fromEntries(cors)).toEqual({
        'access-control-allow-origin': 'https://shop.example',
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': 'Authorization, Content-Type, X-Request-ID',
        'access-control-allow-credentials': 'true',
      });
      expect(preflight.headers.get('Access-Control-Max-Age')).toBe('86400');
      expect(preflight.headers.get('Allow')).toBe(allow);
      const patched = declared.find(({ method }) => method === 'PATCH')?.body;
      expect(preflight.headers.get('Accept-Patch')).toBe(
        patched === undefined ? null : Object.keys(patched).join(', '),
      );
    },
  );

  test.each(named(operations))('%s: 406 when no acceptable type can be served', async (_, operation) => {
    const path = await walk.keptPath(operation);
    await writesNothing(service, async () => {
      const refused = await walk.send(operation, path, { headers: { Accept: 'model/none' } });
      expect([refused.status, refused.body?.error]).toEqual([406, 'NOT_ACCEPTABLE']);
    });
  });

  test.each(named(withBody))(
    '%s: 415 for another media type, 400 for malformed JSON',
    async (_, operation) => {
      const path = await walk.keptPath(operation);
      const accepted = Object.keys(operation.body ?? {});
      const advice =
        operation.method === 'PATCH'
          ? 'Accept-Patch'
          : operation.method === 'POST'
            ? 'Accept-Post'
            : 'Accept';
      await writesNothing(service, async () => {
        const unsupported = await walk.send(operation, path, { headers: { 'Content-Type': 'text/plain' } });
        expect([unsupported.status, unsupported.body.error]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
        expect(unsupported.headers.get(advice)).toBe(accepted.join(', '));
        for (const type of accepted.filter(type => type.endsWith('json'))) {
          const malformed = await walk.send(operation, path, {
            body: '{"a":',
            headers: { 'Content-Type': type },
          });
          const error = operation.plainErrors ? expect.stringContaining('JSON') : 'MALFORMED_JSON';
          expect([type, malformed.status, malformed.body.error]).toEqual([type, 400, error]);
        }
      });
    },
  );

  test.each(named(performing))(
    '%s: 412 and no change for a condition that does not hold',
    async (_, operation) => {
      const path = await walk.existingPath(operation);
      await service.settle();
      await writesNothing(service, async () => {
        for (const headers of neverHolding) {
          const { status, body } = await walk.send(operation, path, { headers });
          expect([headers, status, body?.error]).toEqual([headers, 412, 'PRECONDITION_FAILED']);
        }
      });
    },
  );

  test.each(named(conditional))(
    '%s: 304 for the ETag, with all headers except those of a body',
    async (_, operation) => {
      const path = await walk.keptPath(operation);
      await settleShown(service);
      const first = await walk.send(operation, path);
      const etag = first.headers.get('ETag') ?? 'none';
      const headers = { 'If-None-Match': etag, 'X-Request-ID': 'poll-1', Origin: 'https://shop.example' };
      const second = await walk.send(operation, path, { headers });
      expect([second.status, second.text]).toEqual([304, '']);
      expect(second.headers.get('ETag')).toBe(etag);
      expect(second.headers.get('X-Request-ID')).toBe('poll-1');
      expect(second.headers.get('Content-Type')).toBeNull();
      expect(second.headers.get('Cache-Control')).toBe(first.headers.get('Cache-Control'));
      expect(second.headers.get('Vary')).toBe(first.headers.get('Vary'));
      expect(second.headers.get('Access-Control-Allow-Origin')).toBe('https://shop.example');
      const other = await walk.send(operation, path, { headers: { 'If-None-Match': '"another"' } });
      expect(other.status).toBe(200);
    },
  );

  test.each(named(operations.filter(({ method }) => method === 'GET')))(
    '%s: HEAD equals GET',
    async (_, operation) => {
      const path = await walk.keptPath(operation);
      await settleShown(service);
      const headers = { 'X-Request-ID': 'head-or-get' };
      const get = await walk.send(operation, path, { headers });
      const head = await walk.send(operation, path, { method: 'HEAD', headers });
      expect(head.status).toBe(200);
      expect(lasting(head.headers)).toEqual(lasting(get.headers));
      if (get.headers.has('ETag')) expect(Object.keys(operation.responses)).toContain('304');
      // Responses without an ETag change from one moment to the next, and so may their length.
      if (get.headers.has('ETag'))
        expect(head.headers.get('Content-Length')).toBe(get.headers.get('Content-Length'));
    },
  );
});
