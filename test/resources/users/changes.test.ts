/** Changing users: no way to promote oneself, versions as locks, addresses, and the last administrator. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addPerson, type Person, refreshWith } from '../../support/data/people.ts';
import { type Call, call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { mailsOf } from '../../support/peers/mails.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, startTestService, type TestService } from '../../support/service/service.ts';

const jsonPatch = { 'Content-Type': 'application/json-patch+json' };
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

type Attempt = Pick<Call, 'method' | 'headers' | 'body'>;
const patch = (...operations: object[]): Attempt => ({
  method: 'PATCH',
  headers: jsonPatch,
  body: operations,
});

/** Every way to write the role. */
const promotions: [name: string, attempt: (me: Person) => Attempt][] = [
  ['PUT', ({ name, email }) => ({ method: 'PUT', body: { name, email, role: 'admin' } })],
  ['JSON', () => ({ method: 'PATCH', body: { role: 'editor' } })],
  ['a merge patch', () => ({ method: 'PATCH', headers: mergePatch, body: { role: 'admin' } })],
  ['replace', () => patch({ op: 'replace', path: '/role', value: 'admin' })],
  ['add', () => patch({ op: 'add', path: '/role', value: 'admin' })],
  [
    'copy',
    () =>
      patch({ op: 'replace', path: '/name', value: 'admin' }, { op: 'copy', from: '/name', path: '/role' }),
  ],
  [
    'move',
    () =>
      patch({ op: 'add', path: '/tags/0', value: 'admin' }, { op: 'move', from: '/tags/0', path: '/role' }),
  ],
  [
    'the whole document',
    ({ name, email }) =>
      patch(
        { op: 'copy', from: '', path: '/old' },
        { op: 'add', path: '/role', value: 'editor' },
        {
          op: 'replace',
          path: '/name',
          value: `${name} ${email}`,
        },
      ),
  ],
];

describeOnDatabases('changing users on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test.each(promotions)('a user cannot promote their own account: %s', async (name, attempt) => {
    const me = await addPerson(service);
    const { method = 'PATCH', headers, body } = attempt(me);
    const request = { name, path: me.path, method, body, headers: { ...me.headers, ...headers } };
    await play(service, { ...request, status: 403, error: 'FORBIDDEN' });
  });

  test('an unchanged role does not count as a promotion', async () => {
    const { path, headers, name, email } = await addPerson(service);
    const body = { name, email, role: 'user', tags: ['mine'] };
    const put = await call(service, { method: 'PUT', path, headers, body });
    expect([put.status, put.body.tags]).toEqual([200, ['mine']]);
    const same = await call(service, { method: 'PATCH', path, headers, body: { role: 'user' } });
    expect(same.status).toBe(200);
  });

  test('read-only members are ignored in JSON and merge patches, and refused with 422 in JSON Patch', async () => {
    const { id, path } = await addPerson(service);
    const members = {
      id: 1,
      version: 9,
      pendingEmail: 'mine@people.example',
      verifiedAt: nowOf(service),
      createdAt: '2001-01-01T00:00:00.000Z',
      updatedAt: '2001-01-01T00:00:00.000Z',
    };
    for (const headers of [{}, mergePatch]) {
      const response = await call(service, { method: 'PATCH', path, as: 'admin', headers, body: members });
      expect(response.status).toBe(200);
      expect(response.body).toMatchObject({ id, verifiedAt: null, createdAt: nowOf(service) });
    }
    for (const [name, value] of Object.entries(members)) {
      const { headers, body } = patch({ op: 'replace', path: `/${name}`, value });
      const request = { name, method: 'PATCH', path, as: 'admin', body, headers: headers ?? {} } as const;
      const response = await play(service, { ...request, status: 422, error: 'PATCH_RESULT_INVALID' });
      expect(response.body.details[0]).toMatchObject({ field: name, code: 'readOnly' });
    }
  });

  test('one of 20 patches that test the same version succeeds', async () => {
    // As the user: writes by administrators wait for one another anyway.
    const { id, path, headers: own } = await addPerson(service);
    const patches = Array.from({ length: 20 }, (_, index) => {
      const { headers, body } = patch(
        { op: 'test', path: '/version', value: 1 },
        { op: 'replace', path: '/name', value: `Writer ${index}` },
        { op: 'add', path: '/tags/-', value: `tag ${index}` },
      );
      return call(service, { method: 'PATCH', path, body, headers: { ...own, ...headers } });
    });
    const responses = await Promise.all(patches);
    const [made, ...more] = responses.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    const errors = responses.filter(({ status }) => status !== 200).map(({ body }) => body.error);
    expect(errors).toEqual(Array(19).fill('PATCH_TEST_FAILED'));
    const now = await call(service, { path, as: 'admin' });
    expect(now.text).toBe(made?.text ?? '');
    expect(now.body.version).toBe(2);
    expect((await eventsOf(service, 'user', id)).map(({ type }) => type)).toEqual([
      'user.created',
      'user.updated',
    ]);
  });

  test('the same address in another case stays confirmed', async () => {
    const { path, email } = await addPerson(service);
    const verified = await call(service, { method: 'POST', path: `${path}/verify`, as: 'admin' });
    const mails = await mailsOf(service, async () => {
      const body = { email: email.toUpperCase() };
      const response = await call(service, { method: 'PATCH', path, as: 'admin', body });
      expect(response.body).toMatchObject({ ...body, verifiedAt: verified.body.verifiedAt });
    });
    expect(mails).toEqual([]);
  });

  test('a changed role ends the sessions; another change does not', async () => {
    const { path, refreshToken } = await addPerson(service);
    await call(service, { method: 'PATCH', path, as: 'admin', body: { name: 'Renamed' } });
    expect((await refreshWith(service, refreshToken)).status).toBe(200);
    await call(service, { method: 'PATCH', path, as: 'admin', body: { role: 'editor' } });
    expect((await refreshWith(service, refreshToken)).status).toBe(401);
  });
});

