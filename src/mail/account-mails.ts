/** What the mails about an account say. */
import { letter, type MailText } from './letter.ts';

export interface Letter {
  /** Who sends it, as the reader knows it: the shop's host. */
  readonly shop: string;
  /** Whom it greets. */
  readonly name: string;
}

export interface LetterWithLink extends Letter {
  readonly link: string;
}

/** For an account that somebody else has made: it has no password yet. */
export const invitationMail = ({ shop, name, link }: LetterWithLink): MailText =>
  letter(`Set your password for ${shop}`, name, [
    `An account has been made for you at ${shop}. Set a password to sign in:`,
    { link },
    'The link works once, for 7 days. After that, ask for another one with "forgot password".',
  ]);

export const passwordResetMail = ({ shop, name, link }: LetterWithLink): MailText =>
  letter(`Set a new password for ${shop}`, name, [
    `Somebody, most likely you, has asked for a new password at ${shop}. Set it here:`,
    { link },
    'The link works once, for one hour. If you did not ask for it, do nothing: your password stays as it is.',
  ]);

export const verificationMail = ({ shop, name, link }: LetterWithLink): MailText =>
  letter(`Confirm your e-mail address for ${shop}`, name, [
    `Confirm that this address is yours, so that ${shop} can reach you:`,
    { link },
    'The link works once, for 7 days. If you have no account there, do nothing.',
  ]);

/** To the old address, so that nobody loses an account without hearing of it. */
export const addressChangedMail = ({ shop, name }: Letter): MailText =>
  letter(`Your e-mail address for ${shop} was changed`, name, [
    `Your account at ${shop} has another e-mail address now, and this one is not used any more.`,
    'If that was not you, tell the people who run it at once.',
  ]);
