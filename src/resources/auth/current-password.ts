/** Proof, by the current password, that a request comes from the user, not just from a holder of the access token. */
import type { HandlerContext } from '../../http/endpoint.ts';
import { buildErrorDetail, HttpError } from '../../http/errors.ts';
import type { StoredUser } from '../users/store.ts';
import type { Guard } from './guard.ts';
import type { PasswordCheck } from './passwords.ts';

/**
 * Compares a password with the user's, before the transaction, because hashing is slow on purpose. The transaction must
 * then check that `password_hash` is unchanged. Wrong passwords have their own limit: signing in is not affected.
 * @throws HttpError 403 if the password is wrong, 429 after too many attempts
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
