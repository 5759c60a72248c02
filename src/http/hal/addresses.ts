/** Addresses for links and Location: absolute, and free of credentials. */
import { isCredential } from '../credentials.ts';
import type { RequestUrl } from '../endpoint.ts';

/** Where the version of the request begins: `https://shop.example/v1`. */
function versionRoot({ base, path }: RequestUrl): string {
  const end = path.indexOf('/', 1);
  return `${base}${end === -1 ? path : path.slice(0, end)}`;
}

/** The address of a resource, for `self` and Location: `addressOf(url, 'products', 5, 'variants', 7)`. */
export function addressOf(url: RequestUrl, ...place: readonly (string | number)[]): string {
  return `${versionRoot(url)}/${place.join('/')}`;
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
  return parts.filter(part => part !== '' && !isCredential(part) && !dropped.includes(nameOf(part)));
}

/** The decoded name of a parameter. */
function nameOf(part: string): string {
  const end = part.indexOf('=');
  const name = end === -1 ? part : part.slice(0, end);
  if (!name.includes('%') && !name.includes('+')) return name;
  return new URLSearchParams(part).keys().next().value ?? '';
}
