/** Changing the e-mail address: requested with the password, confirmed from the new mailbox, undone from the old. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  another,
  asks,
  confirmed,
  freshAddress,
  move,
  post,
  restore,
  signedIn,
  verify,
} from '../../support/data/addresses.ts';
import { nowOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addKey, addPerson, type Person, refreshWith, signInAs } from '../../support/data/people.ts';
import { type Call, call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { mailsOf, mailTo, tokenIn } from '../../support/peers/mails.ts';
import { contentsOf, writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { password, startTestService, type TestService } from '../../support/service/service.ts';

const day = 24 * 60 * 60 * 1000;

/** Every way for a user to write their own address. */
const jsonPatch = { 'Content-Type': 'application/json-patch+json' };
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const ways: [name: string, write: (me: Person, email: string, proof: object) => Omit<Call, 'path'>][] = [
  ['PUT', ({ name }, email, proof) => ({ method: 'PUT', body: { name, email, role: 'user', ...proof } })],
  ['PATCH', (_, email, proof) => ({ method: 'PATCH', body: { email, ...proof } })],
  [
    'a merge patch',
    (_, email, proof) => ({ method: 'PATCH', headers: mergePatch, body: { email, ...proof } }),
  ],
  [
    'a JSON Patch',
    (_, email, proof) => ({
      method: 'PATCH',
      headers: jsonPatch,
      body: [
        { op: 'replace', path: '/email', value: email },
        ...Object.entries(proof).map(([name, value]) => ({ op: 'add', path: `/${name}`, value })),
      ],
    }),
  ],
];

