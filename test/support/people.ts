/** More people than the three that every test service knows. */

import { causedBy, outboxOf } from '../../src/events/outbox.ts';
import type { Role } from '../../src/http/access.ts';
import { eventJson } from '../../src/resources/events/store.ts';
import { userStore } from '../../src/resources/users/store.ts';
import { call } from './http.ts';
import type { TestService } from './service.ts';
import { cheapHash, signIn } from './sign-in.ts';

export interface Person {
  readonly id: number;
  readonly name: string;
  /** The headers of this person's requests. */
  readonly headers: Readonly<Record<string, string>>;
}

const secret = 'another long password';
const hashed = cheapHash(secret);

export async function addPerson(
  service: TestService,
  role: Role,
  name: string,
  password = secret,
): Promise<Person> {
  const { database, clock } = service;
  const email = `${Bun.randomUUIDv7()}@test.example`;
  const passwordHash = await (password === secret ? hashed : cheapHash(password));
  const user = { name, email, role, passwordHash, verifiedAt: clock.now() };
  const { id } = await database.write(session =>
    userStore(database, outboxOf(database)).insert(session, user, causedBy('test', clock.now())),
  );
  const token = await signIn(service.url, email, password);
  return { id, name, headers: { Authorization: `Bearer ${token}` } };
}

/** The id of the user who signs in with this role. */
export async function userIdOf(service: TestService, role: Role): Promise<number> {
  return (await call(service, { path: '/v1/me', as: role })).body.id;
}

/** Deletes an account over HTTP. */
export async function removePerson(service: TestService, { id }: Pick<Person, 'id'>): Promise<void> {
  const gone = await call(service, { method: 'DELETE', path: `/v1/users/${id}`, as: 'admin' });
  if (gone.status !== 204) throw new Error(`DELETE /v1/users/${id} answered ${gone.status}: ${gone.text}`);
}

/** The headers of a new API key's requests. */
export async function addKey(
  service: TestService,
  ...scopes: readonly string[]
): Promise<Readonly<Record<string, string>>> {
  const body = { name: 'Test key', scopes };
  const made = await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body });
  if (made.status !== 201) throw new Error(`POST /v1/keys answered ${made.status}: ${made.text}`);
  const headers = { 'X-API-Key': made.body.key };
  // The first use is noted in the database; later ones within the minute are not.
  await call(service, { path: '/v1/me', headers });
  return headers;
}

interface EventRow {
  readonly type: string;
  readonly actor: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** The events of one resource, oldest first, as they are shown. */
export async function eventsOf(service: TestService, resource: string, id: number): Promise<EventRow[]> {
  const { build, read } = service.database;
  const query = build.selectFrom('events').selectAll().where('resource', '=', resource);
  const rows = await read.all(query.where('resource_id', '=', id).orderBy('id').compile());
  return rows.map(row => {
    const { type, actor, before, after } = JSON.parse(eventJson(row));
    return { type, actor, old: before, new: after };
  });
}
