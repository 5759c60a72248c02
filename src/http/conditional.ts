/** Validators and conditional requests (RFC 9110 §8.8 and §13). */
import { HttpError } from './errors.ts';

/** What a GET of the same address would carry: the strong entity tag and, where known, the last change. */
export interface Validators {
  readonly etag: string;
  /** Epoch milliseconds; compared in whole seconds, as HTTP dates are. */
  readonly lastModified?: number | undefined;
}

/**
 * A strong entity tag: 128 bits of XXH3 over the uncompressed body, the same on every replica. Tags tell
 * versions of one resource apart and prove nothing, so the hash need not be a cryptographic one
 * (docs/decisions/0007).
 */
export function entityTag(body: string | Uint8Array): string {
  const high = Bun.hash.xxHash3(body, 0n);
  const low = Bun.hash.xxHash3(body, 1n);
  return `"${high.toString(16)}.${low.toString(16)}"`;
}

/** An HTTP date (RFC 9110 §5.6.7). */
export function httpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

/**
 * The precedence of RFC 9110 §13.2.2 for a request whose answer without preconditions would be a success.
 * @returns whether the answer is 304
 * @throws HttpError 412
 */
export function evaluate(headers: Headers, method: string, current: Validators): boolean {
  const ifMatch = headers.get('if-match');
  if (ifMatch !== null) {
    if (!matches(ifMatch, current.etag, 'strong')) throw new HttpError('PRECONDITION_FAILED');
  } else if (current.lastModified !== undefined) {
    const since = dateOf(headers.get('if-unmodified-since'));
    if (since !== undefined && seconds(current.lastModified) > since)
      throw new HttpError('PRECONDITION_FAILED');
  }
  const reading = method === 'GET' || method === 'HEAD';
  const ifNoneMatch = headers.get('if-none-match');
  if (ifNoneMatch !== null) {
    if (!matches(ifNoneMatch, current.etag, 'weak')) return false;
    if (reading) return true;
    throw new HttpError('PRECONDITION_FAILED');
  }
  if (!reading || current.lastModified === undefined) return false;
  const since = dateOf(headers.get('if-modified-since'));
  return since !== undefined && seconds(current.lastModified) <= since;
}

/**
 * Whether a list of entity tags names the current one. A compressed answer's tag has the coding as a suffix;
 * it names the same representation, so the suffix is set aside (see compress.ts).
 */
export function matches(header: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (header === etag || header.trim() === '*') return true;
  for (const [, weak, opaque] of header.matchAll(/(W\/)?"([\x21\x23-\x7e\x80-\u{10ffff}]*)"/gu)) {
    if (weak !== undefined && comparison === 'strong') continue;
    if (`"${opaque?.replace(/-(br|zstd|gzip|deflate)$/, '')}"` === etag) return true;
  }
  return false;
}

/** Seconds since the epoch; undefined when the header is missing or not a date (then it is ignored, §13.1.3). */
function dateOf(header: string | null): number | undefined {
  if (header === null || !/^[A-Z][a-z]{2,8},? /.test(header)) return undefined;
  // Every form of an HTTP date is in GMT; the oldest does not say so (RFC 9110 §5.6.7).
  const milliseconds = Date.parse(header.endsWith(' GMT') ? header : `${header} GMT`);
  return Number.isNaN(milliseconds) ? undefined : seconds(milliseconds);
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
