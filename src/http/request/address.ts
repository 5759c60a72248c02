/** The address of a request: the base of its links, and the Host header that it must have (RFC 9112 §3.2). */
import { holdsCredential } from '../credentials.ts';
import type { RequestUrl } from '../endpoint.ts';
import { HttpError } from '../errors.ts';

/**
 * @param publicBase BASE_URL; if unset, the address that the client used counts
 * @param trustProxy whether to trust X-Forwarded-Proto and -Host
 * @param localBase the address for a client that names no host, as HTTP/1.0 permits
 */
export function readRequestUrl(
  request: Request,
  publicBase: string | undefined,
  trustProxy: boolean,
  localBase: string,
): RequestUrl {
  const { url } = request;
  const pathStart = isRelative(url) ? 0 : url.indexOf('/', url.indexOf('//') + 2);
  const queryStart = url.indexOf('?', pathStart);
  const path = queryStart === -1 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  const search = queryStart === -1 ? '' : url.slice(queryStart + 1);
  const base =
    publicBase ??
    (trustProxy ? readForwardedBase(request.headers) : undefined) ??
    (pathStart === 0 ? localBase : url.slice(0, pathStart));
  return { base, path, search };
}

/** Bun keeps the request target as it is if it cannot form an address with the Host header. */
function isRelative(url: string): boolean {
  return url.charCodeAt(0) === 0x2f;
}

/** @throws HttpError 400 for an invalid Host header, and for two (RFC 9112 §3.2); it may be missing or empty */
export function checkHost({ url, headers }: Request): void {
  const host = headers.get('host');
  if (host === null) return;
  // Bun joins headers of one name with commas, which no host has.
  if (host !== '' && (isRelative(url) || !isHost(host))) throw new HttpError('INVALID_HOST');
}

/** A name or an address, and an optional port (RFC 9110 §7.2): safe to put into links. */
function isHost(text: string): boolean {
  const port = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+;=-]+)(?::(\d{0,5}))?$/i.exec(text);
  return port !== null && Number(port[1] ?? 0) <= 65_535;
}

/**
 * The base address reported by the nearest proxy: the last element of each list, the only one it wrote. Without
 * X-Forwarded-Proto the scheme is http, without X-Forwarded-Host the host is that of Host. Undefined if both are
 * missing, or if the host is not usable.
 */
function readForwardedBase(headers: Headers): string | undefined {
  const forwarded = findLast(headers.get('x-forwarded-host'));
  const protocol = findLast(headers.get('x-forwarded-proto'))?.toLowerCase();
  if (forwarded === undefined && protocol === undefined) return undefined;
  const host = forwarded ?? headers.get('host') ?? '';
  const scheme = protocol === 'https' ? 'https' : 'http';
  return isHost(host) && !holdsCredential(host) ? `${scheme}://${host}` : undefined;
}

/** The last member of a list in a header; undefined without one. */
function findLast(list: string | null): string | undefined {
  const last = list?.slice(list.lastIndexOf(',') + 1).trim();
  return last === '' ? undefined : last;
}

/**
 * Parses the setting that links begin with, in ASCII as headers carry it (Location); removes trailing slashes.
 * @throws Error for a text that cannot precede a path
 */
export function parseBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error('must be an address of http or https');
  const { username, password, href, pathname } = url;
  const isBare = username === '' && password === '' && !/[?#]/.test(href);
  if (!isBare || /\/v\d+\/*$/.test(pathname))
    throw new Error('must be an address without credentials, query, fragment and /v1');
  return removeTrailingSlashes(href);
}

/** Removes trailing slashes: the paths of links begin with one. */
export function removeTrailingSlashes(text: string): string {
  return text.replace(/(?<!\/)\/+$/, '');
}
