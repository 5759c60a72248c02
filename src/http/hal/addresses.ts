/** Addresses for links, Location and the log: absolute where they are answered, and free of credentials everywhere. */
import type { RequestUrl } from '../endpoint.ts';

/** Where the version that is being asked begins: `https://shop.example/v1`. */
export function versionRoot({ base, path }: RequestUrl): string {
  const end = path.indexOf('/', 1);
  return `${base}${end === -1 ? path : path.slice(0, end)}`;
}

/** The requested address, as a `self` link shows it. */
export function selfAddress({ base, path, search }: RequestUrl): string {
  const kept = keptParameters(search, []);
  return `${base}${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}

/** What clients send though a URI may not hold it (RFC 3986 §3.4). */
const notInQuery = /[^\w.~!$'()*+,;=:@/?%&-]/g;

/**
 * The parameters of a query that a link repeats, as they were sent: none that holds a credential, and none of `dropped`.
 * @param dropped names as they are when decoded: `%70age` is `page` (RFC 3986 §6.2.2.2)
 */
export function keptParameters(search: string, dropped: readonly string[]): string[] {
  const parts = search.replace(notInQuery, encodeURIComponent).split('&');
  const shown = mayHoldCredential.test(search) ? parts.filter(part => !isCredential(part)) : parts;
  return shown.filter(part => part !== '' && !dropped.includes(nameOf(part)));
}

/** A query as the log shows it: with `[redacted]` in the place of every credential. */
export function redacted(search: string): string {
  if (!mayHoldCredential.test(search)) return search;
  return search
    .split('&')
    .map(part => {
      if (!isCredential(part)) return part;
      const name = nameOf(part);
      return credentialValue.test(name.trim()) ? '[redacted]' : `${encodeURIComponent(name)}=[redacted]`;
    })
    .join('&');
}

/** Names that hold credentials, whatever their case and with or without `_` and `-` in them. */
const credentialNames = new Set([
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
/** A whole key of ours or a whole signed token (RFC 7519), under whatever name it was sent. */
const credentialValue = /^(?:Bearer )?(?:ck_[\w-]{43}|eyJ[\w-]+\.[\w-]+\.[\w-]+)$/i;
/** Sure to match what holds a credential, so that few queries are taken apart. */
const mayHoldCredential = /key|token|auth|pass|secret|ck_|eyJ|%/i;

/** Whether `name=value` holds a credential, in any spelling that decodes to one. */
function isCredential(part: string): boolean {
  for (const [name, value] of new URLSearchParams(part)) {
    if (credentialNames.has(name.toLowerCase().replaceAll(/[_-]/g, ''))) return true;
    if (credentialValue.test(value.trim()) || credentialValue.test(name.trim())) return true;
  }
  return false;
}

/** The decoded name of a parameter. */
function nameOf(part: string): string {
  const end = part.indexOf('=');
  const name = end === -1 ? part : part.slice(0, end);
  if (!name.includes('%') && !name.includes('+')) return name;
  return new URLSearchParams(part).keys().next().value ?? '';
}
