/** Users: creating, listing, reading, replacing and deleting them, and who may do so. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addKey, addPerson, refreshWith, signInAs } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { mailsOf, mailTo, tokenIn } from '../../support/peers/mails.ts';
import { contentsOf } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, password, startTestService, type TestService } from '../../support/service/service.ts';

const path = '/v1/users';
const body = { name: 'Zoe', email: 'zoe@people.example', role: 'user' };

const refused: [name: string, body: unknown, problems: [string, string][]][] = [
  [
    'nothing',
    {},
    [
      ['name', 'required'],
      ['email', 'required'],
    ],
  ],
  ['a blank name', { ...body, name: '  ' }, [['name', 'blank']]],
  ['no address', { ...body, email: 'zoe' }, [['email', 'format']]],
  ['an unknown role', { ...body, role: 'root' }, [['role', 'enum']]],
  ['a short password', { ...body, password: 'ninechars' }, [['password', 'minLength']]],
  ['a password of 201 characters', { ...body, password: 'x'.repeat(201) }, [['password', 'maxLength']]],
  ['a tag of 51 characters', { ...body, tags: ['x'.repeat(51)] }, [['tags.0', 'maxLength']]],
];

describeOnDatabases('users on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test.each(refused)('POST refuses %s', async (name, sent, problems) => {
    await play(service, { name, method: 'POST', path, as: 'admin', body: sent, status: 400, problems });
  });

  test('POST creates a user and sends a mail for setting a password', async () => {
    const email = 'Invited@people.example';
    const mails = await mailsOf(service, async () => {
      const sent = { name: ' Eve <b>Winter</b> ', email, id: 99, version: 7, verifiedAt: nowOf(service) };
      const made = await call(service, { method: 'POST', path, as: 'admin', body: sent });
      expect(made.status).toBe(201);
      const { id } = made.body;
      const user = {
        id,
        name: 'Eve <b>Winter</b>',
        email,
        role: 'user',
        tags: [],
        version: 1,
        pendingEmail: null,
        verifiedAt: null,
        createdAt: nowOf(service),
        updatedAt: nowOf(service),
      };
      expect(made.body).toEqual(user);
      expect(made.headers.get('Location')).toBe(`${service.url}${path}/${id}`);
      const read = await call(service, { path: `${path}/${id}`, as: 'admin' });
      expect([read.text, read.headers.get('ETag')]).toEqual([made.text, made.headers.get('ETag')]);
      expect(await eventsOf(service, 'user', id)).toEqual([
        { type: 'user.created', actor: expect.stringMatching(/^user:\d+$/), before: null, after: user },
      ]);
    });
    expect(mails).toHaveLength(1);
    const mail = mailTo(mails, email);
    expect(mail.subject).toBe('Set your password for Catalog');
    // The address is not confirmed yet, so the mail does not quote the name.
    expect(mail.html).toContain('<p>Hello,</p>');
    expect(mail.html).not.toContain('Winter');
    const token = tokenIn(mail);
    expect((await contentsOf(service)).join()).not.toContain(token);
    const reset = { token, password: 'a password of her own' };
    const set = await call(service, { method: 'POST', path: '/v1/auth/password-reset', body: reset });
    expect(set.status).toBe(204);
    expect((await signInAs(service, email, reset.password)).status).toBe(200);
  });

  test('POST with a password creates a user who can sign in, and sends a mail to confirm the address', async () => {
    const email = 'ready@people.example';
    const mails = await mailsOf(service, async () => {
      const sent = { ...body, email, role: 'editor', tags: ['a', 'b'], password };
      const made = await call(service, { method: 'POST', path, as: 'admin', body: sent });
      expect(made.body).toMatchObject({ role: 'editor', tags: ['a', 'b'], verifiedAt: null });
      expect(made.text).not.toContain(password);
    });
    expect(mails.map(({ subject }) => subject)).toEqual(['Confirm your e-mail address for Catalog']);
    expect((await signInAs(service, email)).status).toBe(200);
    expect((await contentsOf(service)).join()).not.toContain(password);
  });

  test('an address belongs to one user, regardless of case', async () => {
    const { email } = await addPerson(service);
    const other = await addPerson(service);
    const taken = { ...body, email: email.toUpperCase() };
    const attempts = [
      { method: 'POST', path, body: taken },
      { method: 'PUT', path: other.path, body: taken },
      { method: 'PATCH', path: other.path, body: { email: taken.email } },
    ];
    for (const attempt of attempts) {
      const response = await play(service, {
        ...attempt,
        name: attempt.method,
        as: 'admin',
        status: 409,
        error: 'DUPLICATE',
      });
      expect(response.body.details[0].field).toBe('email');
      expect(response.text).not.toContain('email_key');
    }
  });

  test('one of 8 concurrent requests for an address gets it', async () => {
    const sent = { ...body, email: 'wanted@people.example' };
    const calls = Array.from({ length: 8 }, () =>
      call(service, { method: 'POST', path, as: 'admin', body: sent }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  test('PUT without tags empties them, and ignores read-only members', async () => {
    const { id, path, email } = await addPerson(service);
    await call(service, { method: 'PATCH', path, as: 'admin', body: { tags: ['old'] } });
    const sent = { name: 'New name', email, role: 'editor', id: 1, version: 50, verifiedAt: nowOf(service) };
    const response = await call(service, { method: 'PUT', path, as: 'admin', body: sent });
    expect(response.body).toMatchObject({ id, name: 'New name', role: 'editor', tags: [], version: 3 });
    expect(response.body.verifiedAt).toBeNull();
    const missing = { name: 'Only a name' };
    const problems = [
      ['email', 'required'],
      ['role', 'required'],
    ] as const;
    await play(service, {
      name: 'partial',
      method: 'PUT',
      path,
      as: 'admin',
      body: missing,
      status: 400,
      problems,
    });
  });

  test('DELETE removes the user and all sessions; repeating it is 404; the access token is refused', async () => {
    const gone = await addPerson(service);
    const { path, headers, id } = gone;
    expect((await call(service, { method: 'DELETE', path, as: 'admin' })).status).toBe(204);
    const again = { name: 'again', method: 'DELETE', path, as: 'admin' } as const;
    await play(service, { ...again, status: 404, error: 'NOT_FOUND' });
    expect((await refreshWith(service, gone.refreshToken)).status).toBe(401);
    for (const request of [
      { path },
      { path: '/v1/me' },
      { path, method: 'PATCH', body: { name: 'Ghost' } },
      {
        path: '/v1/me/password',
        method: 'PUT',
        body: { currentPassword: password, newPassword: `${password}!` },
      },
    ])
      await play(service, { name: 'ghost', ...request, headers, status: 401, error: 'UNAUTHORIZED' });
    expect((await eventsOf(service, 'user', id)).map(({ type, after }) => [type, after])).toEqual([
      ['user.created', expect.anything()],
      ['user.deleted', null],
    ]);
  });

  test('users read and write only their own account', async () => {
    const [me, other] = [await addPerson(service), await addPerson(service, 'editor')];
    const own = { headers: me.headers };
    expect((await call(service, { path: me.path, ...own })).body.email).toBe(me.email);
    const renamed = await call(service, { method: 'PATCH', path: me.path, ...own, body: { name: 'Me' } });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Me']);
    for (const headers of [me.headers, { Authorization: `Bearer ${service.tokens.editor}` }]) {
      const others = headers === me.headers ? other.path : me.path;
      for (const request of [
        { path: others },
        { path: others, method: 'PATCH', body: { name: 'Mine now' } },
        { path: others, method: 'PUT', body: { ...body, email: 'mine@people.example' } },
        { path: `${others}/verify`, method: 'POST' },
      ])
        await play(service, { name: 'another’s', ...request, headers, status: 404, error: 'NOT_FOUND' });
      for (const request of [{ path }, { path, method: 'POST', body }, { path: me.path, method: 'DELETE' }])
        await play(service, { name: 'no role', ...request, headers, status: 403, error: 'FORBIDDEN' });
    }
  });

  test('API keys write only users of the role user, and cannot promote them', async () => {
    const [reads, writes] = [await addKey(service, 'users:read'), await addKey(service, 'users:write')];
    const [customer, staff] = [await addPerson(service), await addPerson(service, 'editor')];
    expect((await call(service, { path: staff.path, headers: reads })).status).toBe(200);
    expect((await call(service, { path, headers: reads })).status).toBe(200);
    const rename = { method: 'PATCH', path: customer.path, body: { name: 'By key' } };
    expect((await call(service, { ...rename, headers: writes })).body.name).toBe('By key');
    const make = { method: 'POST', path, body: { ...body, email: 'by-key@people.example' } };
    expect((await call(service, { ...make, headers: writes })).status).toBe(201);
    for (const request of [
      { ...rename, headers: reads },
      { ...rename, path: staff.path },
      { ...rename, body: { role: 'admin' } },
      { ...make, body: { ...body, email: 'boss@people.example', role: 'admin' } },
      { method: 'DELETE', path: staff.path },
      { method: 'POST', path: `${staff.path}/verify` },
    ])
      await play(service, { name: 'by key', headers: writes, ...request, status: 403, error: 'FORBIDDEN' });
    expect((await call(service, { method: 'DELETE', path: customer.path, headers: writes })).status).toBe(
      204,
    );
  });

  test('lists filter by role and address, and sort', async () => {
    const addresses = ['c', 'a', 'b'].map(letter => `${letter}@list.example`);
    for (const email of addresses) await addPerson(service, 'editor', { email });
    const emails = async (query: string) => {
      const { body } = await call(service, { path: `${path}?perPage=100&${query}`, as: 'admin' });
      return (body.data as { email: string }[]).map(({ email }) => email);
    };
    const listed = async (query: string) => (await emails(query)).filter(email => addresses.includes(email));
    expect(await listed('role=editor')).toEqual(addresses);
    expect(await listed('role=editor&sort=email')).toEqual([...addresses].sort());
    expect(await listed('sort=createdAt&order=desc')).toEqual([...addresses].reverse());
    expect(await listed('role=admin')).toEqual([]);
    expect(await emails('email=A@LIST.example')).toEqual(['a@list.example']);
    expect(await emails('email=nobody@list.example')).toEqual([]);
    const { text } = await call(service, { path, as: 'admin' });
    expect(text).not.toMatch(/password|argon2/);
    const unknown = { name: 'role', path: `${path}?role=root`, as: 'admin' } as const;
    await play(service, { ...unknown, status: 400, problems: [['role', 'enum']] });
  });

  test('a user has no separate profile', async () => {
    const { path } = await addPerson(service);
    for (const as of ['admin', 'user'] as const) {
      const response = { name: as, path: `${path}/profile`, as, status: 404, error: 'NOT_FOUND' };
      await play(service, response);
    }
  });

  test('HAL links only to actions that the caller may take', async () => {
    const { id, path, headers } = await addPerson(service);
    const self = `${service.url}/v1/users/${id}`;
    const Accept = 'application/hal+json';
    const linksOf = async (at: string, as: Record<string, string>) => {
      const { body } = await call(service, { path: at, headers: { ...as, Accept } });
      return body._links;
    };
    const admin = { Authorization: `Bearer ${service.tokens.admin}` };
    const own = {
      self: { href: self },
      orders: { href: `${self}/orders` },
      edit: { href: self, method: 'PATCH' },
      passwordReset: { href: `${self}/password-reset`, method: 'POST' },
      verify: { href: `${self}/verify`, method: 'POST' },
    };
    expect(await linksOf(path, headers)).toEqual(own);
    expect(await linksOf('/v1/me', headers)).toEqual(own);
    expect(await linksOf(path, admin)).toEqual({ ...own, delete: { href: self, method: 'DELETE' } });
    expect(await linksOf(path, await addKey(service, 'users:read'))).toEqual({ self: { href: self } });
    const list = await call(service, {
      path: `/v1/users?email=${emailOf('admin')}`,
      headers: { ...admin, Accept },
    });
    const [only] = list.body._embedded.users;
    expect(only.email).toBe(emailOf('admin'));
    const administrators = await call(service, { path: '/v1/users?role=admin', as: 'admin' });
    expect('delete' in only._links).toBe(administrators.body.meta.total > 1);
  });

  test('If-Match is the ETag of GET, for plain JSON and HAL', async () => {
    const { path } = await addPerson(service);
    for (const Accept of ['application/json', 'application/hal+json']) {
      const read = await call(service, { path, as: 'admin', headers: { Accept } });
      const headers = { Accept, 'If-Match': read.headers.get('ETag') ?? '' };
      const sent = { method: 'PATCH', path, as: 'admin', headers } as const;
      const first = await call(service, { ...sent, body: { name: `By ${Accept}` } });
      expect(first.status).toBe(200);
      const now = await call(service, { path, as: 'admin', headers: { Accept } });
      expect([now.text, now.headers.get('ETag')]).toEqual([first.text, first.headers.get('ETag')]);
      const late = { name: 'late', body: { name: 'Late' }, status: 412, error: 'PRECONDITION_FAILED' };
      await play(service, { ...sent, ...late });
      await play(service, { ...sent, ...late, method: 'PUT', body });
    }
    const before = { 'If-Unmodified-Since': 'Wed, 14 Jan 2026 00:00:00 GMT' };
    for (const headers of [before, { 'If-Match': '"another"' }]) {
      const request = { name: 'delete', method: 'DELETE', path, as: 'admin', headers } as const;
      await play(service, { ...request, status: 412, error: 'PRECONDITION_FAILED' });
    }
  });
});
