/**
 * The address under which a client is counted. Clients that have not signed in have a limit per address, so two
 * spellings of one address must not count as two callers.
 */
import { isIPv4, isIPv6 } from 'node:net';

/** Any spelling of an address with zone and port is shorter. */
const maxLength = 100;
/** `[2001:db8::1]` with or without a port. */
const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/;
/** `203.0.113.7:1024`: an IPv4 address written with its port by a proxy. */
const withPort = /^([\d.]+):\d{1,5}$/;

/**
 * @param socketAddress the peer of the connection; undefined if it has no address, such as a Unix socket
 * @param trustProxy whether to trust X-Forwarded-For: its last address, which the nearest proxy wrote
 * @returns an IPv4 address, or the /64 of an IPv6 address, which is what a provider assigns to one customer
 */
export function readClientAddress(
  socketAddress: string | undefined,
  headers: Headers,
  trustProxy: boolean,
): string {
  const forwarded = trustProxy ? headers.get('x-forwarded-for') : null;
  const last = forwarded === null ? undefined : forwarded.slice(forwarded.lastIndexOf(',') + 1);
  return normalizeAddress(last) ?? normalizeAddress(socketAddress) ?? 'unknown';
}

/**
 * The canonical form of an address in any spelling: with a port, in brackets, with a zone (RFC 4007 §11), abbreviated
 * (RFC 5952), IPv4 in IPv6 (RFC 4291 §2.5.5.2). Undefined for text that is not an address.
 */
export function normalizeAddress(spelling: string | undefined): string | undefined {
  if (spelling === undefined || spelling.length > maxLength) return undefined;
  const text = spelling.trim();
  const host = (bracketed.exec(text) ?? withPort.exec(text))?.[1] ?? text;
  if (isIPv4(host)) return host;
  const address = host.split('%', 1)[0] ?? '';
  return isIPv6(address) ? toSubnet(address) : undefined;
}

/** @param address a valid IPv6 address without a zone */
function toSubnet(address: string): string {
  const groups = parseGroups(address);
  const mapped = groups.slice(0, 5).every(group => group === 0) && groups[5] === 0xffff;
  if (!mapped) return `${groups.slice(0, 4).map(toHexadecimal).join(':')}::/64`;
  return groups
    .slice(6)
    .flatMap(group => [group >> 8, group & 0xff])
    .join('.');
}

const toHexadecimal = (group: number) => group.toString(16);

/** The eight groups, including those that `::` stands for. */
function parseGroups(address: string): number[] {
  const [before = [], after] = address.split('::').map(half => half.split(':').flatMap(parsePart));
  if (after === undefined) return before;
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/** One group; two for the dotted IPv4 address that may stand at the end. */
function parsePart(part: string): number[] {
  if (part === '') return [];
  if (!part.includes('.')) return [Number.parseInt(part, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

/** Headers of requests made elsewhere: proxies add them; a browser adds Origin for a page of another server. */
const addedElsewhere = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-host', 'via', 'origin'];

/**
 * The hosts by which programs on this machine address it. A page whose name was resolved to a loopback address to make
 * the browser treat both as one origin ("DNS rebinding") still names itself.
 */
const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])?(?::\d{0,5})?$/i;

/** Whether a request was made on this machine, as far as can be known; TRUST_PROXY does not matter. */
export function isLocal(socketAddress: string | undefined, headers: Headers): boolean {
  const isLoopback = socketAddress === '::1' || normalizeAddress(socketAddress)?.startsWith('127.') === true;
  return (
    isLoopback &&
    loopbackHost.test(headers.get('host') ?? '') &&
    !addedElsewhere.some(name => headers.has(name))
  );
}
