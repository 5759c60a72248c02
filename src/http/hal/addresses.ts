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

/** Characters that clients send although a URI may not contain them (RFC 3986 §3.4). */
const notInQuery = /[^\w.~!$'()*+,;=:@/?%&-]/g;

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
