/**
 * How a user comes to another e-mail address (docs/decisions/0020). Users request one with their password, and it
 * counts once the token of a mail to it has confirmed it; whether it is taken is not shown. Administrators and API
 * keys set one at once. Either way the sessions end, and the former address is notified; unless an administrator has
 * decided, one that was confirmed gets a way back.
 */
import type { Cause } from '../../events/outbox.ts';
import type { Caller } from '../../http/access.ts';
import type { Transaction } from '../../storage/database.ts';
import type { KnownAddresses } from '../auth/known-addresses.ts';
import type { SessionStore } from '../auth/store.ts';
import type { AddressTokens } from './address-tokens.ts';
import type { MailTemplates } from './mail-templates.ts';
import type { MailTokens } from './mail-tokens.ts';
import { type StoredUser, toEmailKey, type UserStore } from './store.ts';

export interface AddressStores {
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly mailTokens: MailTokens;
  readonly addressTokens: AddressTokens;
  readonly mailTemplates: MailTemplates;
  readonly knownAddresses: Pick<KnownAddresses, 'forget'>;
}

export type Addresses = ReturnType<typeof createUserAddresses>;

export function createUserAddresses(stores: AddressStores) {
  const { users, sessions, mailTokens, addressTokens, mailTemplates, knownAddresses } = stores;

  /** Ends what the address before has given: sessions, and the tokens of mails to it. */
  async function leave(session: Transaction, { id }: StoredUser, at: number): Promise<void> {
    await sessions.removeAllOf(session, id, at);
    await mailTokens.withdraw(session, id);
    await knownAddresses.forget(session, id);
  }

  /** Notifies an address that it is not used any more; one that was never confirmed may be a stranger's. */
  async function notify(
    session: Transaction,
    before: StoredUser,
    after: StoredUser,
    cause: Cause,
  ): Promise<void> {
    if (before.verified_at === null) await mailTemplates.addressChanged(session, before, cause);
    else await mailTemplates.addressChangedWithWayBack(session, { ...before, version: after.version }, cause);
  }

  return {
    /** Sends a mail to the address that a user waits for, to be confirmed. @param user with `pending_email` */
    async request(session: Transaction, user: StoredUser, cause: Cause): Promise<void> {
      const taken = await users.findByEmail(session, user.pending_email ?? '');
      await mailTemplates.confirmAddress(session, user, taken !== undefined, cause);
    },

    /** Does what follows from an address that another than the user has set. @param by who has */
    async replaced(session: Transaction, before: StoredUser, after: StoredUser, by: Caller, cause: Cause) {
      await leave(session, before, cause.at);
      if (by.kind === 'user') {
        // An administrator may take an address away for good: no earlier mail leads back either.
        await addressTokens.withdraw(session, before.id, 0);
        await mailTemplates.addressChanged(session, before, cause);
      } else {
        await notify(session, before, after, cause);
      }
      await (after.password_hash === null ? mailTemplates.invite : mailTemplates.verify)(
        session,
        after,
        cause,
      );
    },

    /**
     * Moves a user, who is locked, to the address that a token confirms.
     * @returns the user afterwards; undefined when the token confirms no address that this user waits for
     * @throws StorageError `unique` for `email` when the address is another user's
     */
    async confirm(session: Transaction, before: StoredUser, token: string, cause: Cause) {
      const found = await addressTokens.find(session, token, 'confirmation', cause.at);
      // A later request for another address, or another password, has made it void.
      const isAwaited =
        before.pending_email !== null &&
        found?.user_id === before.id &&
        toEmailKey(found.email) === toEmailKey(before.pending_email);
      if (!isAwaited || !(await addressTokens.use(session, token))) return undefined;
      const after = await users.moveTo(session, before, found.email, cause);
      await leave(session, before, cause.at);
      await notify(session, before, after, cause);
      return after;
    },

    /**
     * Moves a user, who is locked, back to the address that a token was sent to, with another password.
     * @returns the user afterwards; undefined when the token restores no address of this user
     * @throws StorageError `unique` for `email` when the address is another user's by now
     */
    async restore(
      session: Transaction,
      before: StoredUser,
      token: string,
      passwordHash: string,
      cause: Cause,
    ): Promise<StoredUser | undefined> {
      const found = await addressTokens.find(session, token, 'restoration', cause.at);
      if (found?.user_id !== before.id || !(await addressTokens.use(session, token))) return undefined;
      const moved = await users.moveTo(session, before, found.email, cause);
      const after = await users.setPassword(session, moved, passwordHash, cause);
      await leave(session, before, cause.at);
      // What was given up since then may have been a thief's; the ways back to earlier addresses stay.
      await addressTokens.withdraw(session, before.id, found.user_version);
      if (toEmailKey(before.email) !== toEmailKey(after.email))
        await mailTemplates.addressChanged(session, before, cause);
      return after;
    },
  };
}
