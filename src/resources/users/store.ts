/** The queries of users. Every change is written down as an event; no event holds a password or its hash. */
import { sql } from 'kysely';
import { type Cause, changesOf, type Outbox } from '../../events/outbox.ts';
import type { Role } from '../../http/access.ts';
import { parseStored } from '../../storage/damage.ts';
import { type Database, type Session, StorageError, type Transaction } from '../../storage/database.ts';
import { type Lister, lister } from '../../storage/list/index.ts';
import { momentOfChange } from '../../storage/moments.ts';
import { prepared } from '../../storage/prepared.ts';
import { searchIndex } from '../../storage/search/index.ts';
import { type EndedSessions, endedSessions } from '../auth/ended-sessions.ts';
import { userText } from '../search/texts.ts';
import type { User, UserFields } from './schema.ts';

/** A user as lists read it: without the hash of the password. */
export interface UserRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  /** JSON text. */
  readonly tags: string;
  readonly version: number;
  readonly verified_at: number | null;
  /** The requested address, which has yet to be confirmed. */
  readonly pending_email: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface StoredUser extends UserRow {
  /** What makes the address unique: `emailKey` of it. */
  readonly email_key: string;
  /** Null until the user has set a password. */
  readonly password_hash: string | null;
  readonly session_generation: number;
}

interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly tags?: readonly string[];
  readonly passwordHash: string | null;
  readonly verifiedAt: number | null;
}

interface SetFields extends UserFields {
  /** A requested address; the pending one stays when this is left out. */
  readonly pendingEmail?: string | null;
}

export interface UserStore {
  find(session: Session, id: number): Promise<StoredUser | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Session, id: number): Promise<StoredUser | undefined>;
  /** The same, keeping it from being changed or deleted until the transaction ends, while others may keep it too. */
  keep(session: Session, id: number): Promise<StoredUser | undefined>;
  findByEmail(session: Session, email: string): Promise<StoredUser | undefined>;
  /** The ids of all administrators. */
  administrators(session: Session): Promise<number[]>;
  /**
   * The same, keeping others from changing them until the transaction ends. Anyone who means to lock another user
   * as well locks the administrators first, so that no two transactions deadlock.
   */
  lockAdministrators(session: Session): Promise<number[]>;
  count(session: Session): Promise<number>;
  all(session: Session): Promise<StoredUser[]>;
  readonly list: Lister<UserRow>;
  /** @throws StorageError `unique` for `email` when the address is taken, in whatever case */
  insert(session: Transaction, user: NewUser, cause: Cause): Promise<StoredUser>;
  /**
   * Writes new fields over a user that is locked. Another address has yet to be verified.
   * @throws StorageError `unique` for `email` when the address is taken
   */
  update(session: Transaction, before: StoredUser, fields: SetFields, cause: Cause): Promise<StoredUser>;
  /**
   * Moves a user that is locked to an address that is known to be the user's.
   * @throws StorageError `unique` for `email` when the address is taken
   */
  moveTo(session: Transaction, before: StoredUser, email: string, cause: Cause): Promise<StoredUser>;
  /** Also ends the wait for another address: its requester had the password before. */
  setPassword(
    session: Transaction,
    before: StoredUser,
    passwordHash: string,
    cause: Cause,
  ): Promise<StoredUser>;
  /** Notes that the address is the user's. */
  verify(session: Transaction, before: StoredUser, cause: Cause): Promise<StoredUser>;
  /** Also ends the sessions and access tokens of the user. */
  remove(session: Transaction, before: StoredUser, cause: Cause): Promise<void>;
}

/** What makes two addresses the same. */
export const emailKey = (email: string) => email.trim().toLowerCase();

