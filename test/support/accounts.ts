/** People for tests to be, beyond the three that every service has. */
import { sql } from 'kysely';
import type { Role } from '../../src/http/access.ts';
import { call } from './http.ts';
import type { Email } from './mails.ts';
import { password, type TestService } from './service.ts';

export interface Account {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly path: string;
  /** Signed in: what a request sends. */
  readonly headers: Readonly<Record<string, string>>;
  readonly refreshToken: string;
}

/** @throws Error when the user cannot be made or sign in */
export async function addAccount(
  service: TestService,
  role: Role = 'user',
  email = `${crypto.randomUUID()}@people.example`,
): Promise<Account> {
  const body = { name: 'Some Person', email, role, password };
  const made = await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body });
  if (made.status !== 201) throw new Error(`POST /v1/users answered ${made.status}: ${made.text}`);
  const signedIn = await signInAs(service, email);
  if (signedIn.status !== 200) throw new Error(`the sign-in answered ${signedIn.status}: ${signedIn.text}`);
  const { accessToken, refreshToken } = signedIn.body;
  const headers = { Authorization: `Bearer ${accessToken}` };
  return {
    id: made.body.id,
    name: body.name,
    email,
    path: `/v1/users/${made.body.id}`,
    headers,
    refreshToken,
  };
}

export const signInAs = (service: TestService, email: string, secret = password) =>
  call(service, { method: 'POST', path: '/v1/auth/login', body: { email, password: secret } });

export const refreshWith = (service: TestService, refreshToken: string) =>
  call(service, { method: 'POST', path: '/v1/auth/refresh', body: { refreshToken } });

/** An API key with these scopes, as a request sends it. */
export async function keyWith(service: TestService, ...scopes: string[]): Promise<Record<string, string>> {
  const body = { name: 'Test', scopes };
  const { body: made } = await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body });
  const headers = { 'X-API-Key': String(made.key) };
  // The first use is noted in the database; later ones within the minute are not.
  await call(service, { path: '/v1/me', headers });
  return headers;
}

/** The mails that `work` leads to. */
export async function mailsOf(service: TestService, work: () => Promise<unknown>): Promise<Email[]> {
  const known = new Set((await service.mails()).map(({ messageId }) => messageId));
  await work();
  return (await service.mails()).filter(({ messageId }) => !known.has(messageId));
}

export interface UserEvent {
  readonly type: string;
  readonly actor: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What has been written down about a user, oldest first. */
export async function eventsOf(service: Pick<TestService, 'database'>, id: number): Promise<UserEvent[]> {
  const { read, build } = service.database;
  const rows = await read.all(
    sql<{ type: string; actor: string; old_document: string | null; new_document: string | null }>`
      select type, actor, old_document, new_document from events
      where resource = 'user' and resource_id = ${id} order by id`.compile(build),
  );
  return rows.map(({ type, actor, old_document, new_document }) => ({
    type,
    actor,
    before: JSON.parse(old_document ?? 'null'),
    after: JSON.parse(new_document ?? 'null'),
  }));
}
