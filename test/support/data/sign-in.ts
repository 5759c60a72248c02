/** The three users that every service under test has, and how they sign in. */
import { createCause, createCommandOutbox } from '../../../src/events/outbox.ts';
import type { Role } from '../../../src/http/access.ts';
import { createUserStore } from '../../../src/resources/users/store.ts';
import type { Database } from '../../../src/storage/database.ts';

export const password = 'correct horse battery';

/**
 * The least work that argon2id allows. A stored hash names its own parameters, so the service verifies it like any
 * other, in microseconds.
 */
export const minWork = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const;

const passwordHash = Bun.password.hash(password, minWork);

export const emailOf = (role: Role) => `${role}@test.example`;

/** Signs in over HTTP. */
export async function signIn(url: string, email: string, secret = password): Promise<string> {
  const response = await fetch(`${url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: secret }),
  });
  if (response.status !== 200)
    throw new Error(`sign-in answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { accessToken: string }).accessToken;
}

/** Access tokens of a user of each role. */
export type Tokens = Readonly<Record<Role, string>>;

/** Signs in the three users of a service. */
export async function signInAll(url: string): Promise<Tokens> {
  return {
    admin: await signIn(url, emailOf('admin')),
    editor: await signIn(url, emailOf('editor')),
    user: await signIn(url, emailOf('user')),
  };
}

/** Creates a user of each role, with confirmed addresses. */
export async function addUsers(database: Database, now: number): Promise<void> {
  const users = createUserStore(database, createCommandOutbox(database));
  const hash = await passwordHash;
  await database.write(async session => {
    for (const role of ['admin', 'editor', 'user'] as const) {
      const user = {
        name: `Test ${role}`,
        email: emailOf(role),
        role,
        passwordHash: hash,
        verifiedAt: now,
      };
      await users.insert(session, user, createCause('tests', now));
    }
  });
}
