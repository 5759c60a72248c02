/** Passwords: changing one's own, and the reset for users who forgot theirs. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { another, post } from '../../support/data/addresses.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addKey, addPerson, refreshWith, signInAs } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { mailsOf, mailTo, tokenIn } from '../../support/peers/mails.ts';
import { contentsOf, writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { password, startTestService, type TestService } from '../../support/service/service.ts';

const hour = 60 * 60 * 1000;
const forgot = (service: TestService, email: string) => post(service, '/v1/auth/forgot-password', { email });
const reset = (service: TestService, token: string, secret = another) =>
  post(service, '/v1/auth/password-reset', { token, password: secret });
const queued = { status: 'queued' };

/** Requests a password reset. @returns the token in the mail */
const tokenFor = async (service: TestService, email: string) =>
  tokenIn(mailTo(await mailsOf(service, () => forgot(service, email)), email));

describeOnDatabases('passwords on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const change = (headers: Readonly<Record<string, string>>, body: unknown) =>
    ({ name: 'change', method: 'PUT', path: '/v1/me/password', headers, body }) as const;

  test('changing one’s own password ends all sessions, and needs the current password', async () => {
    const { id, headers, refreshToken, email } = await addPerson(service);
    const wrong = change(headers, { currentPassword: 'not the password', newPassword: another });
    const response = await play(service, { ...wrong, status: 403, error: 'WRONG_PASSWORD' });
    expect(response.body.details[0].field).toBe('currentPassword');
    const short = change(headers, { currentPassword: password, newPassword: 'short' });
    await play(service, { ...short, status: 400, problems: [['newPassword', 'minLength']] });
    // As a hash, every unpaired surrogate would be the same.
    const unpaired = change(headers, { currentPassword: password, newPassword: '\ud800'.repeat(10) });
    await play(service, { ...unpaired, status: 400, problems: [['newPassword', 'characters']] });
    expect((await refreshWith(service, refreshToken)).status).toBe(200);
    const right = change(headers, { currentPassword: password, newPassword: another });
    await play(service, { ...right, status: 204 });
    expect((await refreshWith(service, refreshToken)).status).toBe(401);
    expect((await signInAs(service, email)).status).toBe(401);
    expect((await signInAs(service, email, another)).status).toBe(200);
    const events = await eventsOf(service, 'user', id);
    expect(events.map(({ type, actor }) => [type, actor]).at(-1)).toEqual([
      'user.password_changed',
      `user:${id}`,
    ]);
    expect(JSON.stringify(events)).not.toMatch(/argon2|password_hash/);
  });

  test('only the user is notified of a changed password, once for each change', async () => {
    const { id, headers, email } = await addPerson(service);
    const other = await addPerson(service);
    const told = async (who: Readonly<Record<string, string>>) => {
      await service.settle();
      return (await call(service, { path: '/v1/notifications', headers: who })).body.data;
    };
    const now = async () => {
      const { accessToken } = (await signInAs(service, email, another)).body;
      return { Authorization: `Bearer ${accessToken}` };
    };
    const right = change(headers, { currentPassword: password, newPassword: another });
    await play(service, { ...right, status: 204 });
    const notification = {
      id: expect.any(Number),
      type: 'user.password_changed',
      message: 'Your password has been changed.',
      resource: 'user',
      resourceId: id,
      read: false,
      readAt: null,
      createdAt: new Date(service.clock.now()).toISOString(),
    };
    expect(await told(await now())).toEqual([notification]);
    const mails = await mailsOf(service, () => forgot(service, email));
    expect((await reset(service, tokenIn(mailTo(mails, email)))).status).toBe(204);
    const fresh = await now();
    expect(await told(fresh)).toEqual([notification, notification]);
    const wrong = change(fresh, { currentPassword: 'not the password', newPassword: another });
    await play(service, { ...wrong, status: 403, error: 'WRONG_PASSWORD' });
    expect(await told(fresh)).toEqual([notification, notification]);
    expect(await told(other.headers)).toEqual([]);
  });

  test('guesses at the current password are limited, and do not block signing in', async () => {
    const { headers, email } = await addPerson(service);
    const body = { currentPassword: 'a guess', newPassword: another };
    const guesses = Array.from({ length: 21 }, () => call(service, change(headers, body)));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(20).fill(403), 429]);
    expect((await signInAs(service, email)).status).toBe(200);
  });

  test('a blank password or address is 400, and does not count as an attempt', async () => {
    const { headers } = await addPerson(service);
    const blank = change(headers, { currentPassword: '', newPassword: another });
    const refused = { status: 400, problems: [['currentPassword', 'minLength']] } as const;
    for (let attempt = 0; attempt < 22; attempt++) await play(service, { ...blank, ...refused });
    const right = change(headers, { currentPassword: password, newPassword: another });
    await play(service, { ...right, status: 204 });
    for (const email of ['', ' \t ']) {
      const sent = { method: 'POST', path: '/v1/auth/forgot-password', body: { email } } as const;
      await play(service, { ...sent, name: 'blank', status: 400, problems: [['email', 'blank']] });
    }
  });

  test('the token mailed for a forgotten password sets a new one, once', async () => {
    const { id, email, refreshToken } = await addPerson(service);
    const mails = await mailsOf(service, async () => {
      const response = await forgot(service, ` ${email.toUpperCase()} `);
      expect([response.status, response.body]).toEqual([202, queued]);
    });
    const mail = mailTo(mails, email);
    expect(mail.subject).toBe('Set a new password for Catalog');
    const token = tokenIn(mail);
    expect(token).toMatch(/^[\w-]{43}$/);
    const kept = [...(await contentsOf(service)), ...service.log().map(line => JSON.stringify(line))];
    expect(kept.join('\n')).not.toContain(token);
    const short = { name: 'short', method: 'POST', path: '/v1/auth/password-reset' } as const;
    const problems = [['password', 'minLength']] as const;
    await play(service, { ...short, body: { token, password: 'short' }, status: 400, problems });
    const responses = await Promise.all([1, 2, 3, 4].map(() => reset(service, token)));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 400, 400, 400]);
    expect((await signInAs(service, email, another)).status).toBe(200);
    expect((await signInAs(service, email)).status).toBe(401);
    expect((await refreshWith(service, refreshToken)).status).toBe(401);
    const { body } = await call(service, { path: `/v1/users/${id}`, as: 'admin' });
    expect(body.verifiedAt).toBeString();
    const types = (await eventsOf(service, 'user', id)).map(({ type }) => type);
    expect(types).toEqual(['user.created', 'user.verified', 'user.password_changed']);
    await play(service, {
      ...short,
      body: { token, password: another },
      status: 400,
      error: 'INVALID_TOKEN',
    });
  });

  test('an unknown address gets the same response, and no mail is sent', async () => {
    const { email } = await addPerson(service);
    const mails = await mailsOf(service, async () => {
      const known = await forgot(service, email);
      await service.settle();
      // A request for an unknown address is queued like any other, and dropped when no user has the address.
      const before = await contentsOf(service);
      const { headers, ...unknown } = await forgot(service, 'nobody@people.example');
      expect(await contentsOf(service)).toEqual(before);
      expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
      const names = (response: Headers) => [...response.keys()].sort();
      expect(names(headers)).toEqual(names(known.headers));
    });
    expect(mails.map(({ to }) => to?.[0]?.address)).toEqual([email]);
  });

  test('a newer token replaces the older one, which is refused like any wrong token', async () => {
    const { email } = await addPerson(service);
    const older = await tokenFor(service, email);
    const newer = await tokenFor(service, email);
    for (const token of [older, 'garbage', `${newer}x`, 'A'.repeat(43)]) {
      const response = await writesNothing(service, () => reset(service, token));
      expect([response.status, response.body.error]).toEqual([400, 'INVALID_TOKEN']);
      expect(response.body.details[0].field).toBe('token');
    }
    expect((await reset(service, newer)).status).toBe(204);
  });

  test('a token for another purpose does not set a password', async () => {
    const email = 'purpose@people.example';
    const body = { name: 'Purpose', email, password };
    const mails = await mailsOf(service, () =>
      call(service, { method: 'POST', path: '/v1/users', as: 'admin', body }),
    );
    expect((await reset(service, tokenIn(mailTo(mails, email)))).body.error).toBe('INVALID_TOKEN');
  });

  test('the user, administrators and keys can send a reset mail; every caller gets the same response', async () => {
    const [me, other] = [await addPerson(service), await addPerson(service)];
    const key = await addKey(service, 'users:write');
    const admin = { Authorization: `Bearer ${service.tokens.admin}` };
    const ask = async (path: string, headers: Readonly<Record<string, string>>) => {
      const response = await call(service, { method: 'POST', path: `${path}/password-reset`, headers });
      expect([response.status, response.body]).toEqual([202, queued]);
    };
    for (const headers of [me.headers, admin, key]) {
      const mails = await mailsOf(service, () => ask(me.path, headers));
      expect(tokenIn(mailTo(mails, me.email))).toBeString();
    }
    await service.settle();
    await writesNothing(service, async () => {
      await ask(other.path, me.headers);
      for (const headers of [me.headers, admin]) await ask('/v1/users/2147483647', headers);
    });
  });

  test('too many requests for one address are refused, whether it is known or not', async () => {
    const { email } = await addPerson(service);
    for (const address of [email, 'often@people.example']) {
      const responses = await Promise.all(Array.from({ length: 11 }, () => forgot(service, address)));
      expect(responses.map(({ status }) => status).sort()).toEqual([...Array(10).fill(202), 429]);
    }
    // The limit does not keep the user from signing in.
    expect((await signInAs(service, email)).status).toBe(200);
  });
});

