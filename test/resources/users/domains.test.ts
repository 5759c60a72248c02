/** E-mail addresses as mail servers accept them: domain names in other scripts, and all characters of local parts. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { signInAs } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { mailsOf, mailTo, tokenIn } from '../../support/peers/mails.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const addresses = [
  // A top-level domain in another script, as the DNS spells it: почта.рф.
  'ivan@xn--80a1acny.xn--p1ai',
  'r&d@firm.example',
  'sales/north=eu@firm.example',
  "o'neil'@firm.example",
  '{a}|b~c@firm.example',
];

const malformed = [
  '.ada@firm.example',
  'ada.@firm.example',
  'ada..winter@firm.example',
  'ada@firm',
  'ada@firm.xn--',
  'ada@firm.e-x',
  'ada@почта.рф',
  'ада@firm.example',
  '"ada winter"@firm.example',
  '<ada@firm.example>',
  'ada@firm.example,bob@firm.example',
];

describeOnDatabases('e-mail addresses on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const create = (email: string) =>
    call(service, { method: 'POST', path: '/v1/users', as: 'admin', body: { name: 'Ada', email } });

  test.each(addresses)('%s receives mail and signs in', async email => {
    const mails = await mailsOf(service, async () => {
      expect((await create(email)).body).toMatchObject({ email });
    });
    const body = { token: tokenIn(mailTo(mails, email)), password: 'a password of her own' };
    const set = await call(service, { method: 'POST', path: '/v1/auth/password-reset', body });
    expect(set.status).toBe(204);
    expect((await signInAs(service, email, body.password)).status).toBe(200);
    const found = await call(service, { path: `/v1/users?email=${encodeURIComponent(email)}`, as: 'admin' });
    expect(found.body.data).toMatchObject([{ email }]);
  });

  test.each(malformed)('%s is refused', async email => {
    const { status, body } = await create(email);
    expect({ status, details: body.details }).toMatchObject({
      status: 400,
      details: [{ field: 'email', code: 'format', message: 'must be an e-mail address' }],
    });
  });
});
