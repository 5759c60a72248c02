/** Definitions of attributes: which callers write them, what is refused, and that no request misses a change. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play, type Scenario } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const path = '/v1/attributes';

describeOnDatabases('attributes on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const define = (body: object) => call(service, { method: 'POST', path, as: 'admin', body });
  const write = (method: string, id: number, body?: unknown, headers: Record<string, string> = {}) =>
    call(service, { method, path: `${path}/${id}`, as: 'admin', body, headers });

  test('is defined, read, replaced, changed and deleted, each with its event', async () => {
    const made = await define({ key: 'colour', type: 'choice', choices: ['red', 'blue'] });
    expect(made.status).toBe(201);
    const { id } = made.body;
    const whole = {
      ...{ id, key: 'colour', label: 'colour', type: 'choice', unit: null, choices: ['red', 'blue'] },
      ...{ filterable: true, facet: true, required: false, requiredIn: [] },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    };
    expect(made.body).toEqual(whole);
    const read = await call(service, { path: `${path}/${id}`, as: 'user' });
    expect(read.body).toEqual(whole);
    const tag = read.headers.get('ETag') ?? '';
    const patched = await write('PATCH', id, { label: 'Colour', requiredIn: [' sofas  >  corner'] });
    expect(patched.body).toEqual({ ...whole, label: 'Colour', requiredIn: ['sofas > corner'] });
    const late = await write('PUT', id, { key: 'colour', type: 'text' }, { 'If-Match': tag });
    expect(late.status).toBe(412);
    const replaced = await write('PUT', id, { key: 'colour', type: 'text', unit: 'nm', facet: false });
    expect(replaced.body).toEqual({ ...whole, type: 'text', choices: [], unit: 'nm', facet: false });
    const json = { 'Content-Type': 'application/json-patch+json' };
    const operations = [{ op: 'replace', path: '/filterable', value: false }];
    expect((await write('PATCH', id, operations, json)).body.filterable).toBe(false);
    expect((await write('DELETE', id)).status).toBe(204);
    expect((await write('DELETE', id)).status).toBe(404);
    const events = `/v1/events?resource=attribute&resourceId=${id}`;
    const { body } = await call(service, { path: events, as: 'admin' });
    const types = body.data.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['created', 'updated', 'updated', 'updated', 'deleted'].map(a => `attribute.${a}`));
    expect(body.data[0].after).toEqual(whole);
  });

  test('the list is filtered and sorted, and has action links for callers who may write', async () => {
    for (const [key, type] of [
      ['list.b', 'number'],
      ['list.a', 'boolean'],
    ])
      expect((await define({ key, type })).status).toBe(201);
    const keysOf = async (query: string) => {
      const { body } = await call(service, { path: `${path}?${query}`, as: 'user' });
      return body.data
        .map(({ key }: { key: string }) => key)
        .filter((key: string) => key.startsWith('list.'));
    };
    expect(await keysOf('sort=key')).toEqual(['list.a', 'list.b']);
    expect(await keysOf('type=number')).toEqual(['list.b']);
    expect(await keysOf('key=list.a')).toEqual(['list.a']);
    for (const [as, relations] of [
      ['user', ['self']],
      ['admin', ['self', 'edit', 'delete']],
    ] as const) {
      const headers = { Accept: 'application/hal+json' };
      const { body } = await call(service, { path: `${path}?key=list.a`, as, headers });
      expect(Object.keys(body._embedded.attributes[0]._links)).toEqual([...relations]);
    }
  });

  test('an invalid definition is refused, and the error names the member', async () => {
    expect((await define({ key: 'taken', type: 'text' })).status).toBe(201);
    const body = { key: 'fine', type: 'text' };
    const post: Omit<Scenario, 'name' | 'status'> = { method: 'POST', path, as: 'admin' };
    const cases: Scenario[] = [
      { ...post, name: 'editors', as: 'editor', body, status: 403, error: 'FORBIDDEN' },
      { ...post, name: 'taken', body: { ...body, key: 'taken' }, status: 409, error: 'DUPLICATE' },
      ...(
        [
          [{}, 'key', 'required'],
          [{ ...body, key: 'Colour' }, 'key', 'pattern'],
          [{ ...body, key: '9' }, 'key', 'pattern'],
          [{ ...body, key: 'a'.repeat(65) }, 'key', 'pattern'],
          [{ ...body, type: 'colour' }, 'type', 'enum'],
          [{ ...body, choices: ['red'] }, 'choices', 'choices'],
          [{ ...body, type: 'choice' }, 'choices', 'choices'],
          [{ ...body, type: 'choice', choices: [] }, 'choices', 'choices'],
          [{ ...body, type: 'choice', choices: ['red', 'red'] }, 'choices', 'uniqueItems'],
          [{ ...body, filterable: 'yes' }, 'filterable', 'type'],
          [{ ...body, requiredIn: 'sofas' }, 'requiredIn', 'type'],
          [{ ...body, requiredIn: ['sofas > '] }, 'requiredIn.0', 'separator'],
        ] as const
      ).map(
        ([sent, field, rule]) =>
          ({
            ...post,
            name: `${field} ${rule}`,
            body: sent,
            status: 400,
            problems:
              Object.keys(sent).length === 0
                ? [
                    ['key', 'required'],
                    ['type', 'required'],
                  ]
                : [[field, rule]],
          }) satisfies Scenario,
      ),
    ];
    for (const scenario of cases) await play(service, scenario);
  });

  test('filters compare values of one kind, and an option beside an attribute with its key', async () => {
    const options = [{ name: 'Grade', values: ['1.0', '3'] }];
    const attributes = { grade: 'own', seen: '2026-01-31' };
    const { id } = await addProduct(service, { attributes, options });
    const total = async (filter: string) =>
      (await call(service, { path: `/v1/products?id=${id}&${filter}`, as: 'user' })).body.meta.total;
    for (const filter of ['grade=own', 'grade=1.0', 'grade=gte:3', 'seen=gte:2026-01-01'])
      expect([filter, await total(`attr.${filter}`)]).toEqual([filter, 1]);
    // The text 1.0 is no number, and a date has no order among numbers.
    for (const filter of ['grade=lt:3', 'seen=gte:5']) {
      expect([filter, await total(`attr.${filter}`)]).toEqual([filter, 0]);
    }
  });
});