describeOnDatabases('tokens of mails over time on %s', kind => {
  test('a password token expires after an hour, the token of an invitation after 7 days', async () => {
    const service = await startTestService(kind);
    const { email } = await addPerson(service);
    const kept = await tokenFor(service, email);
    service.clock.advance(hour - 1000);
    expect((await reset(service, kept)).status).toBe(204);
    const late = await tokenFor(service, email);
    service.clock.advance(hour);
    expect((await reset(service, late)).body.error).toBe('INVALID_TOKEN');
    const as = {
      Authorization: `Bearer ${(await signInAs(service, 'admin@test.example')).body.accessToken}`,
    };
    const body = { name: 'Invited', email: 'invited@people.example' };
    const mails = await mailsOf(service, () =>
      call(service, { method: 'POST', path: '/v1/users', headers: as, body }),
    );
    // Anyone may request a password reset, so it does not end the invitation.
    const requested = await tokenFor(service, body.email);
    service.clock.advance(hour);
    expect((await reset(service, requested)).body.error).toBe('INVALID_TOKEN');
    const second = await tokenFor(service, body.email);
    service.clock.advance(6 * 24 * hour);
    const third = await tokenFor(service, body.email);
    service.clock.advance(23 * hour - 1000);
    expect((await reset(service, tokenIn(mailTo(mails, body.email)))).status).toBe(204);
    // The first token that is used ends all others.
    for (const token of [requested, second, third])
      expect((await reset(service, token)).body.error).toBe('INVALID_TOKEN');
    await service.stop();
  });

  test('a hundred wrong tokens block an IP address', async () => {
    const service = await startTestService(kind);
    const attempts = Array.from({ length: 101 }, (_, index) => reset(service, `guess-${index}`));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(100).fill(400), 429]);
    await service.stop();
  });

  test('links lead to BASE_URL or to the shop’s own page, never to the host of the request', async () => {
    // Not replicas, each of which may send the mails of the others.
    await using plain = await startTestService(kind);
    await using base = await startTestService(kind, { BASE_URL: 'https://api.shop.example/catalog' });
    await using own = await startTestService(kind, {
      PASSWORD_RESET_URL: 'https://shop.example/account?lang=en#/password/',
    });
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
    for (const [service, link, end, shop] of [
      [plain, `http://localhost:${new URL(plain.url).port}/password-reset?token=`, '', 'Catalog'],
      [base, 'https://api.shop.example/catalog/password-reset?token=', '', 'api.shop.example'],
      [own, 'https://shop.example/account?lang=en&token=', '#/password/', 'Catalog'],
    ] as const) {
      const email = 'user@test.example';
      const body = { email };
      const mails = await mailsOf(service, () =>
        call(service, { method: 'POST', path: '/v1/auth/forgot-password', headers, body }),
      );
      const mail = mailTo(mails, email);
      expect(mail.text).toContain(`\n${link}`);
      expect(mail.text).toMatch(new RegExp(`token=[\\w-]+${end}\n`));
      expect(mail.text).not.toContain('evil');
      expect(mail.html).toContain(`href="${link.replace('&', '&amp;')}`);
      expect(mail.subject).toBe(`Set a new password for ${shop}`);
    }
  });
});
