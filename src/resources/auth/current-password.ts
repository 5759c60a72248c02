/** Proving, with the current password, that a request is its user's and not that of anyone who has an access token. */
import type { HandlerContext } from '../../http/endpoint.ts';
import { buildErrorDetail, HttpError } from '../../http/errors.ts';
import type { StoredUser } from '../users/store.ts';
import type { Guard } from './guard.ts';
import type { PasswordCheck } from './passwords.ts';

/**
 * Compares a password with the user's, before the transaction: it is slow on purpose. What follows from it must
 * find the same `password_hash` in the transaction. Wrong ones have a limit of their own: signing in is not affected.
 * @throws HttpError 403 when it is wrong, 429 when there have been too many attempts
 */
export type PasswordProof = (
  context: Pick<HandlerContext<unknown, unknown, unknown>, 'showQuota' | 'address'>,
  user: Pick<StoredUser, 'email_key' | 'password_hash'>,
  currentPassword: string,
) => Promise<void>;

export function createPasswordProof(guard: Guard, passwords: PasswordCheck): PasswordProof {
  return (from, user, currentPassword) =>
    guard(from, user.email_key, async () => {
      if (!(await passwords.verify(currentPassword, user.password_hash))) throw createWrongPasswordError();
    });
}

export const createWrongPasswordError = () =>
  new HttpError('WRONG_PASSWORD', {
    details: [buildErrorDetail(['currentPassword'], 'password', 'is not the current password')],
  });
