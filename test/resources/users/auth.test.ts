/** Signing in, and which access tokens stand for a user. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addPerson } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { decode, forge } from '../../support/peers/jwt.ts';
import { contentsOf } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, password, startTestService, type TestService } from '../../support/service/service.ts';

const refusedLogins: [name: string, body: unknown, problems: [string, string][]][] = [
  [
    'nothing',
    {},
    [
      ['email', 'required'],
      ['password', 'required'],
    ],
  ],
  [
    'null',
    { email: null, password: null },
    [
      ['email', 'type'],
      ['password', 'type'],
    ],
  ],
  ['a password that is a number', { email: 'a@b.example', password: 1 }, [['password', 'type']]],
  [
    'a password of 201 characters',
    { email: 'a@b.example', password: 'x'.repeat(201) },
    [['password', 'maxLength']],
  ],
  [
    'blanks',
    { email: ' \t', password: '' },
    [
      ['email', 'blank'],
      ['password', 'minLength'],
    ],
  ],
  ['U+0000', { email: 'a\u0000@b.example', password: 'x' }, [['email', 'characters']]],
  [
    'operators instead of text',
    { email: { $ne: null }, password: { $ne: null } },
    [
      ['email', 'type'],
      ['password', 'type'],
    ],
  ],
];

describeOnDatabases('signing in on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const login = (body: unknown) => call(service, { method: 'POST', path: '/v1/auth/login', body });

  test('accepts a password however accents and spaces are written, also one that was hashed as sent', async () => {
    const email = `${crypto.randomUUID()}@people.example`;
    const secret = 'Crème brûlée à la carte';
    const body = { name: 'Zoë', email, role: 'user', password: secret.normalize('NFD') };
    expect((await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body })).status).toBe(201);
    const statusOf = async (text: string) => (await login({ email, password: text })).status;
    const forms = [secret, secret.normalize('NFD'), secret.replaceAll(' ', '\u00a0')];
    const statuses = (texts: readonly string[]) => Promise.all(texts.map(statusOf));
    expect(await statuses([...forms, 'Creme brulee a la carte'])).toEqual([200, 200, 200, 401]);
    const { build, write } = service.database;
    const change = build.updateTable('users').set({
      password_hash: await Bun.password.hash(secret.normalize('NFD')),
    });
    await write(session => session.run(change.where('email', '=', email).compile()));
    expect(await statuses(forms)).toEqual([401, 200, 401]);
  });

  test('gives two signed tokens with the claims of the specification, and stores neither', async () => {
    const response = await login({ email: emailOf('editor'), password });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresIn: 900,
    });
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.get('ETag')).toBeNull();
    const { header, payload } = decode(response.body.accessToken);
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(decode(response.body.refreshToken).header).toEqual(header);
    const exp = Math.floor(service.clock.now() / 1000) + 900;
    expect(payload).toMatchObject({ userId: expect.stringMatching(/^\d+$/), role: 'editor', exp });
    const kept = [...(await contentsOf(service)), ...service.log().map(line => JSON.stringify(line))].join(
      '\n',
    );
    for (const secret of [response.body.accessToken, response.body.refreshToken, password])
      expect(kept).not.toContain(secret);
  });

  test('the address is found in any case and between spaces', async () => {
    for (const email of [emailOf('user').toUpperCase(), ` ${emailOf('user')} `])
      expect((await login({ email, password })).status).toBe(200);
  });

  test('an unknown user and a wrong password get the same response', async () => {
    const responses = await Promise.all([
      login({ email: emailOf('user'), password: 'not the password' }),
      login({ email: 'nobody@test.example', password }),
      login({ email: "' or 1=1 --", password: ' ' }),
    ]);
    for (const { status, body, headers } of responses) {
      expect([status, body.error, body.message]).toEqual([
        401,
        'INVALID_CREDENTIALS',
        responses[0].body.message,
      ]);
      expect(Object.keys(body)).toEqual(['error', 'message', 'requestId']);
      expect(headers.get('WWW-Authenticate')).toBe('Bearer realm="catalog"');
    }
  });

  test.each(refusedLogins)('refuses %s', async (name, body, problems) => {
    await play(service, { name, method: 'POST', path: '/v1/auth/login', body, status: 400, problems });
  });

  test.each(['admin', 'editor', 'user'] as const)('/me returns the signed-in user: %s', async role => {
    const response = await play(service, { name: role, path: '/v1/me', as: role, status: 200 });
    expect(response.body).toMatchObject({
      name: `Test ${role}`,
      email: emailOf(role),
      role,
      version: 1,
      tags: [],
    });
    expect(response.text).not.toContain('password');
    const headers = { 'If-None-Match': response.headers.get('ETag') ?? '' };
    expect((await call(service, { path: '/v1/me', as: role, headers })).status).toBe(304);
  });

  /** Values of Authorization made from a valid payload and the valid token. */
  const wrong: [name: string, authorization: (payload: Record<string, unknown>, token: string) => string][] =
    [
      ['another secret', payload => `Bearer ${forge(payload, { secret: 'x'.repeat(40) })}`],
      [
        'alg none without signature',
        payload => `Bearer ${forge(payload, { header: { alg: 'none', typ: 'JWT' }, hash: '' })}`,
      ],
      ['alg None with a signature', payload => `Bearer ${forge(payload, { header: { alg: 'None' } })}`],
      [
        'alg HS512',
        payload => `Bearer ${forge(payload, { header: { alg: 'HS512', typ: 'JWT' }, hash: 'sha512' })}`,
      ],
      [
        'alg HS384',
        payload => `Bearer ${forge(payload, { header: { alg: 'HS384', typ: 'JWT' }, hash: 'sha384' })}`,
      ],
      [
        'alg RS256 signed as HS256',
        payload => `Bearer ${forge(payload, { header: { alg: 'RS256', typ: 'JWT' } })}`,
      ],
      ['no alg', payload => `Bearer ${forge(payload, { header: { typ: 'JWT' } })}`],
      [
        'a critical extension',
        payload => `Bearer ${forge(payload, { header: { alg: 'HS256', crit: ['b64'], b64: false } })}`,
      ],
      [
        'another role in a signed token',
        (payload, token) =>
          `Bearer ${[token.split('.')[0], Buffer.from(JSON.stringify({ ...payload, role: 'admin' })).toString('base64url'), token.split('.')[2]].join('.')}`,
      ],
      ['no exp', ({ exp: _, ...payload }) => `Bearer ${forge(payload)}`],
      ['exp as text', payload => `Bearer ${forge({ ...payload, exp: 'never' })}`],
      ['an unknown role', payload => `Bearer ${forge({ ...payload, role: 'root' })}`],
      ['no userId', ({ userId: _, ...payload }) => `Bearer ${forge(payload)}`],
      ['a userId that is no id', payload => `Bearer ${forge({ ...payload, userId: '1 or 1=1' })}`],
      ['a token that is valid later', payload => `Bearer ${forge({ ...payload, nbf: Number(payload.exp) })}`],
      ['no signature', (_, token) => `Bearer ${token.split('.').slice(0, 2).join('.')}`],
      ['an empty signature', (_, token) => `Bearer ${token.split('.').slice(0, 2).join('.')}.`],
      ['a padded signature', (_, token) => `Bearer ${token}=`],
      ['a shortened signature', (_, token) => `Bearer ${token.slice(0, -2)}`],
      ['four parts', (_, token) => `Bearer ${token}.x`],
      ['two tokens', (_, token) => `Bearer ${token} ${token}`],
      ['text', () => 'Bearer ../../etc/passwd'],
    ];
  test.each(wrong)('a token is refused: %s', async (name, authorization) => {
    const token = service.tokens.user;
    const headers = { Authorization: authorization(decode(token).payload, token) };
    const response = await play(service, {
      name,
      path: '/v1/me',
      headers,
      status: 401,
      error: 'UNAUTHORIZED',
    });
    const challenge =
      'Bearer realm="catalog", error="invalid_token", error_description="The token is not valid"';
    expect(response.headers.get('WWW-Authenticate')).toBe(challenge);
    // The form of the forged token is not what is wrong: a right one made the same way is accepted.
    const right = { Authorization: `bearer  ${forge(decode(token).payload)}` };
    expect((await call(service, { path: '/v1/me', headers: right })).status).toBe(200);
  });

  const tokenless: [name: string, headers: (token: string) => Record<string, string>][] = [
    ['no scheme', token => ({ Authorization: token })],
    ['Basic', () => ({ Authorization: 'Basic dXNlcjpwYXNz' })],
    ['an empty token', () => ({ Authorization: 'Bearer ' })],
    ['an empty header', () => ({ Authorization: '' })],
    ['a wrong key', () => ({ 'X-API-Key': `ck_${'A'.repeat(43)}` })],
  ];
  test.each(tokenless)('without a token the challenge has no error: %s', async (name, headersFor) => {
    const headers = headersFor(service.tokens.user);
    const refused = { status: 401, error: 'UNAUTHORIZED' } as const;
    const challenge = { 'WWW-Authenticate': 'Bearer realm="catalog"' };
    await play(service, { name, path: '/v1/users', headers, ...refused, responseHeaders: challenge });
  });

  test('blank credentials do not count as failed attempts', async () => {
    const person = await addPerson(service);
    for (let attempt = 0; attempt < 30; attempt++)
      expect((await login({ email: person.email, password: '' })).status).toBe(400);
    expect((await login({ email: person.email, password })).status).toBe(200);
    const { body } = await login({ email: person.email, password: '' });
    expect(body.message).toBe('password: must be at least 1 character long');
  });
});

