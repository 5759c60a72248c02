/** The rules for the texts of settings, and the values they are parsed into. */
import { z } from 'zod';
import { getErrorMessage } from '../error-text.ts';
import { removeTrailingSlashes } from '../http/request/address.ts';
import { encoding, isDecodable } from '../storage/postgres/address.ts';

/** The issuer of invoices: a name and the lines of an address. */
export interface Seller {
  readonly name: string;
  readonly address: readonly string[];
}

export const splitAtCommas = (text: string): string[] =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '');

/** Decimal digits only: other numbers that JavaScript accepts, such as 0x10 and 1e3, are likely mistakes. */
export const integer = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^-?\d+(?:\.\d+)?$/, 'must be a number')
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum));
export const flag = z.enum(['true', 'false', '1', '0']).transform(value => value === 'true' || value === '1');
export const list = z.string().transform(splitAtCommas);
/** In ASCII, whatever letters it was set with: headers carry it (Link). */
export const httpUrl = z.url({
  protocol: /^https?$/,
  normalize: true,
  error: 'must be an address of http or https',
});
/** An address that paths are appended to. */
export const rootUrl = httpUrl
  .refine(text => !/[?#]/.test(text), 'must be an address without query and fragment')
  .transform(removeTrailingSlashes);
/** An address whose path would be ignored. */
export const originUrl = httpUrl.regex(/^[a-z]+:\/\/[^/?#@]+\/$/, 'must be only a scheme and a host');

const secretCharacters = 32;
/** A refinement instead of `min`, whose message would give only the rule and not its purpose. */
export const secret = z.string().refine(text => text.length >= secretCharacters, {
  error: `must be at least ${secretCharacters} characters long, for HS256 (RFC 7518 section 3.2): openssl rand -base64 48 makes one`,
});

/** Clients encode other characters of a header each in their own way, or refuse to send them. */
export const headerText = z
  .string()
  .regex(/^[ -~]*$/, 'must have only ASCII characters, since it is sent in a header');

const smtpPattern = /^smtps?:\/\/(?:[^@/?#]*@)?(?:[^@/?#:[\]]+|\[[\da-f:.]+\])(?::\d+)?\/?$/i;
/** An unencoded character of the user or password: an @ is left after what looks like them. */
const hasStrayAt = (text: string) => text.replace(/^smtps?:\/\/[^@/?#]*@/i, '').includes('@');

export const smtpUrl = z.string().superRefine((text, context) => {
  if (/^smtps?:\/\//i.test(text) && (hasStrayAt(text) || !isDecodable(text)))
    context.addIssue(`needs % in user and password ${encoding}`);
  else if (!smtpPattern.test(text) || !URL.canParse(text))
    context.addIssue('must be smtp://user:password@host:port, or smtps://, with nothing after the port');
});

/** Applies `parse` to a text; the message that it throws names the broken rule. */
export const buildParsedSchema = <Value>(parse: (text: string) => Value) =>
  z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(getErrorMessage(error));
      return z.NEVER;
    }
  });

/** A name of the IANA database; checked as the formatter of dates reads it. */
export const timeZone = buildParsedSchema(text => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new Error('must be a time zone such as Europe/Berlin');
  }
});

const maxSellerLineLength = 100;
export const seller = z.string().transform((text, context): Seller => {
  const [name = '', ...address] = text.split('|').map(line => line.trim());
  if (name === '' || address.length > 8 || [name, ...address].some(line => line.length > maxSellerLineLength))
    context.addIssue(`must be a name and up to 8 lines of ${maxSellerLineLength} characters, separated by |`);
  return { name, address };
});

export const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: 'must be a date such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z',
  })
  .transform(text => Date.parse(text));
