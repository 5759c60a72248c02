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
    `An account has been made for you at ${shop}. Set a password to sign in:`,
    { link },
    'The link works once, for 7 days. After that, ask for another one with "forgot password".',
  ]);

export const composePasswordResetMail = ({ shop, name, link }: TemplateWithLink): MailText =>
  composeMail(`Set a new password for ${shop}`, name, [
    `Someone, probably you, requested a new password for your account at ${shop}. Set it here:`,
    { link },
    'The link works once, for one hour. If you did not ask for it, do nothing: your password stays as it is.',
  ]);

export const composeVerificationMail = ({ shop, name, link }: TemplateWithLink): MailText =>
  composeMail(`Confirm your e-mail address for ${shop}`, name, [
    `Confirm that this address is yours, so that ${shop} can reach you:`,
    { link },
    'The link works once, for 7 days. If you have no account there, do nothing.',
  ]);

/** To the new address that a user requested. Its owner is not known yet, so the mail quotes nothing of the user's. */
export const composeAddressConfirmationMail = ({ shop, link }: Omit<TemplateWithLink, 'name'>): MailText =>
  composeMail(`Confirm your new e-mail address for ${shop}`, undefined, [
    `Someone, probably you, wants to use this address for an account at ${shop}. Confirm that it is yours:`,
    { link },
    'The link works once, for 7 days. From then on you sign in with this address. If you did not ask for it, do nothing.',
  ]);

/** To a requested address that belongs to another user: only its owner learns that. */
export const composeAddressTakenMail = ({ shop }: Omit<MailTemplate, 'name'>): MailText =>
  composeMail(`Your e-mail address for ${shop}`, undefined, [
    `Someone, probably you, wants to use this address for another account at ${shop}. It belongs to an account already, so nothing was changed.`,
    'If that was you, sign in with this address, and ask for a new password if you have forgotten it. If not, do nothing.',
  ]);

/** To the old address, while the change can still be undone. */
export const composeAddressRestoreMail = ({ shop, name, link }: TemplateWithLink): MailText =>
  composeMail(`Your e-mail address for ${shop} was changed`, name, [
    `Your account at ${shop} has another e-mail address now, and this one is not used any more. If that was you, there is nothing to do.`,
    'If that was not you, take the account back: this link restores this address, ends all sessions and sets a new password.',
    { link },
    'The link works once, for 7 days.',
  ]);

/** To the old address, to notify its owner. */
export const composeAddressChangedMail = ({ shop, name }: MailTemplate): MailText =>
  composeMail(`Your e-mail address for ${shop} was changed`, name, [
    `Your account at ${shop} has another e-mail address now, and this one is not used any more.`,
    'If that was not you, contact the shop immediately.',
  ]);

/** To a user who has deleted the account. */
export const composeAccountDeletedMail = ({ shop, name }: MailTemplate): MailText =>
  composeMail(`Your account at ${shop} was deleted`, name, [
    `Your account at ${shop} was deleted, as you requested, with what you wrote there. Your orders and invoices are kept.`,
    'If that was not you, contact the shop immediately: someone knows your password.',
  ]);