describeOnDatabases('the last administrator on %s', kind => {
  let service: TestService;
  let admin: string;
  beforeAll(async () => {
    service = await startTestService(kind);
    const { body } = await call(service, { path: '/v1/me', as: 'admin' });
    admin = `/v1/users/${body.id}`;
  });
  afterAll(() => service.stop());
  const demote = (path: string, headers: Readonly<Record<string, string>>) =>
    call(service, { method: 'PATCH', path, headers, body: { role: 'user' } });
  const first = () => ({ Authorization: `Bearer ${service.tokens.admin}` });

  test('can be neither demoted nor deleted', async () => {
    const last = { path: admin, as: 'admin', status: 409, error: 'LAST_ADMINISTRATOR' } as const;
    const body = { name: 'Test admin', email: emailOf('admin'), role: 'editor' };
    await play(service, { ...last, name: 'PUT', method: 'PUT', body });
    await play(service, { ...last, name: 'PATCH', method: 'PATCH', body: { role: 'user' } });
    await play(service, { ...last, name: 'DELETE', method: 'DELETE' });
    const response = await call(service, {
      path: admin,
      as: 'admin',
      headers: { Accept: 'application/hal+json' },
    });
    expect(Object.keys(response.body._links)).not.toContain('delete');
  });

  type Way = (
    at: TestService,
    path: string,
    headers: Readonly<Record<string, string>>,
  ) => ReturnType<typeof call>;
  const ways: readonly (readonly [name: string, way: Way])[] = [
    ['demote', (at, path, headers) => call(at, { method: 'PATCH', path, headers, body: { role: 'user' } })],
    ['delete', (at, path, headers) => call(at, { method: 'DELETE', path, headers })],
  ];
  test.each(ways)('of two administrators who %s each other at once, one stays', async (_, way) => {
    await using apart = await startTestService(kind);
    let mine: Readonly<Record<string, string>> = { Authorization: `Bearer ${apart.tokens.admin}` };
    for (let round = 0; round < 3; round++) {
      const { body } = await call(apart, { path: '/v1/me', headers: mine });
      const admin = mine.Authorization?.replace('Bearer ', '') ?? '';
      const other = await addPerson({ ...apart, tokens: { ...apart.tokens, admin } }, 'admin');
      const responses = await Promise.all([
        way(apart, other.path, mine),
        way(apart, `/v1/users/${body.id}`, other.headers),
      ]);
      // The second caller is no longer an administrator when the request is handled.
      const codes = responses.map(({ status, body }) => (status < 300 ? 'done' : body.error));
      expect(codes.toSorted()).toEqual(['UNAUTHORIZED', 'done']);
      // The one who stays is the first of the next round.
      if (codes[0] !== 'done') mine = other.headers;
      const left = await call(apart, { path: '/v1/users?role=admin', headers: mine });
      expect(left.body.meta.total).toBe(1);
    }
  });

  test('an access token from before a demotion cannot undo it', async () => {
    const [me, victim] = [await addPerson(service, 'admin'), await addPerson(service)];
    expect((await demote(me.path, first())).status).toBe(200);
    const { headers } = me;
    for (const request of [
      { method: 'PATCH', path: me.path, body: { role: 'admin' } },
      { method: 'PATCH', path: victim.path, body: { role: 'admin' } },
      { method: 'DELETE', path: victim.path },
      { method: 'PATCH', path: me.path, body: { name: 'Still me' } },
      { method: 'POST', path: '/v1/users', body: { name: 'A', email: 'a@b.example', role: 'admin' } },
      { method: 'POST', path: '/v1/keys', body: { name: 'Mine', scopes: ['users:write'] } },
    ])
      await play(service, { name: 'stale', ...request, headers, status: 401, error: 'UNAUTHORIZED' });
  });
});
