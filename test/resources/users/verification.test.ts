/** Confirming an e-mail address. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addPerson, type Person } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { send } from '../../support/http/raw.ts';
import { play } from '../../support/http/scenario.ts';
import { mailsOf, mailTo, tokenIn } from '../../support/peers/mails.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const week = 7 * 24 * 60 * 60 * 1000;

/** A user whose address is not confirmed, and the token of the confirmation mail. */
async function unverified(service: TestService): Promise<{ me: Person; token: string }> {
  let me: Person | undefined;
  const mails = await mailsOf(service, async () => {
    me = await addPerson(service);
  });
  if (me === undefined) throw new Error('no account was made');
  return { me, token: tokenIn(mailTo(mails, me.email)) };
}

describeOnDatabases('verification on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const request = (path: string, body?: unknown) =>
    ({ name: path, method: 'POST', path, ...(body === undefined ? {} : { body }) }) as const;

  test('users confirm their address with the token of their mail', async () => {
    const { me, token } = await unverified(service);
    const { token: foreign } = await unverified(service);
    const { headers } = me;
    const path = `${me.path}/verify`;
    const required = { status: 400, problems: [['token', 'required']] } as const;
    await play(service, { ...request(path), headers, ...required });
    await play(service, { ...request(path, {}), headers, ...required });
    for (const wrong of ['garbage', foreign]) {
      const response = { ...request(path, { token: wrong }), headers, status: 400, error: 'INVALID_TOKEN' };
      await play(service, response);
    }
    const done = await call(service, { ...request(path, { token }), headers });
    expect([done.status, done.body.verifiedAt, done.body.version]).toEqual([200, nowOf(service), 2]);
    const read = await call(service, { path: me.path, headers });
    expect([read.text, read.headers.get('ETag')]).toEqual([done.text, done.headers.get('ETag')]);
    // A second time changes nothing.
    const again = await call(service, { ...request(path, { token }), headers });
    expect([again.status, again.text]).toEqual([200, done.text]);
    const types = (await eventsOf(service, 'user', me.id)).map(({ type }) => type);
    expect(types).toEqual(['user.created', 'user.verified']);
  });

  test('requests without a token do not slow down each other', async () => {
    const { headers, path } = (await unverified(service)).me;
    const other = (await unverified(service)).me;
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++)
      statuses.push((await call(service, { ...request(`${path}/verify`), headers })).status);
    const foreign = await call(service, { ...request(`${other.path}/verify`), headers: other.headers });
    expect([...statuses, foreign.status]).toEqual(new Array(13).fill(400));
  });

  test('an administrator verifies a user without a token', async () => {
    const { me, token } = await unverified(service);
    const done = await call(service, { ...request(`${me.path}/verify`), as: 'admin' });
    expect([done.status, done.body.verifiedAt]).toEqual([200, nowOf(service)]);
    const used = { ...request('/v1/auth/verify', { token }), status: 400, error: 'INVALID_TOKEN' };
    await play(service, used);
  });

  test.each([
    ['application/json', 'Content-Length: 0\r\n\r\n'],
    ['text/plain', 'Content-Length: 0\r\n\r\n'],
    ['text/plain', '\r\n'],
    ['application/json', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('an empty body counts as no body, whatever the Content-Type: %s, %j', async (type, rest) => {
    const { me } = await unverified(service);
    const { Authorization } = (await addPerson(service, 'admin')).headers;
    const head = `POST ${me.path}/verify HTTP/1.1\r\nHost: x\r\nAuthorization: ${Authorization}\r\nContent-Type: ${type}\r\n`;
    expect((await send(service.url, [head + rest])).status).toBe(200);
    expect((await call(service, { path: me.path, as: 'admin' })).body.verifiedAt).toBe(nowOf(service));
  });

  test('the token of the mail confirms the address without signing in, once', async () => {
    const { me, token } = await unverified(service);
    const responses = await Promise.all(
      [1, 2, 3].map(() => call(service, request('/v1/auth/verify', { token }))),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    const done = responses.find(({ status }) => status === 200);
    expect(done?.body).toEqual({ verifiedAt: nowOf(service) });
    expect(done?.headers.get('Cache-Control')).toBe('no-store');
    expect((await call(service, { path: me.path, as: 'admin' })).body.verifiedAt).toBe(nowOf(service));
  });

  test('the token of the older mail still succeeds once after a password reset by mail', async () => {
    const { me, token } = await unverified(service);
    const body = { email: me.email };
    const mails = await mailsOf(service, async () => {
      await call(service, request('/v1/auth/forgot-password', body));
    });
    const reset = { token: tokenIn(mailTo(mails, me.email)), password: 'a longer one with a staple' };
    expect((await call(service, request('/v1/auth/password-reset', reset))).status).toBe(204);
    const since = nowOf(service);
    const response = await call(service, request('/v1/auth/verify', { token }));
    expect([response.status, response.body]).toEqual([200, { verifiedAt: since }]);
    const { body: user } = await call(service, { path: me.path, as: 'admin' });
    expect([user.verifiedAt, user.version]).toEqual([since, 3]);
    // Neither token works a second time.
    const used = { status: 400, error: 'INVALID_TOKEN' } as const;
    await play(service, { ...request('/v1/auth/verify', { token }), ...used });
    await play(service, { ...request('/v1/auth/password-reset', reset), ...used });
  });

  test('a token ends after 7 days', async () => {
    const apart = await startTestService(kind);
    const { token } = await unverified(apart);
    const { token: late } = await unverified(apart);
    apart.clock.advance(week - 1000);
    expect((await call(apart, request('/v1/auth/verify', { token }))).status).toBe(200);
    apart.clock.advance(1000);
    const response = { ...request('/v1/auth/verify', { token: late }), status: 400, error: 'INVALID_TOKEN' };
    await play(apart, response);
    await apart.stop();
  });
});
