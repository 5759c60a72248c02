/** Addresses for links and Location: absolute, and free of credentials. */
import { isCredential } from '../credentials.ts';
import type { RequestUrl } from '../endpoint.ts';

/** The root address of the request's version: `https://shop.example/v1`. */
function getVersionRoot({ base, path }: RequestUrl): string {
  const end = path.indexOf('/', 1);
  return `${base}${end === -1 ? path : path.slice(0, end)}`;
}

/** The address of a resource, for `self` and Location: `buildAddress(url, 'products', 5, 'variants', 7)`. */
export function buildAddress(url: RequestUrl, ...place: readonly (string | number)[]): string {
  return `${getVersionRoot(url)}/${place.join('/')}`;
}

/** The requested address, as a `self` link shows it. */
export function buildSelfAddress(url: RequestUrl): string {
  const { base, path } = url;
  const kept = keepParameters(url, []);
  return `${base}${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}

/** Characters that a URI may not contain (RFC 3986 §2), and percent signs that encode nothing. */
const notInUri = /[^\w.~!$'()*+,;=:@/?%&-]|%(?![\da-fA-F]{2})/gu;
/** The beginning of an address whose host is an IPv6 address, the only place for brackets (RFC 3986 §3.2.2). */
const bracketedHost = /^[a-z]+:\/\/\[[\da-f:.]*\]/i;

/** A link that a client wrote, as a URI: programs, and this service, also take other characters. */
export function toUri(address: string): string {
  const host = bracketedHost.exec(address)?.[0] ?? '';
  // Earlier releases stored links with unpaired surrogates, which cannot be encoded.
  const [rest = '', ...fragment] = address.slice(host.length).toWellFormed().split('#');
  // Before a query, programs read a backslash as a slash, also after the host.
  const slashed = rest.replace(/^[^?]*/, before => before.replaceAll('\\', '/'));
  const encode = (part: string) => part.replace(notInUri, encodeURIComponent);
  // The first # begins the fragment, which may contain none.
  return host + encode(slashed) + (fragment.length === 0 ? '' : `#${encode(fragment.join('#'))}`);
}

/** Characters that clients send although a query may not contain them (RFC 3986 §3.4); `u` keeps surrogates in pairs. */
const notInQuery = /[^\w.~!$'()*+,;=:@/?%&-]/gu;

/**
 * Filters whose names look like those of credentials, by the lists that have them: `attr.key` may be the key of a
 * scale. A link without its filter would continue in another list.
 */
const filters: readonly { readonly path: RegExp; readonly name: RegExp }[] = [
  { path: /^\/[^/]+\/(?:products|search)$/, name: /^attr\./ },
  { path: /^\/[^/]+\/attributes$/, name: /^key$/ },
];

/**
 * The query parameters that a link repeats, as sent, except those that hold a credential and those in `dropped`.
 * @param dropped decoded names: `%70age` is `page` (RFC 3986 §6.2.2.2)
 */
export function keepParameters({ path, search }: RequestUrl, dropped: readonly string[]): string[] {
  const filter = filters.find(list => list.path.test(path))?.name;
  const parts = search.replace(notInQuery, encodeURIComponent).split('&');
  return parts.filter(part => {
    if (part === '') return false;
    const name = decodeName(part);
    return !dropped.includes(name) && !isCredential(part, filter?.test(name));
  });
}

/** The decoded name of a parameter. */
function decodeName(part: string): string {
  const end = part.indexOf('=');
  const name = end === -1 ? part : part.slice(0, end);
  if (!name.includes('%') && !name.includes('+')) return name;
  return new URLSearchParams(part).keys().next().value ?? '';
}