describeOnDatabases('access tokens over time on %s', kind => {
  test('an access token is valid for 900 seconds on every replica, cached or not', async () => {
    const service = await startTestService(kind);
    await using replica = await service.replica();
    const me = { path: '/v1/me', as: 'user' } as const;
    expect((await call(service, me)).status).toBe(200);
    service.clock.advance(899_000);
    for (const each of [service, replica]) expect((await call(each, me)).status).toBe(200);
    service.clock.advance(1000);
    await using stranger = await service.replica();
    for (const each of [service, replica, stranger]) {
      const response = await call(each, me);
      expect([response.status, response.body.error]).toEqual([401, 'TOKEN_EXPIRED']);
      const challenge =
        'Bearer realm="catalog", error="invalid_token", error_description="The token has expired"';
      expect(response.headers.get('WWW-Authenticate')).toBe(challenge);
    }
    await service.stop();
  });

  test('tokens signed with a previous secret are accepted while the settings name that secret', async () => {
    // Without a comma, because commas separate the previous secrets.
    const before = 'the secret before that and long enough';
    const service = await startTestService(kind, { JWT_SECRET: before });
    const JWT_SECRET = 'the secret that follows and is long enough too';
    await using moved = await service.replica({ JWT_SECRET, JWT_PREVIOUS_SECRETS: before });
    await using closed = await service.replica({ JWT_SECRET });
    const me = { path: '/v1/me', as: 'user' } as const;
    expect((await call(moved, me)).status).toBe(200);
    expect((await call(closed, me)).body.error).toBe('UNAUTHORIZED');
    const body = { email: emailOf('user'), password };
    const fresh = await call(moved, { method: 'POST', path: '/v1/auth/login', body });
    const headers = { Authorization: `Bearer ${fresh.body.accessToken}` };
    expect((await call(closed, { path: '/v1/me', headers })).status).toBe(200);
    expect((await call(service, { path: '/v1/me', headers })).status).toBe(401);
    await service.stop();
  });
});
