/** Proof, by the current password, that a request comes from the user, not just from a holder of the access token. */
import type { HandlerContext } from '../../http/endpoint.ts';
import { buildErrorDetail, HttpError } from '../../http/errors.ts';
import type { StoredUser } from '../users/store.ts';
import type { Guard } from './guard.ts';
import type { PasswordCheck } from './passwords.ts';

type From = Pick<HandlerContext<unknown, unknown, unknown>, 'showQuota' | 'address'>;

/** @throws HttpError 403 unless the locked user still has the password that was proven before the transaction */
export type RequireProven = (locked: Pick<StoredUser, 'password_hash'>) => void;

/**
 * @returns a function that compares a password with the user's, before the transaction, because hashing is slow on
 * purpose, and returns the check that the transaction must make. Wrong passwords have their own limit: signing in is not
 * affected. It throws HttpError 403 if the password is wrong, 429 after too many attempts
 */
export function createPasswordProof(guard: Guard, passwords: PasswordCheck) {
  return async (from: From, user: StoredUser, currentPassword: string): Promise<RequireProven> => {
    const { email_key, password_hash } = user;
    await guard(from, email_key, async () => {
      if (!(await passwords.verify(currentPassword, password_hash))) refuseUnproven();
    });
    return locked => {
      if (locked.password_hash !== password_hash) refuseUnproven();
    };
  };
}

/** @throws HttpError 403 */
export function refuseUnproven(): never {
  throw new HttpError('WRONG_PASSWORD', {
    details: [buildErrorDetail(['currentPassword'], 'password', 'is not the current password')],
  });
}
