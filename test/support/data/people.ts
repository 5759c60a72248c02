/** Users for tests to act as, beyond the three that every service has, and API keys for them to send. */
import type { Role } from '../../../src/http/access.ts';
import { call } from '../http/http.ts';
import { password, type TestService } from '../service/service.ts';

export interface Person {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  /** `/v1/users/{id}` */
  readonly path: string;
  /** The headers with which this person's requests are signed in. */
  readonly headers: Readonly<Record<string, string>>;
  readonly refreshToken: string;
}

/**
 * Creates a user who signs in with the password of all tests, and whose address is not confirmed.
 * @throws Error when the user cannot be created or cannot sign in
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

/** The header with the API key. A type, since an interface would not be assignable to a record of headers. */
export type KeyHeaders = { readonly 'X-API-Key': string };

/**
 * Creates an API key and uses it once: the database records its first use, but no further uses within the minute.
 * @throws Error when the key is not created
 */
export async function addKey(service: TestService, ...scopes: readonly string[]): Promise<KeyHeaders> {
  const headers = await addUnusedKey(service, { scopes });
  await call(service, { path: '/v1/me', headers });
  // The response did not wait until the use was recorded.
  await service.settle();
  return headers;
}

/** Creates an API key that has not been used yet. @throws Error when the key is not created */
export async function addUnusedKey(
  service: TestService,
  fields: { readonly scopes: readonly string[]; readonly rateLimit?: number },
): Promise<KeyHeaders> {
  const body = { name: 'Test key', ...fields };
  const made = await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body });
  if (made.status !== 201) throw new Error(`POST /v1/keys answered ${made.status}: ${made.text}`);
  return { 'X-API-Key': made.body.key };
}
