/** Credentials in what clients send: they are recognised in any spelling, and neither a response nor the log repeats them. */

/** Stands in the place of a credential. */
const hidden = '[redacted]';

/** A key of ours or a signed token (RFC 7519), wherever it stands. */
const credential = /ck_[\w-]{43}|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+/gi;
/** Sure to match what holds a credential, so that few texts are taken apart. */
const mayHold = /key|token|auth|pass|secret|ck_|eyJ|%/i;
/** Names that hold credentials, whatever their case and whatever stands between their letters. */
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
/** So often something may have been percent-encoded, one time above the other. */
const mostEncodings = 3;
/** No address of ours has a longer part; a token in a path is one. */
const longestPart = 36;

/** What a percent-encoded text says in the end. */
function decoded(text: string): string {
  let read = text;
  for (let round = 0; round < mostEncodings && read.includes('%'); round++) {
    read = read.replaceAll(/%[\da-f]{2}/gi, code => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  }
  return read;
}

/** Whether a text holds a key or a signed token. */
export function holdsCredential(text: string): boolean {
  return text.search(credential) !== -1 || (text.includes('%') && decoded(text).search(credential) !== -1);
}

/** A text for people, without the keys and tokens in it. */
export function withoutCredentials(text: string): string {
  if (!mayHold.test(text)) return text;
  const shown = text.replaceAll(credential, hidden);
  return holdsCredential(shown) ? hidden : shown;
}

/** Whether a parameter of a query, `name=value` as it was sent, holds a credential. */
export function isCredential(parameter: string): boolean {
  if (!mayHold.test(parameter)) return false;
  // What some programs separate with; nothing else of an address holds them unencoded.
  return holdsCredential(parameter) || parameter.split(/[;#?]/).some(hasCredentialName);
}

/** Also `user.password`, `password[]` and `filter[api_key]`. */
function hasCredentialName(parameter: string): boolean {
  const end = parameter.indexOf('=');
  const name = decoded(end === -1 ? parameter : parameter.slice(0, end)).toLowerCase();
  return name.split(/[.[\]+]/).some(part => names.has(part.replaceAll(/[^a-z]/g, '')));
}

/** A path and query as the log shows them. */
export function redacted(path: string, search: string): string {
  const isShort = path.length <= longestPart && !path.includes('=') && !mayHold.test(path);
  const shownPath = isShort ? path : path.split('/').map(redactedPart).join('/');
  return search === '' ? shownPath : `${shownPath}?${redactedQuery(search)}`;
}

function redactedPart(part: string): string {
  return part.length > longestPart || part.includes('=') || holdsCredential(part) ? hidden : part;
}

function redactedQuery(search: string): string {
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
