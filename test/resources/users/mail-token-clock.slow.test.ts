/** Mailed tokens that were issued while the clock was ahead: they do not stay valid until it has caught up. */
import { expect, test } from 'bun:test';
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
import { call } from '../../support/http/http.ts';
import { mailsOf, mailTo, tokenIn } from '../../support/peers/mails.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const year = 365 * 24 * 60 * 60 * 1000;

const forgotten = async (service: TestService, email: string) =>
  tokenIn(mailTo(await mailsOf(service, () => post(service, '/v1/auth/forgot-password', { email })), email));
const reset = (service: TestService, token: string) =>
  post(service, '/v1/auth/password-reset', { token, password: another });

describeOnDatabases('mailed tokens on %s', kind => {
  test('end when the clock is set back, and new ones work', async () => {
    await using service = await startTestService(kind);
    const [me, moving, moved] = [
      await confirmed(service),
      await confirmed(service),
      await confirmed(service),
    ];
    service.clock.advance(year);
    const forPassword = await forgotten(service, me.email);
    const [asked, address] = [await signedIn(service, moving, moving.email), freshAddress()];
    const mails = await mailsOf(service, () => call(service, asks(asked, address)));
    const forAddress = tokenIn(mailTo(mails, address));
    const gone = await signedIn(service, moved, moved.email);
    const back = tokenIn(mailTo(await move(service, gone, freshAddress()), moved.email));
    service.clock.advance(-year);
    const refused = [
      await reset(service, forPassword),
      await verify(service, forAddress),
      await restore(service, back),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect((await reset(service, await forgotten(service, me.email))).status).toBe(204);
    service.clock.advance(year);
    expect((await reset(service, forPassword)).body.error).toBe('INVALID_TOKEN');
  });
});
