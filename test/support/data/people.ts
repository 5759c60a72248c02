/** People for tests to be, beyond the three that every service has, and API keys for them to send. */
import type { Role } from '../../../src/http/access.ts';
import { call } from '../http/http.ts';
import { password, type TestService } from '../service/service.ts';

export interface Person {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  /** `/v1/users/{id}` */
  readonly path: string;
  /** Signed in: what this person's requests send. */
  readonly headers: Readonly<Record<string, string>>;
  readonly refreshToken: string;
}

/**
 * A user who signs in with the password of all tests, and whose address is not confirmed.
 * @throws Error when the user cannot be made or sign in
 */
export async function addPerson(
  service: TestService,
  role: Role = 'user',
  {
    name = 'Some Person',
    email = `${crypto.randomUUID()}@people.example`,
  }: Partial<Pick<Person, 'name' | 'email'>> = {},
): Promise<Person> {
  const body = { name, email, role, password };
  const made = await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body });
  if (made.status !== 201) throw new Error(`POST /v1/users answered ${made.status}: ${made.text}`);
  const signedIn = await signInAs(service, email);
  if (signedIn.status !== 200) throw new Error(`the sign-in answered ${signedIn.status}: ${signedIn.text}`);
  const { id } = made.body;
  const { accessToken, refreshToken } = signedIn.body;
  const headers = { Authorization: `Bearer ${accessToken}` };
  return { id, name, email, path: `/v1/users/${id}`, headers, refreshToken };
}

export const signInAs = (service: TestService, email: string, secret = password) =>
  call(service, { method: 'POST', path: '/v1/auth/login', body: { email, password: secret } });

export const refreshWith = (service: TestService, refreshToken: string) =>
  call(service, { method: 'POST', path: '/v1/auth/refresh', body: { refreshToken } });

/** The id of the user who signs in with this role. */
export async function userIdOf(service: TestService, role: Role): Promise<number> {
  return (await call(service, { path: '/v1/me', as: role })).body.id;
}

/** Deletes an account over HTTP. */
export async function removePerson(service: TestService, { path }: Pick<Person, 'path'>): Promise<void> {
  const gone = await call(service, { method: 'DELETE', path, as: 'admin' });
  if (gone.status !== 204) throw new Error(`DELETE ${path} answered ${gone.status}: ${gone.text}`);
}

/** What an API key's requests send. A type, not an interface: headers of any name can be these. */
export type KeyHeaders = { readonly 'X-API-Key': string };

/**
 * An API key that has been used: the first use is noted in the database, later ones within the minute are not.
 * @throws Error when it is not made
 */
export async function addKey(service: TestService, ...scopes: readonly string[]): Promise<KeyHeaders> {
  const headers = await addUnusedKey(service, { scopes });
  await call(service, { path: '/v1/me', headers });
  // The request has not waited for the note of its use.
  await service.settle();
  return headers;
}

/** An API key that no request has been counted of. @throws Error when it is not made */
export async function addUnusedKey(
  service: TestService,
  fields: { readonly scopes: readonly string[]; readonly rateLimit?: number },
): Promise<KeyHeaders> {
  const body = { name: 'Test key', ...fields };
  const made = await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body });
  if (made.status !== 201) throw new Error(`POST /v1/keys answered ${made.status}: ${made.text}`);
  return { 'X-API-Key': made.body.key };
}
