/** Proactive content negotiation (RFC 9110 §12): media types of responses and bodies, and content codings. */
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { HttpError } from './errors.ts';

export const json = 'application/json';
export const problemJson = 'application/problem+json';
export const mergePatchJson = 'application/merge-patch+json';
export const halJson = 'application/hal+json';
export const jsonPatch = 'application/json-patch+json';
export const pdf = 'application/pdf';

/** The media type that clients may use for JSON of one version, such as `application/vnd.catalog.v1+json`. */
export const toVendorType = (version: string) => `application/vnd.catalog.${version}+json`;

/** Content codings the service can apply, best first. */
export const codings = ['br', 'zstd', 'gzip', 'deflate'] as const;
export type Coding = (typeof codings)[number];

export type Negotiate = ReturnType<typeof createNegotiate>;

const cachedHeaders = 1000;
/** Longer headers are parsed each time: 1000 of them would take megabytes. */
const maxCachedLength = 300;

/** The results are cached per header value: clients repeat theirs word for word. */
export function createNegotiate() {
  const mediaTypes = new LRUCache<string, { mediaType: string | undefined }>({ max: cachedHeaders });
  const encodings = new LRUCache<string, { coding: Coding | undefined | null }>({ max: cachedHeaders });
  return {
    /**
     * The first of the offered media types that the client prefers; undefined if it accepts none. A client that accepts
     * only application/problem+json specifies the format of errors: a success has the first type offered.
     */
    mediaType(accept: string | null, offered: readonly string[]): string | undefined {
      const first = offered[0];
      if (accept === null || accept === '*/*' || accept === first) return first;
      const key = `${offered.join()} ${accept}`;
      const cached = mediaTypes.get(key);
      if (cached !== undefined) return cached.mediaType;
      const mediaType = negotiateMediaType(accept, offered);
      if (accept.length <= maxCachedLength) mediaTypes.set(key, { mediaType });
      return mediaType;
    },
    /**
     * Whether the client wants errors as application/problem+json: only if Accept names it (RFC 9457 §3), and does not
     * prefer application/json.
     */
    wantsProblem(accept: string | null): boolean {
      if (accept === null || !containsProblem(accept)) return false;
      // Of equally preferred types, the negotiator takes the one named first.
      const problemFirst = accept
        .split(',')
        .toSorted((a, b) => Number(containsProblem(b)) - Number(containsProblem(a)));
      return createNegotiator(problemFirst.join()).mediaType([problemJson, json]) === problemJson;
    },
    /** The coding to apply; undefined for none; null if the client refuses every coding and identity, too. */
    coding(acceptEncoding: string | null): Coding | undefined | null {
      if (acceptEncoding === null) return undefined;
      const cached = encodings.get(acceptEncoding);
      if (cached !== undefined) return cached.coding;
      const coding = negotiateCoding(acceptEncoding);
      if (acceptEncoding.length <= maxCachedLength) encodings.set(acceptEncoding, { coding });
      return coding;
    },
  };
}

const containsProblem = (accept: string): boolean => accept.toLowerCase().includes(problemJson);

/**
 * For a response whose media type does not depend on Accept: it may still refuse that type.
 * @throws HttpError 406
 */
export function requireAcceptance(accept: string | null, mediaType: string): void {
  if (accept !== null && negotiateMediaType(accept, [mediaType]) === undefined)
    throw createNotAcceptableError([mediaType]);
}

/** @param offered the media types of which Accept allows none */
export const createNotAcceptableError = (offered: readonly string[]): HttpError =>
  new HttpError('NOT_ACCEPTABLE', { message: `Accept must allow one of ${offered.join(', ')}.` });

function negotiateMediaType(header: string, offered: readonly string[]): string | undefined {
  if (isEmptyList(header)) return offered[0];
  const negotiator = createNegotiator(header);
  const mediaType = negotiator.mediaType([...offered]);
  if (mediaType !== undefined) return mediaType;
  const accepted = negotiator.mediaTypes();
  return accepted.length > 0 && accepted.every(type => type.toLowerCase() === problemJson)
    ? offered[0]
    : undefined;
}

/**
 * Whether a header is empty, which RFC 9110 §12.5.1 allows and some clients send for no preference. Empty list elements
 * do not count (§5.6.1).
 */
function isEmptyList(header: string): boolean {
  return /^[\s,]*$/.test(header);
}

/** Many clients request JSON "in UTF-8", its only encoding (RFC 8259 §8.1): the parameter must not exclude anything. */
function createNegotiator(header: string): Negotiator {
  return new Negotiator({
    headers: { accept: header.replaceAll(/;\s*charset\s*=\s*"?utf-8"?/gi, '') },
  });
}

interface PreferringNegotiator {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

function negotiateCoding(acceptEncoding: string): Coding | undefined | null {
  // Boundary: the published types lack the option that the library documents.
  const negotiator = new Negotiator({
    headers: { 'accept-encoding': acceptEncoding },
  }) as PreferringNegotiator;
  const offered = [...codings, 'identity'];
  // With these preferences, equal q-values are resolved in the service's order instead of the header's.
  const [preferred] = negotiator.encodings(offered, { preferred: [...codings] });
  if (preferred === undefined) return null;
  return codings.find(coding => coding === preferred);
}

/** The media type of a Content-Type value, without its parameters, in lower case. */
export function toEssence(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

/** Whether Content-Encoding names a coding other than identity. It is a list, whose empty elements do not count. */
function isEncoded(contentEncoding: string | null): boolean {
  if (contentEncoding === null) return false;
  const applied = contentEncoding.split(',').map(coding => coding.trim().toLowerCase());
  return applied.some(coding => coding !== '' && coding !== 'identity');
}

/**
 * Checks that the operation accepts the Content-Type and Content-Encoding of a body.
 * @returns the media type
 * @throws HttpError 415, with Accept-Patch on PATCH (RFC 5789 §3.1), Accept-Post on POST, Accept otherwise
 */
export function requireBodyType(headers: Headers, method: string, accepted: readonly string[]): string {
  const choice = accepted.length === 1 ? accepted[0] : `one of ${accepted.join(', ')}`;
  const refuse = (message: string, extra: Record<string, string> = {}) => {
    const name = method === 'PATCH' ? 'Accept-Patch' : method === 'POST' ? 'Accept-Post' : 'Accept';
    return new HttpError('UNSUPPORTED_MEDIA_TYPE', {
      message,
      headers: { [name]: accepted.join(', '), ...extra },
    });
  };
  if (isEncoded(headers.get('content-encoding'))) {
    throw refuse('The body must be sent without Content-Encoding.', { 'Accept-Encoding': 'identity' });
  }
  const contentType = headers.get('content-type');
  if (contentType === null) throw refuse(`Content-Type is missing; send ${choice}.`);
  const type = toEssence(contentType);
  const isAccepted = accepted.some(
    one => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))),
  );
  if (!isAccepted) throw refuse(`Content-Type is ${type === '' ? 'empty' : type}; send ${choice}.`);
  if (!type.endsWith('json')) return type;
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw refuse('JSON must be encoded in UTF-8 (RFC 8259 section 8.1).');
  return type;
}
