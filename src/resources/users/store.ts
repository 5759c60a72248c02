/** The queries of users. Every change records an event; no event holds a password or its hash. */
import { sql } from 'kysely';
import { type Cause, createChangeBuilder, type Outbox } from '../../events/outbox.ts';
import type { Role } from '../../http/access.ts';
import { parseStored } from '../../storage/damage.ts';
import { type Database, type Session, StorageError, type Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { computeChangeMoment, toDates, toIsoDate } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createSearchIndex } from '../../storage/search/index.ts';
import { createDependentsRemover, createTableRows } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';
import { createEndedSessions, type EndedSessions } from '../auth/ended-sessions.ts';
import { toUserText } from '../search/texts.ts';
import type { User, UserFields } from './schema.ts';

/** `email_key` makes the address unique; a user without a password hash has yet to set a password. */
export type StoredUser = Row<'users'>;
/** A user in lists: without the password hash. */
export type UserRow = Omit<StoredUser, 'email_key' | 'password_hash' | 'session_generation'>;

interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly tags?: readonly string[];
  readonly passwordHash: string | null;
  readonly verifiedAt: number | null;
}

interface SetFields extends UserFields {
  /** A requested address; if omitted, the pending one stays. */
  readonly pendingEmail?: string | null;
}

export type UserStore = ReturnType<typeof createUserStore>;

/** Two addresses with the same key are the same. */
export const toEmailKey = (email: string) => email.trim().toLowerCase();

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    // Boundary: a check constraint of the table allows only these values.
    role: row.role as Role,
    tags: parseStored(row.tags),
    version: row.version,
    pendingEmail: row.pending_email,
    verifiedAt: toIsoDate(row.verified_at),
    ...toDates(row),
  };
}

const columns = [
  ...['name', 'email', 'role', 'tags', 'version', 'verified_at', 'pending_email'],
  ...['created_at', 'updated_at'],
];

type Changes = Partial<
  Omit<StoredUser, 'session_generation' | 'id' | 'email_key' | 'version' | 'created_at' | 'updated_at'>
>;

/** @param ended the ended sessions that this process verifies access tokens against, if it verifies any */
export function createUserStore(
  database: Database,
  outbox: Outbox,
  ended: Pick<EndedSessions, 'end'> = createEndedSessions(database),
) {
  const { build, dialect } = database;
  const search = createSearchIndex(database);
  const removeDependents = createDependentsRemover(database, 'users');
  const rows = createTableRows<StoredUser>(database, 'users', [
    ...columns,
    'email_key',
    'password_hash',
    'session_generation',
  ]);
  const byEmail = prepareQuery<{ key: string }, StoredUser>(build, argument =>
    build.selectFrom('users').selectAll().where('email_key', '=', argument.key),
  );
  // A literal, with which SQLite finds that an index has them.
  const isAdministrator = sql<boolean>`role = 'admin'`;
  const administrators = build.selectFrom('users').select('id').where(isAdministrator).orderBy('id');
  const readIds = async (session: Session, query: typeof administrators) =>
    (await session.all(query.compile())).map(({ id }) => id);

  const changeOf = createChangeBuilder<StoredUser>('user', row => JSON.stringify(toUser(row)));

  async function change(
    session: Transaction,
    before: StoredUser,
    changes: Changes,
    action: string,
    cause: Cause,
  ): Promise<StoredUser> {
    const stamps = {
      version: before.version + 1,
      updated_at: computeChangeMoment(cause.at, before.updated_at),
    };
    const key = changes.email === undefined ? {} : { email_key: toEmailKey(changes.email) };
    const set = { ...changes, ...key, ...stamps };
    await nameEmailInError(rows.update(session, before.id, set));
    const after = { ...before, ...set };
    await search.change(session, 'user', toUserText(before), { id: before.id, ...toUserText(after) });
    await outbox.record(session, changeOf(action, before, after), cause);
    return after;
  }

  return {
    find: rows.find,
    lock: rows.lock,
    /** Finds a user and prevents changes until the transaction ends; other transactions may do the same. */
    keep: rows.keep,
    findByEmail: (session: Session, email: string) => session.first(byEmail({ key: toEmailKey(email) })),
    administrators: (session: Session) => readIds(session, administrators),
    /**
     * The ids of all administrators, locked until the transaction ends. A transaction that also locks another user must
     * lock the administrators first, so that no two transactions deadlock.
     */
    lockAdministrators: (session: Session) => readIds(session, administrators.modifyEnd(dialect.forUpdate)),
    count: rows.count,
    all: rows.all,
    list: createLister<UserRow>(database, { table: 'users', columns }),

    /** @throws StorageError `unique` for `email` if the address is taken, ignoring case */
    async insert(session: Transaction, user: NewUser, cause: Cause): Promise<StoredUser> {
      const values = {
        name: user.name,
        email: user.email,
        email_key: toEmailKey(user.email),
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
      const id = await nameEmailInError(rows.insert(session, values));
      const stored = { ...values, id };
      await search.add(session, 'user', { id, ...toUserText(stored) });
      await outbox.record(session, changeOf('created', undefined, stored), cause);
      return stored;
    },

    /**
     * Writes new fields to a locked user. A new address is unverified.
     * @throws StorageError `unique` for `email` if the address is taken
     */
    update(
      session: Transaction,
      before: StoredUser,
      { name, email, role, tags, pendingEmail = before.pending_email }: SetFields,
      cause: Cause,
    ): Promise<StoredUser> {
      const isSameAddress = toEmailKey(email) === before.email_key;
      const address = isSameAddress
        ? { pending_email: pendingEmail }
        : { verified_at: null, pending_email: null };
      const changes = { name, email, role, tags: JSON.stringify(tags), ...address };
      return change(session, before, changes, 'updated', cause);
    },
    /**
     * Moves a locked user to an address that is known to be the user's.
     * @throws StorageError `unique` for `email` if the address is taken
     */
    moveTo: (session: Transaction, before: StoredUser, email: string, cause: Cause) =>
      change(session, before, { email, verified_at: cause.at, pending_email: null }, 'updated', cause),
    /** Also drops the pending address, which was requested with the former password. */
    setPassword: (session: Transaction, before: StoredUser, password_hash: string, cause: Cause) =>
      change(session, before, { password_hash, pending_email: null }, 'password_changed', cause),
    /** Marks the address as verified. */
    verify: (session: Transaction, before: StoredUser, cause: Cause) =>
      change(session, before, { verified_at: cause.at }, 'verified', cause),
    /** Also ends the sessions and access tokens of the user. */
    async remove(session: Transaction, before: StoredUser, cause: Cause): Promise<void> {
      await removeDependents(session, before.id);
      await rows.remove(session, before.id);
      await ended.end(session, before.id, before.session_generation + 1, cause.at);
      await search.remove(session, 'user', { id: before.id, ...toUserText(before) });
      await outbox.record(session, changeOf('deleted', before, undefined), cause);
    },
  };
}

/** Replaces the column `email_key` in errors with `email`, the name that callers know. */
async function nameEmailInError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StorageError && error.kind === 'unique')) throw error;
    throw new StorageError('unique', error.message, { column: 'email', cause: error });
  }
}
