/** The queries of users. Every change is written down as an event; no event holds a password or its hash. */
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

/** `email_key` is what makes the address unique; without a password hash the user has yet to set a password. */
export type StoredUser = Row<'users'>;
/** A user as lists read it: without the hash of the password. */
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
  /** A requested address; the pending one stays when this is left out. */
  readonly pendingEmail?: string | null;
}

export type UserStore = ReturnType<typeof createUserStore>;

/** What makes two addresses the same. */
export const toEmailKey = (email: string) => email.trim().toLowerCase();

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    // Boundary: the table's own check allows nothing else.
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

/** @param ended what this process verifies access tokens with, where it verifies any */
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
  const administrators = build.selectFrom('users').select('id').where('role', '=', 'admin').orderBy('id');
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
    /** The same, keeping others from changing it until the transaction ends. */
    lock: rows.lock,
    /** The same, keeping it from being changed or deleted until the transaction ends, while others may keep it too. */
    keep: rows.keep,
    findByEmail: (session: Session, email: string) => session.first(byEmail({ key: toEmailKey(email) })),
    /** The ids of all administrators. */
    administrators: (session: Session) => readIds(session, administrators),
    /**
     * The same, keeping others from changing them until the transaction ends. Anyone who means to lock another user
     * as well locks the administrators first, so that no two transactions deadlock.
     */
    lockAdministrators: (session: Session) => readIds(session, administrators.modifyEnd(dialect.forUpdate)),
    count: rows.count,
    all: rows.all,
    list: createLister<UserRow>(database, { table: 'users', columns }),

    /** @throws StorageError `unique` for `email` when the address is taken, in whatever case */
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
     * Writes new fields over a user that is locked. Another address has yet to be verified.
     * @throws StorageError `unique` for `email` when the address is taken
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
     * Moves a user that is locked to an address that is known to be the user's.
     * @throws StorageError `unique` for `email` when the address is taken
     */
    moveTo: (session: Transaction, before: StoredUser, email: string, cause: Cause) =>
      change(session, before, { email, verified_at: cause.at, pending_email: null }, 'updated', cause),
    /** Also ends the wait for another address: its requester had the password before. */
    setPassword: (session: Transaction, before: StoredUser, password_hash: string, cause: Cause) =>
      change(session, before, { password_hash, pending_email: null }, 'password_changed', cause),
    /** Notes that the address is the user's. */
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

/** The column that makes addresses unique is not one that callers know. */
async function nameEmailInError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StorageError && error.kind === 'unique')) throw error;
    throw new StorageError('unique', error.message, { column: 'email', cause: error });
  }
}
