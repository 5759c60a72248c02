/**
 * Who may change whom (docs/decisions/0010). Administrators may change every user, but never the last of them;
 * others themselves, but not their role; API keys only accounts of the role `user`, so that a key is no way to
 * become a user with more rights.
 */
import { admins, type Caller, createOutdatedTokenError, createUnauthorizedError } from '../../http/access.ts';
import { buildErrorDetail, createNotFoundError, HttpError } from '../../http/errors.ts';
import { may } from '../context.ts';
import type { StoredUser, UserRow } from './store.ts';

/**
 * The user, for a caller who may see it. Other accounts are 404; the caller's own, if it has been deleted, leaves
 * no user whom the token stands for.
 * @throws HttpError 401, 404
 */
export function requireVisible(row: StoredUser | undefined, id: number, caller: Caller): StoredUser {
  if (row !== undefined && may(caller, admins, undefined, id)) return row;
  if (caller.kind === 'user' && caller.userId === id) throw createUnauthorizedError('UNAUTHORIZED');
  throw createNotFoundError('user', id);
}

/** Whether a change would leave the service without an administrator. @param role null when the user goes */
export function leavesNoAdministrator(
  { id, role: before }: Pick<UserRow, 'id' | 'role'>,
  role: string | null,
  administrators: readonly number[],
): boolean {
  return before === 'admin' && role !== 'admin' && administrators.every(other => other === id);
}

/**
 * Why the caller may not make this change; undefined when nothing stands against it. The caller is known to see
 * the user.
 * @param role the user's role afterwards; null when the user goes
 * @param administrators those there are now
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
    return createForbiddenError('An API key may change users of the role user only, and no roles.');
  }
  if (caller.kind !== 'user') return createForbiddenError('Only users may do this.');
  if (caller.role !== 'admin') {
    return keepsRole ? undefined : createForbiddenError('Only an administrator may change a role.');
  }
  if (leavesNoAdministrator(before, role, administrators)) return new HttpError('LAST_ADMINISTRATOR');
  return administrators.includes(caller.userId) ? undefined : createOutdatedTokenError();
}

/** @throws HttpError 403 when the caller may not make a user of this role */
export function requireCreation(caller: Caller, role: string): void {
  if (caller.kind === 'key' && role !== 'user')
    throw createForbiddenError('An API key may make users of the role user only.');
}

/**
 * 400: the same for a token that is wrong, was used and has expired.
 * @param advice where a password reset does not help
 */
export const createInvalidTokenError = (advice?: string) =>
  new HttpError('INVALID_TOKEN', {
    ...(advice === undefined
      ? {}
      : { message: `The token is wrong, was used before, or has expired. ${advice}` }),
    details: [buildErrorDetail(['token'], 'token', 'is not valid (any more)')],
  });

const createForbiddenError = (message: string) => new HttpError('FORBIDDEN', { message });
