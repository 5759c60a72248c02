/** Cross-origin resource sharing (Fetch standard, "CORS protocol"). */
import { holdsCredential } from './credentials.ts';

const methods = 'GET, POST, PUT, PATCH, DELETE, OPTIONS';
const alwaysAllowed = ['Authorization', 'Content-Type', 'X-Request-ID'];
/** Also allowed, but only listed in the response to a preflight that requests them. */
const allowedOnRequest = [
  'Accept Cache-Control Idempotency-Key If-Match If-Modified-Since If-None-Match If-Range If-Unmodified-Since',
  // Pragma is sent by many programs together with Cache-Control, X-Requested-With with all requests by some frameworks.
  'Pragma Prefer Range X-API-Key X-Requested-With',
  // Headers that tracing in browsers adds to every request (W3C Trace Context and Baggage; Sentry).
  'baggage sentry-trace traceparent tracestate',
].flatMap(names => names.split(' '));
/** Headers that scripts may read, besides any "CORS-safelisted response-header name" (Fetch standard). */
const exposed = [
  'Accept, Accept-Patch, Accept-Post, Accept-Ranges, Allow, Content-Disposition, Content-Range, ETag, Location, Link',
  'X-Request-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Window, RateLimit',
  'RateLimit-Policy, Retry-After, Idempotency-Replayed, Deprecation, Sunset, Server-Timing, Preference-Applied',
  'WWW-Authenticate',
].join(', ');

export type Cors = ReturnType<typeof createCors>;

/**
 * @returns the origin as browsers send it (RFC 6454 §6.2): in lower case, without the default port of its scheme
 * @throws Error for a text that is not an origin
 */
export function parseOrigin(text: string): string {
  if (text === '*') throw new Error('* is not an origin: leave the setting unset to allow any');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const hasMore = url === undefined || !/^[a-z][a-z\d+.-]*:\/\/[^/?#@\\]+\/?$/i.test(text);
  if (hasMore) throw new Error(`must be only a scheme and a host, such as https://shop.example`);
  if (text.includes('*')) throw new Error('* does not stand for any part of an origin: list each of them');
  // Apps use schemes of their own, which have no origin in the URL standard.
  return url.origin === 'null' ? text.replace(/\/$/, '').toLowerCase() : url.origin;
}

/** @param origins the allowed origins; undefined for any. `null` is never allowed: any page can send it. */
export function createCors(origins: readonly string[] | undefined) {
  const isAllowed = (origin: string) =>
    origin !== 'null' && (origins === undefined ? !holdsCredential(origin) : origins.includes(origin));
  return {
    /** Adds the headers that let a browser pass the response to a page of this origin. */
    allowOrigin(headers: Headers, origin: string): void {
      if (!isAllowed(origin)) return;
      headers.set('Access-Control-Allow-Origin', origin);
      headers.set('Access-Control-Allow-Credentials', 'true');
      headers.set('Access-Control-Expose-Headers', exposed);
    },
    preflight(request: Request): Record<string, string> {
      const list = request.headers.get('access-control-request-headers') ?? '';
      const wanted = new Set(list.split(',').map(name => name.trim().toLowerCase()));
      const extra = allowedOnRequest.filter(name => wanted.has(name.toLowerCase()));
      return {
        'Access-Control-Allow-Methods': methods,
        'Access-Control-Allow-Headers': [...alwaysAllowed, ...extra].join(', '),
        'Access-Control-Max-Age': '86400',
        'Access-Control-Allow-Credentials': 'true',
      };
    },
  };
}
