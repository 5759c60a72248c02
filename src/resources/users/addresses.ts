/**
 * Changes of a user's e-mail address (docs/decisions/0020). Users request a new address with their password; it takes
 * effect once confirmed with the token of a mail to it. Responses do not reveal whether it is taken. Administrators and
 * API keys set an address at once. In both cases, the sessions end and the former address is notified. If it was
 * confirmed, that mail has a link to restore it, unless an administrator made the change.
 */
import type { Cause } from '../../events/outbox.ts';
import type { Caller } from '../../http/access.ts';
import type { Transaction } from '../../storage/database.ts';
import type { KnownAddresses } from '../auth/known-addresses.ts';
import type { SessionStore } from '../auth/store.ts';
import type { MailTemplates } from './mail-templates.ts';
import type { AddressTokens, MailTokens } from './mail-tokens.ts';
import { type StoredUser, toEmailKey, type UserStore } from './store.ts';

export interface AddressStores {
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly mailTokens: MailTokens;
  readonly addressTokens: AddressTokens;
  readonly mailTemplates: MailTemplates;
  readonly knownAddresses: Pick<KnownAddresses, 'forget'>;
}

export function createUserAddresses(stores: AddressStores) {
  const { users, sessions, mailTokens, addressTokens, mailTemplates, knownAddresses } = stores;

  /** Ends what was obtained through the former address: sessions, and tokens mailed to it. */
  async function leave(session: Transaction, { id }: StoredUser, at: number): Promise<void> {
    await sessions.removeAllOf(session, id, at);
    await mailTokens.withdraw(session, id);
    await knownAddresses.forget(session, id);
  }

  /** Notifies the former address. One that was never confirmed may be a stranger's, and gets no link to restore it. */
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
    /** Sends a confirmation mail to the requested address. @param user with `pending_email` */
    async request(session: Transaction, user: StoredUser, cause: Cause): Promise<void> {
      const taken = await users.findByEmail(session, user.pending_email ?? '');
      await mailTemplates.confirmAddress(session, user, taken !== undefined, cause);
    },

    /** Ends sessions and sends mails after an administrator or key has set an address. @param by who set it */
    async replaced(session: Transaction, before: StoredUser, after: StoredUser, by: Caller, cause: Cause) {
      await leave(session, before, cause.at);
      if (by.kind === 'user') {
        // An administrator may remove an address for good: links in earlier mails must not restore it either.
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
     * Moves a locked user to the address that a token confirms.
     * @returns the user afterwards; undefined if the token does not confirm the pending address of this user
     * @throws StorageError `unique` for `email` if the address belongs to another user
     */
    async confirm(session: Transaction, before: StoredUser, token: string, cause: Cause) {
      const found = await addressTokens.find(session, token, 'confirmation', cause.at);
      // A later request for another address, or a new password, has invalidated the token.
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
     * Moves a locked user back to the address that a token was sent to, and sets a new password.
     * @returns the user afterwards; undefined if the token does not restore an address of this user
     * @throws StorageError `unique` for `email` if the address now belongs to another user
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
      // Addresses used since then may be a thief's; tokens for earlier addresses stay valid.
      await addressTokens.withdraw(session, before.id, found.user_version);
      if (toEmailKey(before.email) !== toEmailKey(after.email))
        await mailTemplates.addressChanged(session, before, cause);
      return after;
    },
  };
}
