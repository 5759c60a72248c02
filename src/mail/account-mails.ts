/** The texts of mails about an account. */
import { composeMail, type MailText } from './template.ts';

export interface MailTemplate {
  /** The sender as the reader knows it: the host of the shop. */
  readonly shop: string;
  /** The name in the greeting; undefined for an unconfirmed address. */
  readonly name: string | undefined;
}

export interface TemplateWithLink extends MailTemplate {
  readonly link: string;
}

/** For an account created by an administrator or a program: it has no password yet. */
export const composeInvitationMail = ({ shop, name, link }: TemplateWithLink): MailText =>
  composeMail(`Set your password for ${shop}`, name, [
    `An account was created for you at ${shop}. Set a password to sign in:`,
    { link },
    'The link works once, for 7 days. After that, request another one with "forgot password".',
  ]);

export const composePasswordResetMail = ({ shop, name, link }: TemplateWithLink): MailText =>
  composeMail(`Set a new password for ${shop}`, name, [
    `Someone, probably you, requested a new password for your account at ${shop}. Set it here:`,
    { link },
    'The link works once, for one hour. If you did not request it, ignore this mail: your password does not change.',
  ]);

export const composeVerificationMail = ({ shop, name, link }: TemplateWithLink): MailText =>
  composeMail(`Confirm your e-mail address for ${shop}`, name, [
    `Confirm this address so that ${shop} can reach you:`,
    { link },
    'The link works once, for 7 days. If you have no account there, ignore this mail.',
  ]);

/** To the new address that a user requested. Its owner is not known yet, so the mail quotes nothing of the user's. */
export const composeAddressConfirmationMail = ({ shop, link }: Omit<TemplateWithLink, 'name'>): MailText =>
  composeMail(`Confirm your new e-mail address for ${shop}`, undefined, [
    `Someone, probably you, requested to use this address for an account at ${shop}. Confirm that it is yours:`,
    { link },
    'The link works once, for 7 days. When you have confirmed, sign in with this address. If you did not request this, ignore this mail.',
  ]);

/** To a requested address that belongs to another user: only its owner learns that. */
export const composeAddressTakenMail = ({ shop }: Omit<MailTemplate, 'name'>): MailText =>
  composeMail(`Your e-mail address for ${shop}`, undefined, [
    `Someone, probably you, requested to use this address for another account at ${shop}. It already belongs to an account, so nothing was changed.`,
    'If that was you, sign in with this address; if you have forgotten your password, request a new one. If not, ignore this mail.',
  ]);

/** To the old address, while the change can still be undone. */
export const composeAddressRestoreMail = ({ shop, name, link }: TemplateWithLink): MailText =>
  composeMail(`Your e-mail address for ${shop} was changed`, name, [
    `Your account at ${shop} now has another e-mail address; this one is no longer used. If you made this change, you do not need to do anything.`,
    'If that was not you, take the account back: this link restores this address, ends all sessions and sets a new password.',
    { link },
    'The link works once, for 7 days.',
  ]);

/** To the old address, to notify its owner. */
export const composeAddressChangedMail = ({ shop, name }: MailTemplate): MailText =>
  composeMail(`Your e-mail address for ${shop} was changed`, name, [
    `Your account at ${shop} now has another e-mail address; this one is no longer used.`,
    'If that was not you, contact the shop immediately.',
  ]);

/** To a user who has deleted the account. */
export const composeAccountDeletedMail = ({ shop, name }: MailTemplate): MailText =>
  composeMail(`Your account at ${shop} was deleted`, name, [
    `Your account at ${shop} was deleted, as you requested, along with everything you wrote there. Your orders and invoices are kept.`,
    'If that was not you, contact the shop immediately: someone knows your password.',
  ]);
