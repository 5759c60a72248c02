/**
 * Who may change which users (docs/decisions/0010). Administrators may change all users, but at least one must remain.
 * Others may change themselves, except their role. API keys may change only users with the role `user`, so that a key
 * cannot be used to gain more rights.
 */
import {
  admins,
  type Caller,
  createEndedSessionsError,
  createOutdatedTokenError,
  createUnauthorizedError,
} from '../../http/access.ts';
import { buildErrorDetail, createNotFoundError, HttpError } from '../../http/errors.ts';
import { may } from '../context.ts';
import type { StoredUser, UserRow } from './store.ts';

/**
 * The user, for a caller who may see it. Other accounts are 404; if the caller's own account has been deleted, the
 * token is no longer valid.
 * @throws HttpError 401, 404
 */
export function requireVisible(row: StoredUser | undefined, id: number, caller: Caller): StoredUser {
  if (row !== undefined && may(caller, admins, undefined, id)) return requireSession(caller, row);
  if (caller.kind === 'user' && caller.userId === id) throw createUnauthorizedError('UNAUTHORIZED');
  throw createNotFoundError('user', id);
}

/**
 * The user who sends a request, found or locked by id.
 * @throws HttpError 401 for an API key, and for a valid token whose user has been deleted or whose sessions have ended
 */
export async function requireSelf<User extends Account>(
  caller: Caller,
  read: (id: number) => Promise<User | undefined>,
): Promise<User> {
  const user = caller.kind === 'user' ? await read(caller.userId) : undefined;
  if (user === undefined) throw createUnauthorizedError('UNAUTHORIZED');
  return requireSession(caller, user);
}

type Account = Pick<StoredUser, 'id' | 'session_generation'>;

/** A request may have waited for the row after its caller was confirmed, while another ended the sessions. */
function requireSession<User extends Account>(caller: Caller, row: User): User {
  const isOwn = caller.kind === 'user' && caller.userId === row.id;
  if (isOwn && caller.generation < row.session_generation) throw createEndedSessionsError();
  return row;
}

/** Whether a change would leave the service without an administrator. @param role null if the user is deleted */
export function leavesNoAdministrator(
  { id, role: before }: Pick<UserRow, 'id' | 'role'>,
  role: string | null,
  administrators: readonly number[],
): boolean {
  return before === 'admin' && role !== 'admin' && administrators.every(other => other === id);
}

/**
 * Why the caller may not make this change; undefined if allowed. The caller must be allowed to see the user.
 * @param role the user's role afterwards; null if the user is deleted
 * @param administrators the current ones
 */
export function findRefusal(
  caller: Caller,
  before: Pick<UserRow, 'id' | 'role'>,
  role: string | null,
  administrators: readonly number[],
): HttpError | undefined {
  const keepsRole = role === before.role;
  if (caller.kind === 'key') {
    if (before.role === 'user' && (keepsRole || role === null)) return undefined;
    return createForbiddenError(
      'An API key may change only users with the role user, and may not change roles.',
    );
  }
  if (caller.kind !== 'user') return createForbiddenError('Only a signed-in user may do this.');
  if (caller.role !== 'admin')
    return keepsRole ? undefined : createForbiddenError('Only an administrator may change a role.');
  if (leavesNoAdministrator(before, role, administrators)) return new HttpError('LAST_ADMINISTRATOR');
  return administrators.includes(caller.userId) ? undefined : createOutdatedTokenError();
}

/** @throws HttpError 403 if the caller may not create a user with this role */
export function requireCreation(caller: Caller, role: string): void {
  if (caller.kind === 'key' && role !== 'user')
    throw createForbiddenError('An API key may create only users with the role user.');
}

/**
 * The error 400, the same for a token that is wrong, used or expired.
 * @param advice for tokens that a password reset cannot replace
 */
export const createInvalidTokenError = (advice?: string) =>
  new HttpError('INVALID_TOKEN', {
    ...(advice === undefined ? {} : { message: `The token is wrong, used, or expired. ${advice}` }),
    details: [buildErrorDetail(['token'], 'token', 'is wrong, used, or expired')],
  });

const createForbiddenError = (message: string) => new HttpError('FORBIDDEN', { message });
