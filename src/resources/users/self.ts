/** Changes that users make to their own accounts with their current passwords. */
import type { HandlerContext } from '../../http/endpoint.ts';
import type { Transaction } from '../../storage/database.ts';
import type { Stores } from '../stores.ts';
import { requireSelf } from './rules.ts';
import type { StoredUser } from './store.ts';

type Context = Pick<HandlerContext<unknown, unknown, unknown>, 'caller' | 'showQuota' | 'address'>;

/**
 * Proves by the current password that a request comes from its user, before the transaction: hashing is slow on purpose.
 * @returns a function that locks the user in the transaction; it throws HttpError 401 if the account has been deleted
 *   since then, 403 if the password has been changed
 * @throws HttpError 401 for an API key or a deleted account, 403 for a wrong password, 429 after too many attempts
 */
export async function proveSelf(
  { database, users, proof }: Pick<Stores, 'database' | 'users' | 'proof'>,
  { caller, showQuota, address }: Context,
  currentPassword: string,
): Promise<(session: Transaction) => Promise<StoredUser>> {
  const user = await requireSelf(caller, id => users.find(database.read, id));
  const requireProven = await proof({ showQuota, address }, user, currentPassword);
  return async session => {
    const locked = await requireSelf(caller, id => users.lock(session, id));
    requireProven(locked);
    return locked;
  };
}
