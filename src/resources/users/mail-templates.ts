/** Mails to users: each is queued, with its token, by the transaction that requires it. */

import type { Config } from '../../config.ts';
import type { Cause } from '../../events/outbox.ts';
import * as texts from '../../mail/account-mails.ts';
import type { MailRefusal } from '../../mail/limits.ts';
import type { Mails } from '../../mail/mails.ts';
import type { MailText } from '../../mail/template.ts';
import { dayMs, hourMs } from '../../ports/clock.ts';
import type { Session } from '../../storage/database.ts';
import type { AddressTokens, MailTokens, Purpose } from './mail-tokens.ts';
import type { UserRow } from './store.ts';

const week = 7 * dayMs;

/** @returns the reason if the mail is not sent */
type Send = (session: Session, user: UserRow, cause: Cause) => Promise<MailRefusal | undefined>;

export type MailTemplates = ReturnType<typeof createMailTemplates>;

export function createMailTemplates(
  config: Pick<Config, 'BASE_URL' | 'PASSWORD_RESET_URL' | 'VERIFY_URL'>,
  port: () => number,
  mails: Mails,
  tokens: MailTokens,
  addressTokens: AddressTokens,
) {
  const shop = config.BASE_URL === undefined ? 'Catalog' : new URL(config.BASE_URL).host;
  // Never the address of the request: its sender could then choose where the link in the mail leads.
  const toPage = (path: string) => `${config.BASE_URL ?? `http://localhost:${port()}`}/${path}`;
  const toPasswordPage = () => config.PASSWORD_RESET_URL ?? toPage('password-reset');
  const toVerifyPage = () => config.VERIFY_URL ?? toPage('verify');

  const send = (
    session: Session,
    user: UserRow,
    text: MailText,
    cause: Cause,
    // Only administrators and keys send mails to other users.
    isByStaff = cause.actor !== `user:${user.id}`,
  ) => {
    const to = { name: findName(user) ?? '', address: user.email };
    const isConfirmed = user.verified_at !== null;
    return mails.add(session, { to, attachments: [], ...text, isConfirmed, isByStaff }, cause);
  };

  /** Not counted against the user, who causes each once: the change that it reports must not fail because of it. */
  const sendNotice = (session: Session, user: UserRow, text: MailText, cause: Cause) =>
    send(session, user, text, cause, true);

  const createLinkSender =
    (
      text: (template: texts.TemplateWithLink) => MailText,
      toAddress: () => string,
      purpose: Purpose,
      lifetime: number,
    ): Send =>
    (session, user, cause) =>
      tokens.issue(session, { userId: user.id, purpose, now: cause.at, lifetime }, token => {
        const link = linkTo(toAddress(), token);
        return send(session, user, text({ shop, name: findName(user), link }), cause);
      });

  return {
    /** A link to set the first password. */
    invite: createLinkSender(texts.composeInvitationMail, toPasswordPage, 'password', week),
    /** A link to replace a forgotten password. */
    resetPassword: createLinkSender(texts.composePasswordResetMail, toPasswordPage, 'password', hourMs),
    /** A link that proves that the address is the user's. */
    verify: createLinkSender(texts.composeVerificationMail, toVerifyPage, 'verification', week),
    /** @param user before the change, with the former address */
    addressChanged: (session: Session, user: UserRow, cause: Cause) =>
      sendNotice(session, user, texts.composeAddressChangedMail({ shop, name: findName(user) }), cause),
    accountDeleted: (session: Session, user: UserRow, cause: Cause) =>
      sendNotice(session, user, texts.composeAccountDeletedMail({ shop, name: findName(user) }), cause),
    /** The same with a link to restore the address. @param user with the version after the change */
    async addressChangedWithWayBack(
      session: Session,
      { id, name, email, version }: UserRow,
      cause: Cause,
    ): ReturnType<Send> {
      const given = { user_id: id, email, user_version: version, now: cause.at, lifetime: week };
      const token = await addressTokens.issue(session, { purpose: 'restoration', ...given });
      const text = texts.composeAddressRestoreMail({
        shop,
        name,
        link: linkTo(toPage('restore-address'), token),
      });
      const mail = { to: { name, address: email }, attachments: [], ...text, isConfirmed: true };
      // Not subject to limits, which a thief could exhaust beforehand.
      return mails.add(session, { ...mail, isUnlimited: true }, cause);
    },
    /**
     * Sends a link that confirms the requested address or, if the address is taken, a mail that says so. Both take the
     * same work, so that the response time reveals nothing.
     * @param user with `pending_email`
     */
    async confirmAddress(
      session: Session,
      { id, pending_email, version }: UserRow,
      isTaken: boolean,
      cause: Cause,
    ): Promise<void> {
      const email = pending_email ?? '';
      const wanted = { user_id: id, email, user_version: version, now: cause.at, lifetime: week };
      const token = await addressTokens.issue(session, { purpose: 'confirmation', ...wanted });
      const text = isTaken
        ? texts.composeAddressTakenMail({ shop })
        : texts.composeAddressConfirmationMail({ shop, link: linkTo(toVerifyPage(), token) });
      await mails.add(session, { to: { name: '', address: email }, attachments: [], ...text }, cause);
    },
  };
}

/** The name for the greeting, if the address is verified: users choose names, and may claim a stranger's address. */
const findName = ({ name, verified_at }: UserRow) => (verified_at === null ? undefined : name);

function linkTo(page: string, token: string): string {
  const link = new URL(page);
  link.searchParams.set('token', token);
  return link.href;
}