export function userOf(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    // Boundary: the table's own check allows nothing else.
    role: row.role as Role,
    tags: parseStored(row.tags),
    version: row.version,
    pendingEmail: row.pending_email,
    verifiedAt: row.verified_at === null ? null : new Date(row.verified_at).toISOString(),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

type Changes = Partial<
  Omit<StoredUser, 'session_generation' | 'id' | 'email_key' | 'version' | 'created_at' | 'updated_at'>
>;

/** @param ended what this process verifies access tokens with, where it verifies any */
export function userStore(
  database: Database,
  outbox: Outbox,
  ended: Pick<EndedSessions, 'end'> = endedSessions(database),
): UserStore {
  const { build, dialect } = database;
  const search = searchIndex(database);
  const byId = prepared<{ id: number }, StoredUser>(build, argument =>
    build.selectFrom('users').selectAll().where('id', '=', argument.id),
  );
  const byIdForUpdate = prepared<{ id: number }, StoredUser>(build, argument =>
    build.selectFrom('users').selectAll().where('id', '=', argument.id).modifyEnd(dialect.forUpdate),
  );
  const byIdForKeyShare = prepared<{ id: number }, StoredUser>(build, argument =>
    build.selectFrom('users').selectAll().where('id', '=', argument.id).modifyEnd(dialect.forKeyShare),
  );
  const byEmail = prepared<{ key: string }, StoredUser>(build, argument =>
    build.selectFrom('users').selectAll().where('email_key', '=', argument.key),
  );
  const administrators = build.selectFrom('users').select('id').where('role', '=', 'admin').orderBy('id');
  const idsOf = async (session: Session, query: typeof administrators) =>
    (await session.all(query.compile())).map(({ id }) => id);

  const changeOf = changesOf<StoredUser>('user', row => JSON.stringify(userOf(row)));

  async function change(
    session: Transaction,
    before: StoredUser,
    changes: Changes,
    action: string,
    cause: Cause,
  ): Promise<StoredUser> {
    const stamps = { version: before.version + 1, updated_at: momentOfChange(cause.at, before.updated_at) };
    const key = changes.email === undefined ? {} : { email_key: emailKey(changes.email) };
    const set = { ...changes, ...key, ...stamps };
    const query = build.updateTable('users').set(set).where('id', '=', before.id);
    await namingEmail(session.run(query.compile()));
    const after = { ...before, ...set };
    await search.change(session, 'user', userText(before), { id: before.id, ...userText(after) });
    await outbox.record(session, changeOf(action, before, after), cause);
    return after;
  }

  return {
    find: (session, id) => session.first(byId({ id })),
    lock: (session, id) => session.first(byIdForUpdate({ id })),
    keep: (session, id) => session.first(byIdForKeyShare({ id })),
    findByEmail: (session, email) => session.first(byEmail({ key: emailKey(email) })),
    administrators: session => idsOf(session, administrators),
    lockAdministrators: session => idsOf(session, administrators.modifyEnd(dialect.forUpdate)),
    async count(session) {
      const total = sql<number>`cast(count(*) as integer)`.as('total');
      return (await session.first(build.selectFrom('users').select(total).compile()))?.total ?? 0;
    },
    all: session => session.all(build.selectFrom('users').selectAll().orderBy('id').compile()),
    list: lister<UserRow>(database, {
      table: 'users',
      columns: [
        'name',
        'email',
        'role',
        'tags',
        'version',
        'verified_at',
        'pending_email',
        'created_at',
        'updated_at',
      ],
    }),

    async insert(session, user, cause) {
      const row = {
        name: user.name,
        email: user.email,
        email_key: emailKey(user.email),
        password_hash: user.passwordHash,
        role: user.role,
        tags: JSON.stringify(user.tags ?? []),
        version: 1,
        verified_at: user.verifiedAt,
        pending_email: null,
        session_generation: 0,
        created_at: cause.at,
        updated_at: cause.at,
      };
      const id = await namingEmail(session.insert(build.insertInto('users').values(row).compile()));
      const stored = { ...row, id };
      await search.add(session, 'user', { id, ...userText(stored) });
      await outbox.record(session, changeOf('created', undefined, stored), cause);
      return stored;
    },

    update(session, before, { name, email, role, tags, pendingEmail = before.pending_email }, cause) {
      const isSameAddress = emailKey(email) === before.email_key;
      const address = isSameAddress
        ? { pending_email: pendingEmail }
        : { verified_at: null, pending_email: null };
      const changes = { name, email, role, tags: JSON.stringify(tags), ...address };
      return change(session, before, changes, 'updated', cause);
    },
    moveTo: (session, before, email, cause) =>
      change(session, before, { email, verified_at: cause.at, pending_email: null }, 'updated', cause),
    setPassword: (session, before, password_hash, cause) =>
      change(session, before, { password_hash, pending_email: null }, 'password_changed', cause),
    verify: (session, before, cause) => change(session, before, { verified_at: cause.at }, 'verified', cause),
    async remove(session, before, cause) {
      await session.run(build.deleteFrom('users').where('id', '=', before.id).compile());
      await ended.end(session, before.id, before.session_generation + 1, cause.at);
      await search.remove(session, 'user', { id: before.id, ...userText(before) });
      await outbox.record(session, changeOf('deleted', before, undefined), cause);
    },
  };
}

/** The column that makes addresses unique is not one that callers know. */
async function namingEmail<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StorageError && error.kind === 'unique')) throw error;
    throw new StorageError('unique', error.message, { column: 'email', cause: error });
  }
}
