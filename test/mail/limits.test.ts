/** How much mail one recipient gets, by whatever way it is requested, and what strangers are not made to read. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { toMailbox } from '../../src/mail/limits.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { type Call, call } from '../support/http.ts';
import { invoiced } from '../support/invoices.ts';
import { addKey, userIdOf } from '../support/people.ts';
import { emailOf, password, startTestService, type TestService } from '../support/service.ts';

const perHour = 10;
const perDayUnconfirmed = 5;
const bait = 'You have won! Call 555-0199';

describeOnDatabases('the limits of mail on %s', kind => {
  let service: TestService;
  let replica: TestService;
  let id: number;
  const email = emailOf('user');
  beforeEach(async () => {
    const settings = { MAIL_LIMIT: `${perHour}`, MAIL_LIMIT_UNCONFIRMED: `${perDayUnconfirmed}` };
    service = await startTestService(kind, settings);
    replica = await service.replica(settings);
    id = await userIdOf(service, 'user');
  });
  afterEach(() => service.stop());

  const mailsTo = async (address: string) =>
    (await service.mails()).filter(({ to }) => to?.some(one => one.address === address));
  const reset = (at: TestService, as: Call = { path: '', as: 'user' }) =>
    call(at, { ...as, method: 'POST', path: `/v1/users/${id}/password-reset` });
  const forget = (at: TestService, address = email) =>
    call(at, { method: 'POST', path: '/v1/auth/forgot-password', body: { email: address } });
  /** Which settings the log names as reached. */
  const settingsIn = (at: TestService) => [
    ...new Set(at.log().flatMap(({ message }) => /has reached (.*)/.exec(String(message))?.[1] ?? [])),
  ];
  const setUser = (
    { database: { write, build } }: TestService,
    values: { name?: string; verified_at?: null },
  ) => write(session => session.run(build.updateTable('users').set(values).where('id', '=', id).compile()));

  test('are one for each recipient, no matter who asks for the mail, where and on which replica', async () => {
    const key = await addKey(service, 'users:write');
    const statuses: number[] = [];
    for (let times = 0; times < 4; times++) {
      for (const at of [service, replica]) {
        statuses.push((await reset(at)).status);
        statuses.push((await reset(at, { path: '', as: 'admin' })).status);
        // Neither of these may learn who there is, so neither learns of the limit.
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
    expect(numbers.map(name => refused.headers.get(name))).toEqual(['10', '0', '3600', '1800']);
    // Others get theirs, and so does this one in the next hour.
    expect((await forget(service, emailOf('editor'))).status).toBe(202);
    expect(await mailsTo(emailOf('editor'))).toHaveLength(1);
    service.clock.advance(30 * 60 * 1000);
    expect((await forget(service)).status).toBe(202);
    expect(await mailsTo(email)).toHaveLength(perHour + 1);
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
    // What was refused has changed nothing.
    const refused = statuses.indexOf(429);
    const me = await call(service, { path: `/v1/users/${id}`, as: 'admin' });
    expect(JSON.stringify(me.body)).toContain(`stranger${refused - 1}@`);
  });

  test('do not count what staff write to new users', async () => {
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
