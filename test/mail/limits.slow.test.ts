/** Limits of mails to a recipient, however they are requested, and of what a user can make strangers read. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { toMailbox } from '../../src/mail/limits.ts';
import { asks } from '../support/data/addresses.ts';
import { invoiced } from '../support/data/invoices.ts';
import { addKey, addPerson, userIdOf } from '../support/data/people.ts';
import { type Call, call } from '../support/http/http.ts';
import { mailTo, tokenIn } from '../support/peers/mails.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { emailOf, password, startTestService, type TestService } from '../support/service/service.ts';

const perHour = 10;
const perDayUnconfirmed = 5;
const minute = 60_000;
const hour = 60 * minute;
const bait = 'You have won! Call 555-0199';

describeOnDatabases('the limits of mail on %s', kind => {
  let service: TestService;
  let replica: TestService;
  let id: number;
  let key: Readonly<Record<string, string>>;
  const email = emailOf('user');
  beforeEach(async () => {
    const settings = { MAIL_LIMIT: `${perHour}`, MAIL_LIMIT_UNCONFIRMED: `${perDayUnconfirmed}` };
    service = await startTestService(kind, settings);
    replica = await service.replica(settings);
    id = await userIdOf(service, 'user');
    key = await addKey(service, 'users:write');
  });
  afterEach(() => service.stop());

  const mailsTo = async (address: string) =>
    (await service.mails()).filter(({ to }) => to?.some(one => one.address === address));
  const reset = (at: TestService, as: Call = { path: '', as: 'user' }) =>
    call(at, { ...as, method: 'POST', path: `/v1/users/${id}/password-reset` });
  const forget = (at: TestService, address = email) =>
    call(at, { method: 'POST', path: '/v1/auth/forgot-password', body: { email: address } });
  /** The settings that the log reports as reached. */
  const settingsIn = (at: TestService) => [
    ...new Set(at.log().flatMap(({ message }) => /has reached (.*)/.exec(String(message))?.[1] ?? [])),
  ];
  const setUser = (
    { database: { write, build } }: TestService,
    values: { name?: string; verified_at?: number | null },
  ) => write(session => session.run(build.updateTable('users').set(values).where('id', '=', id).compile()));

  test('do not revoke the link of the last mail that was sent', async () => {
    for (let times = 0; times < perHour + 3; times++) {
      expect((await reset(service, { path: '', headers: key })).status).toBe(202);
      await service.settle();
    }
    const mails = await mailsTo(email);
    expect([mails.length, settingsIn(service)]).toEqual([perHour, ['MAIL_LIMIT']]);
    const statuses: number[] = [];
    for (const mail of mails) {
      const body = { token: tokenIn(mail), password: 'another one that is long' };
      statuses.push((await call(service, { method: 'POST', path: '/v1/auth/password-reset', body })).status);
    }
    // Each token was revoked by the next one.
    expect(statuses.sort()).toEqual([204, ...Array(perHour - 1).fill(400)]);
  });

  test('apply to a recipient as a whole, for all callers, operations and replicas', async () => {
    const statuses: number[] = [];
    for (let times = 0; times < 4; times++) {
      for (const at of [service, replica]) {
        statuses.push((await reset(at)).status);
        statuses.push((await reset(at, { path: '', as: 'admin' })).status);
        // Neither of these callers may learn which accounts exist, so neither is notified of the limit.
        expect((await reset(at, { path: '', headers: key })).status).toBe(202);
        expect((await forget(at, email.toUpperCase())).status).toBe(202);
        await service.settle();
      }
    }
    expect(await mailsTo(email)).toHaveLength(perHour);
    expect(settingsIn(service)).toEqual(['MAIL_LIMIT']);
    expect(statuses).toContain(202);
    const refused = await reset(replica);
    expect([refused.status, refused.body.error]).toEqual([429, 'RATE_LIMITED']);
    const numbers = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Window', 'Retry-After'];
    expect(numbers.map(name => refused.headers.get(name))).toEqual(['10', '0', '3600', '3600']);
    // Other recipients still get mails, and so does this one an hour later.
    expect((await forget(service, emailOf('editor'))).status).toBe(202);
    expect(await mailsTo(emailOf('editor'))).toHaveLength(1);
    service.clock.advance(hour);
    expect((await forget(service)).status).toBe(202);
    expect(await mailsTo(email)).toHaveLength(perHour + 1);
  });

  /** Requests this many mails at once from the replicas. @returns how many are sent */
  async function countSent(requested: number, replicas = [service, replica]): Promise<number> {
    const before = (await mailsTo(email)).length;
    const requests = Array.from({ length: requested }, (_, index) =>
      reset(replicas[index % replicas.length] ?? service, { path: '', headers: key }),
    );
    await Promise.all(requests);
    return (await mailsTo(email)).length - before;
  }
  const passMinutes = (count: number) => service.clock.advance(count * minute);

  test('hold in any sixty minutes and for simultaneous mails', async () => {
    passMinutes(25);
    expect(await countSent(4)).toBe(4);
    // The clock hour ends here.
    passMinutes(10);
    expect(await countSent(20)).toBe(6);
    passMinutes(49.99);
    expect(await countSent(10)).toBe(0);
    // Refused mails do not count, and sent ones count for an hour.
    passMinutes(0.01);
    expect(await countSent(10)).toBe(4);
    passMinutes(10);
    expect(await countSent(10)).toBe(6);
    passMinutes(24 * 60);
    expect(await countSent(20)).toBe(perHour);
  });

  test('count mail to an unconfirmed address against both limits', async () => {
    await setUser(service, { verified_at: null });
    expect(await countSent(20)).toBe(perDayUnconfirmed);
    await setUser(service, { verified_at: service.clock.now() });
    expect(await countSent(20)).toBe(perHour - perDayUnconfirmed);
    expect(settingsIn(service)).toEqual(['MAIL_LIMIT_UNCONFIRMED', 'MAIL_LIMIT']);
  });

  test('do not count mail that one limit refuses against the other', async () => {
    await setUser(service, { verified_at: null });
    for (let sent = 0; sent < perDayUnconfirmed; sent++) {
      expect(await countSent(1)).toBe(1);
      passMinutes(60);
    }
    expect(await countSent(10)).toBe(0);
    await setUser(service, { verified_at: service.clock.now() });
    expect(await countSent(20)).toBe(perHour);
    passMinutes(24 * 60);
    await setUser(service, { verified_at: null });
    const few = [await service.replica({ MAIL_LIMIT: '2', MAIL_LIMIT_UNCONFIRMED: '3' })];
    expect(await countSent(5, few)).toBe(2);
    passMinutes(60);
    expect(await countSent(5, few)).toBe(1);
  });

  test('hold for users who share a mailbox and are created at once', async () => {
    const making = Array.from({ length: 20 }, (_, index) =>
      call(index % 2 === 0 ? service : replica, {
        method: 'POST',
        path: '/v1/users',
        headers: key,
        body: { name: bait, email: `shared+${index}@else.example`, role: 'user' },
      }),
    );
    const statuses = (await Promise.all(making)).map(({ status }) => status);
    expect(statuses).toEqual(Array(20).fill(201));
    expect(await service.mails()).toHaveLength(perDayUnconfirmed);
  });

  test('hold for invoices, which go to confirmed addresses only when customers send them', async () => {
    await setUser(service, { name: bait });
    const invoice = await invoiced(service);
    await setUser(service, { verified_at: null });
    const send = (as: 'user' | 'admin') =>
      call(service, { method: 'POST', path: `/v1/invoices/${invoice.id}/send`, as });
    expect((await send('user')).status).toBe(202);
    const [notice] = await mailsTo(email);
    expect([notice?.attachments, notice?.to?.[0]?.name]).toEqual([[], '']);
    expect(JSON.stringify(notice)).not.toContain('You have won');
    expect(notice?.text).toContain('Hello,');
    const read = await call(service, { path: `/v1/invoices/${invoice.id}`, as: 'user' });
    expect(read.body.sentAt).toBeNull();
    expect((await send('admin')).status).toBe(202);
    const sent = (await mailsTo(email)).find(({ attachments }) => attachments.length === 1);
    expect(sent?.text).toContain('is attached');
    expect(sent?.text).not.toContain('You have won');
    const statuses: number[] = [];
    for (let times = 0; times < 20; times++) statuses.push((await send(times % 2 ? 'user' : 'admin')).status);
    expect(statuses).toEqual([202, 202, 202, ...Array(17).fill(429)]);
    expect(await mailsTo(email)).toHaveLength(perDayUnconfirmed);
    expect(settingsIn(service)).toEqual(['MAIL_LIMIT_UNCONFIRMED']);
  });

  test('keep a user from writing to strangers by claiming their addresses', async () => {
    const statuses: number[] = [];
    for (let stranger = 0; stranger < 40; stranger++) {
      const body = { name: bait, email: `stranger${stranger}@else.example`, currentPassword: password };
      statuses.push(
        (await call(service, { method: 'PATCH', path: `/v1/users/${id}`, as: 'user', body })).status,
      );
    }
    const strangers = (await service.mails()).filter(({ to }) => to?.[0]?.address?.endsWith('@else.example'));
    expect(strangers.length).toBeGreaterThan(0);
    expect(strangers.length).toBeLessThanOrEqual(10);
    expect(statuses.at(-1)).toBe(429);
    expect(JSON.stringify(strangers)).not.toContain('You have won');
    // Refused requests changed nothing.
    const refused = statuses.indexOf(429);
    const me = await call(service, { path: `/v1/users/${id}`, as: 'admin' });
    expect(JSON.stringify(me.body)).toContain(`stranger${refused - 1}@`);
  });

  test('keep no user from confirming an address or leaving, although these notify an unconfirmed one', async () => {
    const me = await addPerson(service);
    const { path, headers } = me;
    const request = (times: number) => call(service, asks(me, `mine${times}@else.example`));
    for (let times = 1; times <= 10; times++) expect((await request(times)).status).toBe(200);
    expect((await request(11)).status).toBe(429);
    const token = tokenIn(mailTo(await service.mails(), 'mine10@else.example'));
    const confirm = { method: 'POST', path: `${path}/verify`, headers, body: { token } } as const;
    expect((await call(service, confirm)).status).toBe(200);

    const leaver = await addPerson(service);
    for (let times = 1; times <= 10; times++)
      expect((await call(service, asks(leaver, `other${times}@else.example`))).status).toBe(200);
    const body = { currentPassword: password };
    const leave = { method: 'POST', path: '/v1/me/deletion', headers: leaver.headers, body } as const;
    expect((await call(service, leave)).status).toBe(204);
    const subjects = (await mailsTo(leaver.email)).map(({ subject }) => subject);
    expect(subjects).toContain('Your account at Catalog was deleted');
  });

  test('do not count mail to new users that staff create', async () => {
    for (let times = 0; times < 25; times++) {
      const body = { name: bait, email: `new${times}@else.example`, role: 'user' };
      expect((await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body })).status).toBe(
        201,
      );
    }
    expect(await service.mails()).toHaveLength(25);
    expect(JSON.stringify(await service.mails())).not.toContain('You have won');
  });
});

test('a subaddress is the same mailbox', () => {
  for (const [address, mailbox] of [
    ['Ada+Shop+2@Test.Example', 'ada@test.example'],
    [' ada@test.example ', 'ada@test.example'],
    ['+ada@test.example', '+ada@test.example'],
    ['ada@x+y.example', 'ada@x+y.example'],
  ] as const)
    expect(toMailbox(address)).toBe(mailbox);
});
