/** Validators and conditional requests (RFC 9110 §8.8 and §13). */
import { HttpError } from '../errors.ts';
import { parseHttpDate } from './http-date.ts';

/** The validators of a GET of the same address: the strong entity tag and, if known, the time of the last change. */
export interface Validators {
  readonly etag: string;
  /** Epoch milliseconds; compared in the form of `toLastModifiedSecond`. */
  readonly lastModified?: number | undefined;
}

/** Length from which a text is encoded before it is hashed. */
const encodedOnce = 100_000;

/**
 * A strong entity tag: 128 bits of XXH3 over the uncompressed body, the same on every replica. Tags distinguish
 * versions of one resource and prove nothing, so the hash need not be cryptographic (docs/decisions/0007).
 */
export function computeEntityTag(body: string | Uint8Array): string {
  // Otherwise each hash would encode the text, which takes longer than the hash if the text is not ASCII.
  const bytes = typeof body === 'string' && body.length > encodedOnce ? Buffer.from(body) : body;
  const high = Bun.hash.xxHash3(bytes, 0n);
  const low = Bun.hash.xxHash3(bytes, 1n);
  return `"${high.toString(16)}.${low.toString(16)}"`;
}

/**
 * The Last-Modified of a change: the end of its second. A response read in that second before the change then never has
 * the same date, neither as its Last-Modified nor as its Date. The date is shown once that second is over: until then
 * there may be further changes in it (RFC 9110 §8.8.2.2).
 * @param milliseconds epoch milliseconds of the change
 * @returns whole seconds since the epoch
 */
export function toLastModifiedSecond(milliseconds: number): number {
  return toSeconds(milliseconds) + 1;
}

const conditions = ['if-match', 'if-unmodified-since', 'if-none-match', 'if-modified-since'] as const;

/** Whether a request has preconditions. */
export const hasConditions = (headers: Headers): boolean => conditions.some(name => headers.has(name));

/**
 * Evaluates preconditions in the order of RFC 9110 §13.2.2, for a request that would succeed without them. A write is
 * refused if its date cannot be compared: the client wants to overwrite no change it has not seen, and many writes
 * cannot be undone. A read ignores such a date (§13.1.4).
 * @param now epoch milliseconds
 * @returns whether the response is 304
 * @throws HttpError 412
 */
export function evaluate(headers: Headers, method: string, current: Validators, now: () => number): boolean {
  const reading = method === 'GET' || method === 'HEAD';
  const codings = reading ? 'this' : 'any';
  const ifMatch = headers.get('if-match');
  if (ifMatch !== null) {
    if (!matchesEntityTag(ifMatch, current.etag, 'strong', codings))
      throw createMismatchError(ifMatch, current, codings);
  } else {
    const since = readDate(headers, 'if-unmodified-since', now);
    if (since !== undefined) requireUnchanged(since, current.lastModified, reading);
  }
  const ifNoneMatch = headers.get('if-none-match');
  if (ifNoneMatch !== null) {
    if (!matchesEntityTag(ifNoneMatch, current.etag, 'weak', codings)) return false;
    if (reading) return true;
    throw new HttpError('PRECONDITION_FAILED', { message: stillThere });
  }
  if (!reading || current.lastModified === undefined) return false;
  const since = readDate(headers, 'if-modified-since', now);
  return since !== undefined && toLastModifiedSecond(current.lastModified) <= since;
}

const stillThere =
  'If-None-Match matches the current version of the resource (* matches any version); nothing was changed.';

/** The reason why If-Match fails. */
function createMismatchError(header: string, { etag }: Validators, codings: 'this' | 'any'): HttpError {
  if (!header.includes('"'))
    return new HttpError('PRECONDITION_FAILED', {
      message: 'If-Match names no entity tag: send the ETag of the resource, with its quotation marks.',
    });
  if (matchesEntityTag(header, etag, 'weak', codings))
    return new HttpError('PRECONDITION_FAILED', {
      message:
        'If-Match has a weak entity tag (W/"…"), which never matches (RFC 9110 section 13.1.1): send the ETag without W/.',
    });
  return new HttpError('PRECONDITION_FAILED');
}

/** @param since seconds since the epoch; @throws HttpError 412 */
function requireUnchanged(since: number, lastModified: number | undefined, reading: boolean): void {
  if (lastModified === undefined && reading) return;
  if (lastModified === undefined)
    throw new HttpError('PRECONDITION_FAILED', {
      message:
        'The resource has no modification date to compare with: send its ETag in If-Match instead. Nothing was changed.',
    });
  if (toLastModifiedSecond(lastModified) > since) throw new HttpError('PRECONDITION_FAILED');
}

/**
 * Checks the preconditions of a request whose handler checked none, since its target has no entity tag and no date: a
 * POST, or many resources at once. The request must fail unless its preconditions are known to hold (RFC 9110 §13.1).
 * @param exists whether a GET of this address has something to return
 * @param now epoch milliseconds
 * @throws HttpError 412
 */
export function refuseConditions(headers: Headers, exists: boolean, now: () => number): void {
  const ifMatch = headers.get('if-match');
  const ifNoneMatch = headers.get('if-none-match');
  const holds =
    (ifMatch === null || (ifMatch.trim() === '*' && exists)) &&
    (ifNoneMatch === null || !exists) &&
    (ifMatch !== null || readDate(headers, 'if-unmodified-since', now) === undefined);
  if (holds) return;
  throw new HttpError('PRECONDITION_FAILED', {
    message:
      'This operation has no entity tag and no date to compare with: send it without conditions, or change resources one by one. Nothing was changed.',
  });
}

/**
 * Whether a list of entity tags names the current one. The tag of a compressed response has the coding as a suffix (see
 * response/compress.ts).
 * @param codings `this`: match the tag of the response to this request, with its coding. `any`: match the tag of the
 * resource, which the client may have received in any coding
 */
export function matchesEntityTag(
  header: string,
  etag: string,
  comparison: 'strong' | 'weak',
  codings: 'this' | 'any',
): boolean {
  if (header === etag || header.trim() === '*') return true;
  for (const [, weak, opaque] of header.matchAll(/(W\/)?"([\x21\x23-\x7e\x80-\u{10ffff}]*)"/gu)) {
    if (weak !== undefined && comparison === 'strong') continue;
    const named = codings === 'any' ? opaque?.replace(/-(br|zstd|gzip|deflate)$/, '') : opaque;
    if (`"${named}"` === etag) return true;
  }
  return false;
}

/** Seconds since the epoch; undefined if the header is missing or not a date: it is then ignored (§13.1.3, §13.1.4). */
function readDate(headers: Headers, name: string, now: () => number): number | undefined {
  const header = headers.get(name);
  return header === null ? undefined : parseHttpDate(header, now());
}

function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
