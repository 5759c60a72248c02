/** Todos: the exact envelopes and rules of the specification, and only the user's own todos. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTodoStore } from '../../src/resources/todos/store.ts';
import { addKey, addPerson } from '../support/data/people.ts';
import { type Call, call } from '../support/http/http.ts';
import { play } from '../support/http/scenario.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const path = '/v1/todos';

describeOnDatabases('todos on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  async function add(title: string, as: Call['as'] = 'user') {
    const { status, body } = await call(service, { method: 'POST', path, as, body: { title } });
    expect(status).toBe(201);
    return body.data as { id: number; title: string; done: boolean; createdAt: string };
  }

  test('a new todo is trimmed, not done, and has the next id', async () => {
    const before = await add('First');
    const response = await play(service, {
      name: 'made',
      method: 'POST',
      path,
      as: 'user',
      body: { title: '  Order more lamps \n', done: true, id: 99 },
      status: 201,
    });
    const { id } = response.body.data;
    expect(response.body).toEqual({
      data: {
        id,
        title: 'Order more lamps',
        done: false,
        createdAt: new Date(service.clock.now()).toISOString(),
      },
    });
    expect(id).toBeGreaterThan(before.id);
    expect(response.headers.get('Location')).toBe(`${service.url}${path}/${id}`);
    await play(service, {
      name: 'read again',
      path: `${path}/${id}`,
      as: 'user',
      status: 200,
      response: response.body,
    });
  });

  const refused: readonly [string, unknown][] = [
    ['without a title', {}],
    ['with a blank title', { title: ' \t\n ' }],
    ['with a title that is no text', { title: 7 }],
    ['with null', { title: null }],
    ['with a title of 501 characters', { title: 'x'.repeat(501) }],
    ['that is an array', []],
  ];
  test.each(refused)('a todo %s is refused with {error} alone', async (name, body) => {
    const response = await play(service, { name, method: 'POST', path, as: 'user', body, status: 400 });
    expect(response.body).toEqual({ error: expect.stringMatching(/\S/) });
  });

  test('JSON that is malformed is refused with {error} alone', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await play(service, {
      name: 'malformed',
      method: 'POST',
      path,
      as: 'user',
      body: '{"title":',
      headers,
      status: 400,
    });
    expect(response.body).toEqual({ error: expect.any(String) });
  });

  test('Accept with application/problem+json gets the problem', async () => {
    const headers = { Accept: 'application/json, application/problem+json' };
    const response = await play(service, {
      name: 'problem',
      path: `${path}/2147483647`,
      as: 'user',
      headers,
      status: 404,
    });
    expect(response.body).toMatchObject({ status: 404, error: 'NOT_FOUND' });
  });

  test('the list is {data, total}, filtered by done', async () => {
    const mine = await startTestService(kind);
    try {
      const titles = ['one', 'two', 'three'];
      const made: { id: number }[] = [];
      for (const title of titles) {
        const response = await call(mine, { method: 'POST', path, as: 'editor', body: { title } });
        made.push(response.body.data);
      }
      const [first, second, third] = made;
      await call(mine, {
        method: 'PATCH',
        path: `${path}/${second?.id}`,
        as: 'editor',
        body: { done: true },
      });
      const list = async (query: string) =>
        (await call(mine, { path: `${path}${query}`, as: 'editor' })).body;
      expect(await list('')).toEqual({ data: [first, { ...second, done: true }, third], total: 3 });
      expect(await list('?done=true')).toEqual({ data: [{ ...second, done: true }], total: 1 });
      expect(await list('?done=false')).toEqual({ data: [first, third], total: 2 });
      expect((await call(mine, { path, as: 'admin' })).body).toEqual({ data: [], total: 0 });
      const wrong = await call(mine, { path: `${path}?done=1`, as: 'editor' });
      expect([wrong.status, wrong.body]).toEqual([400, { error: 'done: must be one of true, false' }]);
    } finally {
      await mine.stop();
    }
  });

  const conversions: readonly [unknown, boolean][] = [
    [true, true],
    [false, false],
    [1, true],
    [0, false],
    ['yes', true],
    ['true', true],
    ['false', false],
    ['0', false],
    ['', false],
    [null, false],
    [[], true],
  ];
  test.each(conversions)('done: %j is converted to %j', async (sent, stored) => {
    const { id, ...rest } = await add('Convert');
    const response = await play(service, {
      name: 'update',
      method: 'PATCH',
      path: `${path}/${id}`,
      as: 'user',
      body: { done: sent },
      status: 200,
    });
    expect(response.body).toEqual({ data: { id, ...rest, done: stored } });
  });

  test('an update changes only the members that it names', async () => {
    const made = await add('Before');
    const target = `${path}/${made.id}`;
    const patch = (body: unknown) => call(service, { method: 'PATCH', path: target, as: 'user', body });
    expect((await patch({ title: '  After ' })).body.data).toEqual({ ...made, title: 'After' });
    expect((await patch({ done: true })).body.data).toEqual({ ...made, title: 'After', done: true });
    expect((await patch({})).body.data).toEqual({ ...made, title: 'After', done: true });
    expect((await patch({ id: 1, createdAt: 'x' })).body.data.id).toBe(made.id);
    await play(service, {
      name: 'blank',
      method: 'PATCH',
      path: target,
      as: 'user',
      body: { title: '  ' },
      status: 400,
      response: { error: 'title: must not be blank' },
    });
    const replaced = await call(service, { method: 'PUT', path: target, as: 'user', body: { title: 'New' } });
    expect(replaced.body.data).toEqual({ ...made, title: 'New', done: false });
  });

  test('JSON Patch and If-Match work as for other resources', async () => {
    const made = await add('Patched');
    const target = `${path}/${made.id}`;
    const etag = (await call(service, { path: target, as: 'user' })).headers.get('ETag') ?? '';
    const patch = (headers: Record<string, string>) =>
      call(service, {
        method: 'PATCH',
        path: target,
        as: 'user',
        headers: { 'Content-Type': 'application/json-patch+json', ...headers },
        body: [{ op: 'replace', path: '/done', value: true }],
      });
    expect((await patch({ 'If-Match': '"other"' })).status).toBe(412);
    const changed = await patch({ 'If-Match': etag });
    expect([changed.status, changed.body.data.done]).toEqual([200, true]);
    expect((await patch({ 'If-Match': etag })).status).toBe(412);
  });

  const readOnly = 'id: is read-only';
  const unchanged = `${readOnly}; nothing was changed`;
  const another = (op: string) => (id: number) => [{ op, path: '/id', value: id + 1 }];
  const patched: [
    name: string,
    type: string,
    body: (id: number) => unknown,
    usual: string,
    strict: string,
  ][] = [
    ['another id', 'json', id => ({ id: id + 1 }), '', readOnly],
    ['another id', 'merge-patch+json', id => ({ id: id + 1 }), '', readOnly],
    ['its own id', 'merge-patch+json', id => ({ id, done: true }), '', ''],
    ['a test of it', 'json-patch+json', id => [{ op: 'test', path: '/id', value: id }], '', ''],
    ['replace', 'json-patch+json', another('replace'), unchanged, unchanged],
    ['add', 'json-patch+json', another('add'), unchanged, unchanged],
  ];
  test.each(patched)('the id is read-only: %s as %s', async (_, type, bodyOf, usual, strict) => {
    const made = await add('Read-only');
    for (const [prefer, refusal] of [
      ['handling=lenient', usual],
      ['handling=strict', strict],
    ] as const) {
      const { status, body } = await call(service, {
        method: 'PATCH',
        path: `${path}/${made.id}`,
        as: 'user',
        headers: { 'Content-Type': `application/${type}`, Prefer: prefer },
        body: bodyOf(made.id),
      });
      const expected = refusal === '' ? 200 : type.startsWith('json-patch') ? 422 : 400;
      expect([prefer, status, body.message ?? body.error ?? '']).toEqual([prefer, expected, refusal]);
    }
    const { body } = await call(service, { path: `${path}/${made.id}`, as: 'user' });
    expect(body.data).toMatchObject({ id: made.id, createdAt: made.createdAt });
  });

  test('another’s todo does not exist', async () => {
    const { id } = await add('Mine');
    for (const as of ['editor', 'admin'] as const) {
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', { title: 'Theirs' }],
        ['PATCH', { done: true }],
        ['DELETE', undefined],
      ] as const) {
        const response = await play(service, {
          name: `${method} as ${as}`,
          method,
          path: `${path}/${id}`,
          as,
          ...(body === undefined ? {} : { body }),
          status: 404,
        });
        expect(response.body).toEqual({ error: `There is no todo ${id}.` });
      }
    }
  });

  test('a deleted todo is gone, and its id is not used again', async () => {
    const { id } = await add('Short-lived');
    const target = { path: `${path}/${id}`, as: 'user' } as const;
    const response = await call(service, { method: 'DELETE', ...target });
    expect([response.status, response.text]).toEqual([204, '']);
    await play(service, { name: 'again', method: 'DELETE', ...target, status: 404 });
    await play(service, { name: 'read', ...target, status: 404 });
    expect((await add('Next')).id).toBeGreaterThan(id);
  });

  test('API keys cannot access todos', async () => {
    const headers = await addKey(service, 'products:read', 'content:write');
    const response = await call(service, { path, headers });
    expect([response.status, response.body.error]).toEqual([403, 'FORBIDDEN']);
  });

  test('a user has at most 1,000 todos, even with concurrent requests', async () => {
    const owner = await addPerson(service);
    const make = (title: string) =>
      call(service, { method: 'POST', path, headers: owner.headers, body: { title } });
    const todo = createTodoStore(service.database);
    await service.database.write(async session => {
      for (let made = 0; made < 995; made++) await todo.insert(session, owner.id, 'x', service.clock.now());
    });
    const responses = await Promise.all(Array.from({ length: 10 }, (_, index) => make(`Lamp ${index}`)));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 201, 201, 201, 409, 409, 409, 409, 409]);
    const refused = responses.find(({ status }) => status === 409)?.body;
    expect(refused.message).toBe('You have 1000 todos; delete some before you create another.');
    const all = await call(service, { path, headers: owner.headers });
    expect([all.body.total, all.body.data.length]).toEqual([1000, 1000]);
  });
});
