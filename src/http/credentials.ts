/** Credentials in client input: recognised in any spelling, and kept out of responses and the log. */

/** Replaces a credential. */
const hidden = '[redacted]';

/** An API key of the service or a signed token (RFC 7519), anywhere in a text. */
const credential = /ck_[\w-]{43}|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+/gi;
/** Matches every text that holds a credential, so that few texts are examined further. */
const mayHold = /key|token|auth|pass|secret|ck_|eyJ|%/i;
/** Names of parameters that hold credentials, in any case and with any characters between their letters. */
const names = new Set([
  'apikey',
  'xapikey',
  'key',
  'token',
  'accesstoken',
  'refreshtoken',
  'authorization',
  'password',
  'currentpassword',
  'newpassword',
  'secret',
]);
/** The most layers of percent-encoding that are decoded. */
const maxEncodings = 3;
/** The longest path segment of the service's own addresses, except those of images; tokens are longer. */
const maxPartLength = 36;
const imagePath = /^\/media\/[0-9a-f]{64}$/;

/** Decodes a text that may be percent-encoded several times. */
function decodeRepeatedly(text: string): string {
  let read = text;
  for (let round = 0; round < maxEncodings && read.includes('%'); round++) {
    read = read.replaceAll(/(?:%[\da-f]{2})+/gi, codes =>
      Buffer.from(codes.replaceAll('%', ''), 'hex').toString('latin1'),
    );
  }
  return read;
}

/** Whether a text holds a key or a signed token. */
export function holdsCredential(text: string): boolean {
  return (
    text.search(credential) !== -1 || (text.includes('%') && decodeRepeatedly(text).search(credential) !== -1)
  );
}

/** Characters of a text that are examined: no message shows more than half of them, and texts may be very long. */
const maxReadLength = 2048;
const credentialStart = /ck_|(?<![\w-])eyJ/i;

/** Whether a credential continues where the text was cut, which may be within a percent-encoded character. */
function isCutInCredential(text: string): boolean {
  let start = text.length;
  while (start > 0 && /[\w.%-]/.test(text[start - 1] ?? '')) start--;
  return credentialStart.test(text.slice(start));
}

/** A text for people, without the keys and tokens in it; a long text is cut. */
export function hideCredentials(text: string): string {
  const isCut = text.length > maxReadLength;
  const read = isCut ? text.slice(0, maxReadLength) : text;
  if (!mayHold.test(read)) return read;
  const shown = read.replaceAll(credential, hidden);
  return holdsCredential(shown) || (isCut && isCutInCredential(decodeRepeatedly(shown))) ? hidden : shown;
}

/**
 * A client's value as a message quotes it: as JSON, and cut if it is long. Credentials are replaced before it is cut,
 * since half of one would not be recognised; and before it is escaped, which may hide where one begins.
 */
export function quoteValue(value: unknown, length: number): string {
  const cut = (text: string) => (text.length <= length ? text : `${text.slice(0, length)}…`);
  if (typeof value === 'string') return JSON.stringify(cut(hideCredentials(value)));
  return cut(JSON.stringify(value, (_, part) => (typeof part === 'string' ? hideCredentials(part) : part)));
}

/**
 * Whether a query parameter, `name=value` as it was sent, holds a credential.
 * @param isOwn whether the operation has a parameter of this name: then the name alone does not make it a credential
 */
export function isCredential(parameter: string, isOwn = false): boolean {
  if (!mayHold.test(parameter)) return false;
  if (holdsCredential(parameter)) return true;
  // Some programs separate parameters with these characters, which occur unencoded nowhere else in an address.
  const parts = parameter.split(/[;#?]/);
  return (isOwn ? parts.slice(1) : parts).some(hasCredentialName);
}

/** Also matches `user.password`, `password[]` and `filter[api_key]`. */
function hasCredentialName(parameter: string): boolean {
  const end = parameter.indexOf('=');
  const name = decodeRepeatedly(end === -1 ? parameter : parameter.slice(0, end)).toLowerCase();
  return name.split(/[.[\]+]/).some(part => names.has(part.replaceAll(/[^a-z]/g, '')));
}

/** A path and query as the log shows them. */
export function redactTarget(path: string, search: string): string {
  const isShort = path.length <= maxPartLength && !path.includes('=') && !mayHold.test(path);
  const shownPath = isShort || imagePath.test(path) ? path : path.split('/').map(redactPart).join('/');
  return search === '' ? shownPath : `${shownPath}?${redactQuery(search)}`;
}

function redactPart(part: string): string {
  return part.length > maxPartLength || part.includes('=') || holdsCredential(part) ? hidden : part;
}

function redactQuery(search: string): string {
  if (!mayHold.test(search)) return search;
  return search
    .split('&')
    .map(parameter => {
      if (!isCredential(parameter)) return parameter;
      const name = /^[\w.%[\]-]{1,40}(?==)/.exec(parameter)?.[0];
      return name === undefined || holdsCredential(name) ? hidden : `${name}=${hidden}`;
    })
    .join('&');
}
