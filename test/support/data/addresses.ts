/** Accounts whose e-mail address changes. */

import { expect } from 'bun:test';
import { type Call, call } from '../http/http.ts';
import { type Email, mailsOf, mailTo, tokenIn } from '../peers/mails.ts';
import { password, type TestService } from '../service/service.ts';
import { addPerson, type Person, signInAs } from './people.ts';

export const another = 'another long password';
export const freshAddress = () => `${crypto.randomUUID()}@new.example`;
export const post = (service: TestService, path: string, body: unknown) =>
  call(service, { method: 'POST', path, body });
export const verify = (service: TestService, token: string) => post(service, '/v1/auth/verify', { token });
export const restore = (service: TestService, token: string, secret = another) =>
  post(service, '/v1/auth/restore-address', { token, password: secret });

/** A user whose address is confirmed. */
export async function confirmed(service: TestService, role: 'admin' | 'user' = 'user'): Promise<Person> {
  const me = await addPerson(service, role);
  await call(service, { method: 'POST', path: `${me.path}/verify`, as: 'admin' });
  return me;
}

export const asks = ({ path, headers }: Person, email: string, currentPassword = password): Call => ({
  method: 'PATCH',
  path,
  headers,
  body: { email, currentPassword },
});

/** Moves a user to another address, from its mailbox. @returns the mails that this led to */
export async function move(service: TestService, me: Person, email: string): Promise<Email[]> {
  const asked = await mailsOf(service, () => call(service, asks(me, email)));
  return mailsOf(service, async () => {
    const response = await verify(service, tokenIn(mailTo(asked, email)));
    expect(response.status).toBe(200);
  });
}

/** The same account, signed in again. */
export async function signedIn(
  service: TestService,
  me: Person,
  email: string,
  secret = password,
): Promise<Person> {
  const { status, body } = await signInAs(service, email, secret);
  expect(status).toBe(200);
  const headers = { Authorization: `Bearer ${body.accessToken}` };
  return { ...me, email, headers, refreshToken: body.refreshToken };
}
