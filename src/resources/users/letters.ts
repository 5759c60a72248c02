/** Mails to users: each is queued by the transaction that makes it necessary, with the token it carries. */
import type { Config } from '../../config.ts';
import type { Cause } from '../../events/outbox.ts';
import * as texts from '../../mail/account-mails.ts';
import type { MailText } from '../../mail/letter.ts';
import type { Mails } from '../../mail/mails.ts';
import type { Session } from '../../storage/database.ts';
import type { MailTokens, Purpose } from './mail-tokens.ts';
import type { UserRow } from './store.ts';

const hour = 60 * 60 * 1000;
const week = 7 * 24 * hour;

type Send = (session: Session, user: UserRow, cause: Cause) => Promise<void>;

export interface Letters {
  /** A link to set the first password. */
  readonly invite: Send;
  /** A link to set a forgotten password anew. */
  readonly resetPassword: Send;
  /** A link that proves that the address is the user's. */
  readonly verify: Send;
  /** @param user as it was, with the address that is not used any more */
  readonly addressChanged: Send;
}

export function createLetters(
  config: Pick<Config, 'BASE_URL' | 'PORT' | 'PASSWORD_RESET_URL' | 'VERIFY_URL'>,
  mails: Mails,
  tokens: MailTokens,
): Letters {
  // Never the address that a request was sent to: whoever asks would choose where the link in the mail leads.
  const base = config.BASE_URL ?? `http://localhost:${config.PORT}`;
  const shop = config.BASE_URL === undefined ? 'Catalog' : new URL(config.BASE_URL).host;
  const passwordPage = config.PASSWORD_RESET_URL ?? `${base}/password-reset`;
  const verifyPage = config.VERIFY_URL ?? `${base}/verify`;

  const send = (session: Session, { name, email }: UserRow, text: MailText, cause: Cause) =>
    mails.add(session, { to: { name, address: email }, attachments: [], ...text }, cause);

  const withLink =
    (
      text: (letter: texts.LetterWithLink) => MailText,
      page: string,
      purpose: Purpose,
      lifetime: number,
    ): Send =>
    async (session, user, cause) => {
      const token = await tokens.issue(session, user.id, purpose, cause.at, lifetime);
      const link = new URL(page);
      link.searchParams.set('token', token);
      await send(session, user, text({ shop, name: user.name, link: link.href }), cause);
    };

  return {
    invite: withLink(texts.invitationMail, passwordPage, 'password', week),
    resetPassword: withLink(texts.passwordResetMail, passwordPage, 'password', hour),
    verify: withLink(texts.verificationMail, verifyPage, 'verification', week),
    addressChanged: (session, user, cause) =>
      send(session, user, texts.addressChangedMail({ shop, name: user.name }), cause),
  };
}