describeOnDatabases('addresses on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test.each(ways)(
    'a user’s own address does not change without the current password: %s',
    async (name, write) => {
      const me = await confirmed(service);
      const email = freshAddress();
      const send = (proof: object): Call => {
        const request = write(me, email, proof);
        return { path: me.path, ...request, headers: { ...me.headers, ...request.headers } };
      };
      const isResult = send({}).headers?.['Content-Type'] === 'application/json-patch+json';
      const required = isResult
        ? ({ status: 422, error: 'PATCH_RESULT_INVALID' } as const)
        : ({ status: 400, error: 'VALIDATION_FAILED' } as const);
      const { details } = (await play(service, { name, ...send({}), ...required })).body;
      expect(details).toMatchObject([{ field: 'currentPassword', code: 'required' }]);
      // An empty password counts as none.
      await play(service, { name, ...send({ currentPassword: '' }), ...required });
      const wrong = { status: 403, error: 'WRONG_PASSWORD' } as const;
      await play(service, { name, ...send({ currentPassword: 'a guess of a thief' }), ...wrong });
      const mails = await mailsOf(service, async () => {
        const asked = await call(service, send({ currentPassword: password }));
        expect([asked.status, asked.body.email, asked.body.pendingEmail]).toEqual([200, me.email, email]);
        expect(asked.text).not.toContain(password);
      });
      expect(mails.map(({ to }) => to?.[0]?.address)).toEqual([email]);
    },
  );

  test('a new address replaces the former one once confirmed; the sessions end and the former one gets a mail', async () => {
    const me = await confirmed(service);
    const email = freshAddress();
    const [reset] = await mailsOf(service, () =>
      post(service, '/v1/auth/forgot-password', { email: me.email }),
    );
    const [asked] = await mailsOf(service, () => call(service, asks(me, email)));
    if (asked === undefined || reset === undefined) throw new Error('no mail was sent');
    expect(asked.subject).toBe('Confirm your new e-mail address for Catalog');
    // The address is not confirmed yet, so the mail quotes nothing that a stranger may have written.
    expect(`${asked.text}${asked.html}${asked.to?.[0]?.name}`).not.toContain(me.name);
    expect((await signInAs(service, email)).status).toBe(401);
    expect((await refreshWith(service, me.refreshToken)).status).toBe(200);
    const token = tokenIn(asked);
    expect((await contentsOf(service)).join()).not.toContain(token);
    await play(service, {
      name: 'another token, while the address waits for this one',
      ...{ method: 'POST', path: `${me.path}/verify`, headers: me.headers, body: { token: 'x' } },
      ...{ status: 400, error: 'INVALID_TOKEN' },
    });
    const told = await mailsOf(service, async () => {
      const responses = await Promise.all([1, 2, 3].map(() => verify(service, token)));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    });
    const shown = (await call(service, { path: me.path, as: 'admin' })).body;
    expect(shown).toMatchObject({ email, pendingEmail: null, verifiedAt: nowOf(service) });
    expect(told.map(({ to, subject }) => [to?.[0]?.address, subject])).toEqual([
      [me.email, 'Your e-mail address for Catalog was changed'],
    ]);
    expect((await refreshWith(service, me.refreshToken)).status).toBe(401);
    expect((await signInAs(service, me.email)).status).toBe(401);
    expect((await signInAs(service, email)).status).toBe(200);
    // A password link sent to the former address is no longer valid.
    const stale = { token: tokenIn(reset), password: another };
    expect((await post(service, '/v1/auth/password-reset', stale)).status).toBe(400);
  });

  test('a signed-in user confirms with the token of the mail; another account’s token does nothing', async () => {
    const [me, other] = [await confirmed(service), await confirmed(service)];
    const email = freshAddress();
    const asked = await mailsOf(service, () => call(service, asks(me, email)));
    const body = { token: tokenIn(mailTo(asked, email)) };
    const foreign = { method: 'POST', path: `${other.path}/verify`, headers: other.headers, body };
    await writesNothing(service, () => call(service, foreign));
    const own = await call(service, { ...foreign, path: `${me.path}/verify`, headers: me.headers });
    expect([own.status, own.body.email, own.body.pendingEmail]).toEqual([200, email, null]);
  });

  test('changing one’s own address does not reveal which addresses are registered', async () => {
    const [me, known] = [await confirmed(service), await confirmed(service)];
    const shapes: unknown[] = [];
    const inCapitals = known.email.replace(/^[^@]+/, text => text.toUpperCase());
    for (const email of [inCapitals, freshAddress()]) {
      const mails = await mailsOf(service, async () => {
        const { status, headers, body } = await call(service, asks(me, email));
        shapes.push([status, [...headers.keys()].sort(), Object.keys(body), body.email]);
        expect(body.pendingEmail).toBe(email);
      });
      expect(mails.map(({ to }) => to?.[0]?.address)).toEqual([email]);
      if (email === inCapitals) {
        expect(mails[0]?.text).toContain('already belongs to an account');
        expect(`${mails[0]?.text}${mails[0]?.html}`).not.toMatch(/token=|Some Person/);
      }
    }
    expect(shapes[0]).toEqual(shapes[1]);
    const before = (await call(service, { path: known.path, as: 'admin' })).body;
    expect(before.email).toBe(known.email);
    // Administrators may list all users anyway, so the response may say that the address is taken.
    const taken = { method: 'PATCH', path: me.path, as: 'admin', body: { email: known.email } } as const;
    await play(service, { name: 'taken', ...taken, status: 409, error: 'DUPLICATE' });
  });

  test('only the address requested last can be confirmed, and none after a change of password', async () => {
    const me = await confirmed(service);
    const tokenFor = async (email: string) =>
      tokenIn(mailTo(await mailsOf(service, () => call(service, asks(me, email))), email));
    const first = await tokenFor(freshAddress());
    const second = await tokenFor(freshAddress());
    expect((await verify(service, first)).status).toBe(400);
    const body = { currentPassword: password, newPassword: another };
    await call(service, { method: 'PUT', path: '/v1/me/password', headers: me.headers, body });
    expect((await verify(service, second)).status).toBe(400);
    const { body: now } = await call(service, { path: me.path, as: 'admin' });
    expect([now.email, now.pendingEmail]).toEqual([me.email, null]);
  });

  test('an address that another user has taken since is refused, and nothing changes', async () => {
    const me = await confirmed(service);
    const email = freshAddress();
    const asked = await mailsOf(service, () => call(service, asks(me, email)));
    await addPerson(service, 'user', { email });
    const token = tokenIn(mailTo(asked, email));
    const late = { name: 'late', method: 'POST', path: '/v1/auth/verify', body: { token } } as const;
    await play(service, { ...late, status: 409, error: 'DUPLICATE' });
  });

  test('the former address restores the account, once, whatever the thief has done since', async () => {
    const me = await confirmed(service);
    const [stolen, further] = [freshAddress(), freshAddress()];
    const toVictim = tokenIn(mailTo(await move(service, me, stolen), me.email));
    const thief = await signedIn(service, me, stolen);
    const change = { currentPassword: password, newPassword: 'a password of a thief' };
    await call(service, { method: 'PUT', path: '/v1/me/password', headers: thief.headers, body: change });
    const within = await signedIn(service, me, stolen, change.newPassword);
    const asked = await mailsOf(service, () => call(service, asks(within, further, change.newPassword)));
    const told = await mailsOf(service, () => verify(service, tokenIn(mailTo(asked, further))));
    const toThief = tokenIn(mailTo(told, stolen));
    const again = await signedIn(service, me, further, change.newPassword);
    const [forgotten] = await mailsOf(service, () =>
      post(service, '/v1/auth/forgot-password', { email: further }),
    );
    const short = { name: 'short', method: 'POST', path: '/v1/auth/restore-address' } as const;
    const problems = [['password', 'minLength']] as const;
    await play(service, { ...short, body: { token: toVictim, password: 'short' }, status: 400, problems });

    const responses = await Promise.all([1, 2, 3].map(() => restore(service, toVictim)));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
    const { body: now } = await call(service, { path: me.path, as: 'admin' });
    expect(now).toMatchObject({ email: me.email, pendingEmail: null, verifiedAt: nowOf(service) });
    expect((await refreshWith(service, again.refreshToken)).status).toBe(401);
    for (const email of [stolen, further])
      expect((await signInAs(service, email, change.newPassword)).status).toBe(401);
    await signedIn(service, me, me.email, another);
    // No link that was sent to the thief works any more.
    const { error, message } = (await restore(service, toThief)).body;
    expect([error, message]).toEqual(['INVALID_TOKEN', expect.stringContaining('An administrator')]);
    if (forgotten === undefined) throw new Error('no mail was sent');
    const body = { token: tokenIn(forgotten), password: change.newPassword };
    expect((await post(service, '/v1/auth/password-reset', body)).body.error).toBe('INVALID_TOKEN');
    const types = (await eventsOf(service, 'user', me.id)).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['user.updated', 'user.password_changed']);
  });

  test('a restored address in between does not block the restoration of an earlier one', async () => {
    const me = await confirmed(service);
    const [first, second] = [freshAddress(), freshAddress()];
    const toVictim = tokenIn(mailTo(await move(service, me, first), me.email));
    const thief = await signedIn(service, me, first);
    const toThief = tokenIn(mailTo(await move(service, thief, second), first));
    expect((await restore(service, toThief)).status).toBe(204);
    expect((await restore(service, toVictim)).status).toBe(204);
    expect((await call(service, { path: me.path, as: 'admin' })).body.email).toBe(me.email);
  });

  test.each([
    ['an administrator: the owner’s mail has no link, and earlier links end', 'admin'],
    ['an API key: the owner’s mail has a link to restore the address', 'key'],
  ])('an address is changed at once by %s', async (_, by) => {
    const me = await confirmed(service);
    const [mine, email] = [freshAddress(), freshAddress()];
    const earlier = tokenIn(mailTo(await move(service, me, mine), me.email));
    const owner = await signedIn(service, me, mine);
    const headers = by === 'key' ? await addKey(service, 'users:write') : {};
    const as = by === 'key' ? {} : ({ as: 'admin' } as const);
    const mails = await mailsOf(service, async () => {
      const response = await call(service, {
        method: 'PATCH',
        path: me.path,
        headers,
        ...as,
        body: { email },
      });
      expect(response.body).toMatchObject({ email, pendingEmail: null, verifiedAt: null });
    });
    expect(mailTo(mails, email).subject).toBe('Confirm your e-mail address for Catalog');
    expect(mailTo(mails, mine).subject).toBe('Your e-mail address for Catalog was changed');
    expect(/token=/.test(mailTo(mails, mine).text ?? '')).toBe(by === 'key');
    expect((await refreshWith(service, owner.refreshToken)).status).toBe(401);
    if (by === 'key') expect((await restore(service, tokenIn(mailTo(mails, mine)))).status).toBe(204);
    expect((await restore(service, earlier)).status).toBe(by === 'key' ? 204 : 400);
  });

  test('an address that was never confirmed gets no link to restore it: it may be a stranger’s', async () => {
    const me = await addPerson(service);
    const mails = await move(service, me, freshAddress());
    expect(mailTo(mails, me.email).text).not.toContain('token=');
  });

  test('administrators also need the current password to change their own address', async () => {
    const me = await confirmed(service, 'admin');
    const { method, path, headers } = asks(me, '');
    const body = { email: freshAddress() };
    const request = { name: 'own', method: method ?? '', path, headers: headers ?? {}, body };
    await play(service, { ...request, status: 400, problems: [['currentPassword', 'required']] });
  });

  test('guesses at the password count as failed sign-ins', async () => {
    const me = await confirmed(service);
    const guesses = Array.from({ length: 21 }, () => call(service, asks(me, freshAddress(), 'a guess')));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(20).fill(403), 429]);
  });

  test('the link to restore is sent even when the mail limit is used up, and both tokens expire after 7 days', async () => {
    // The first mail is the one that confirms the address.
    const apart = await startTestService(kind, { MAIL_LIMIT: '2' });
    const [me, other] = [await confirmed(apart), await confirmed(apart)];
    for (const expected of [1, 0]) {
      const sent = await mailsOf(apart, () => post(apart, '/v1/auth/forgot-password', { email: me.email }));
      expect(sent).toHaveLength(expected);
    }
    const back = tokenIn(mailTo(await move(apart, me, freshAddress()), me.email));
    const email = freshAddress();
    const asked = tokenIn(mailTo(await mailsOf(apart, () => call(apart, asks(other, email))), email));
    apart.clock.advance(7 * day);
    expect((await restore(apart, back)).body.error).toBe('INVALID_TOKEN');
    const late = (await verify(apart, asked)).body;
    expect(late).toMatchObject({
      error: 'INVALID_TOKEN',
      message: expect.stringContaining('the change of the address again'),
    });
    await apart.stop();
  });
});
