/** The queries of users. */
import { sql } from 'kysely';
import type { Role } from '../../http/access.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepared } from '../../storage/prepared.ts';
import type { User } from './schema.ts';

export interface StoredUser {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly password_hash: string | null;
  readonly role: string;
  readonly tags: string;
  readonly version: number;
  readonly verified_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly passwordHash: string | null;
  readonly verifiedAt: number | null;
}

export interface UserStore {
  find(session: Session, id: number): Promise<StoredUser | undefined>;
  findByEmail(session: Session, email: string): Promise<StoredUser | undefined>;
  count(session: Session): Promise<number>;
  all(session: Session): Promise<StoredUser[]>;
  /** @throws StorageError `unique` when the address is taken, in whatever case */
  insert(session: Transaction, user: NewUser, now: number): Promise<number>;
  /** @returns whether there was such a user */
  setPassword(session: Session, id: number, passwordHash: string, now: number): Promise<boolean>;
  /** Needs the lock `administrators`. @returns false when it would leave no administrator, or no such user is */
  setRole(session: Session, id: number, role: Role, now: number): Promise<boolean>;
}

/** What makes two addresses the same. */
export const emailKey = (email: string) => email.trim().toLowerCase();

export function userOf(row: StoredUser): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    // Boundary: the table's own check allows nothing else.
    role: row.role as Role,
    tags: JSON.parse(row.tags),
    version: row.version,
    verifiedAt: row.verified_at === null ? null : new Date(row.verified_at).toISOString(),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

export function userStore({ build }: Pick<Database, 'build'>): UserStore {
  const byId = prepared<{ id: number }, StoredUser>(argument =>
    build.selectFrom('users').selectAll().where('id', '=', argument.id),
  );
  const byEmail = prepared<{ key: string }, StoredUser>(argument =>
    build.selectFrom('users').selectAll().where('email_key', '=', argument.key),
  );
  return {
    find: (session, id) => session.first(byId({ id })),
    findByEmail: (session, email) => session.first(byEmail({ key: emailKey(email) })),
    async count(session) {
      const total = sql<number>`cast(count(*) as integer)`.as('total');
      return (await session.first(build.selectFrom('users').select(total).compile()))?.total ?? 0;
    },
    all: session => session.all(build.selectFrom('users').selectAll().orderBy('id').compile()),
    async insert(session, user, now) {
      const row = {
        name: user.name,
        email: user.email,
        email_key: emailKey(user.email),
        password_hash: user.passwordHash,
        role: user.role,
        tags: '[]',
        version: 1,
        verified_at: user.verifiedAt,
        created_at: now,
        updated_at: now,
      };
      return session.insert(build.insertInto('users').values(row).compile());
    },
    async setRole(session, id, role, now) {
      const change = { role, updated_at: now, version: sql<number>`version + 1` };
      const others = build.selectFrom('users').select('id').where('role', '=', 'admin').where('id', '!=', id);
      let query = build.updateTable('users').set(change).where('id', '=', id);
      if (role !== 'admin') query = query.where(({ exists }) => exists(others));
      return (await session.run(query.compile())) > 0;
    },
    async setPassword(session, id, passwordHash, now) {
      const change = { password_hash: passwordHash, updated_at: now, version: sql<number>`version + 1` };
      return (await session.run(build.updateTable('users').set(change).where('id', '=', id).compile())) > 0;
    },
  };
}
