/** The way back: errors become replies, replies become responses with every header the contract names. */
import type { Clock } from '../../ports/clock.ts';
import { StorageError } from '../../storage/database.ts';
import { entityTag, evaluate, httpDate, lastModifiedSecond } from '../cache/conditional.ts';
import type { Cors } from '../cors.ts';
import { errorBody, HttpError, plainBody, problemBody } from '../errors.ts';
import type { Exchange } from '../exchange.ts';
import { type Coding, json, type Negotiate, problemJson } from '../negotiate.ts';
import { type Quota, type QuotaState, quotaHeaders } from '../quota/index.ts';
import { strictApplied } from '../request/strict.ts';
import { lifecycleHeaders, type Version } from '../versions/lifecycle.ts';
import { whenReady } from '../when-ready.ts';
import { type Compressor, codedTag, smallestCompressed } from './compress.ts';
import { contentRange, requestedRange } from './ranges.ts';
import { type Body, noStore, type Reply } from './reply.ts';
import type { Stopping } from './stopping.ts';

/** How many times its limit a caller may poll for nothing in one window; then a 304 is charged as any other response. */
const refundsPerRequest = 10;

export interface Responder {
  /** Turns anything thrown into the reply that the caller gets. */
  failure(exchange: Exchange, thrown: unknown): Reply;
  /** A promise only when something has to be waited for: most responses need no turn of the event loop. */
  respond(exchange: Exchange, reply: Reply): Response | Promise<Response>;
}

export interface ResponderOptions {
  readonly clock: Clock;
  readonly cors: Cors;
  readonly quota: Quota;
  readonly negotiate: Negotiate;
  readonly compressor: Compressor;
  readonly stopping: Stopping;
}

export function responder(options: ResponderOptions): Responder {
  const { clock, cors, quota, negotiate, compressor, stopping } = options;
  const templates = new Map<Version | undefined, Map<string, Map<string, HeadersByValidators>>>();
  let windowReset = 0;
  const policy = `"default";q=${quota.limit};w=${quota.window}`;
  /** How `RateLimit` ends while it is so many seconds to the end of the window. */
  let left = { seconds: -1, text: '' };

  /**
   * The headers of all responses of one kind. A response takes a copy of them, so the few that differ from one
   * response to the next are set here just before: an object of its own for each response costs twice as much.
   * @param validators those that are set each time
   */
  function template(
    { cacheControl }: Reply,
    mediaType: string,
    version: Version | undefined,
    reset: number,
    validators: Validated,
  ): Headers {
    if (reset !== windowReset) {
      templates.clear();
      windowReset = reset;
    }
    // Looked up by the parts: they are constants, whose hashes are known, and no key has to be built.
    let ofVersion = templates.get(version);
    if (ofVersion === undefined) {
      ofVersion = new Map();
      templates.set(version, ofVersion);
    }
    let ofType = ofVersion.get(mediaType);
    if (ofType === undefined) {
      ofType = new Map();
      ofVersion.set(mediaType, ofType);
    }
    let kinds = ofType.get(cacheControl);
    if (kinds === undefined) {
      kinds = commonHeaders(cacheControl, mediaType, version, reset);
      ofType.set(cacheControl, kinds);
    }
    return kinds[validators];
  }

  /** One for each combination of validators. */
  function commonHeaders(
    cacheControl: string,
    mediaType: string,
    version: Version | undefined,
    reset: number,
  ): HeadersByValidators {
    const made = () =>
      new Headers({
        'Cache-Control': cacheControl,
        Vary: 'Accept, Accept-Encoding, Origin',
        'X-Content-Type-Options': 'nosniff',
        'X-RateLimit-Limit': String(quota.limit),
        'X-RateLimit-Window': String(quota.window),
        'X-RateLimit-Reset': String(reset),
        'RateLimit-Policy': policy,
        ...(mediaType === '' ? {} : { 'Content-Type': mediaType }),
        ...(version === undefined ? {} : lifecycleHeaders(version)),
      });
    return [made(), made(), made(), made()];
  }

  /** @param now whole seconds since the epoch */
  function setQuota(headers: Headers, { remaining, reset }: QuotaState, now: number): void {
    const seconds = Math.max(0, reset - now);
    if (seconds !== left.seconds) left = { seconds, text: `;t=${seconds}` };
    headers.set('X-RateLimit-Remaining', String(remaining));
    headers.set('RateLimit', `"default";r=${remaining}${left.text}`);
  }

  /** For the few callers that have a limit of their own: the templates have the usual one. */
  function showLimit(headers: Headers, limit: number): void {
    headers.set('X-RateLimit-Limit', String(limit));
    headers.set('RateLimit-Policy', `"default";q=${limit};w=${quota.window}`);
  }

  /**
   * A 304 to an entity tag costs the caller nothing, so that polling is cheap for both sides. Conditions that hold
   * whatever there is (`*`, a date) show no earlier response and are charged.
   */
  function refund(exchange: Exchange): void {
    const named = exchange.request.headers.get('if-none-match');
    if (exchange.endpoint?.free === true || named === null || named.trim() === '*') return;
    const limit = exchange.quota?.limit ?? quota.limit;
    exchange.quota = quota.refund(exchange.subject, limit, limit * refundsPerRequest);
  }

  return {
    failure(exchange, thrown) {
      if (hasGone(exchange, thrown)) return abandoned;
      const error = toHttpError(thrown);
      if (error.status >= 500) exchange.failure = thrown;
      const plain = exchange.endpoint?.plainErrors === true && (error.status === 400 || error.status === 404);
      // Negotiated here: most requests do not fail, and some fail before they have got to their negotiation.
      const isProblem = negotiate.wantsProblem(exchange.request.headers.get('accept'));
      const text = isProblem ? problemBody : plain ? plainBody : errorBody;
      return {
        status: error.status,
        body: text(error, exchange.requestId),
        mediaType: isProblem ? problemJson : json,
        cacheControl: noStore,
        headers: error.headers,
        tagged: false,
      };
    },

    respond(exchange, reply) {
      const { body, status } = reply;
      if (body === null) return finish(exchange, reply, status, body);
      if (reply.ranged === true) return respondRanged(exchange, reply, body);
      if (body instanceof Blob)
        throw new Error('a reply that is a file has to be one that is sent in ranges');
      const etag = reply.tagged ? (reply.etag ?? entityTag(body)) : undefined;
      const coding = codingFor(exchange.request, body);
      // The tag of what a 200 would carry: that is what conditions are about, and what a 304 shows (RFC 9110 §15.4.5).
      const tag = etag === undefined || coding === undefined ? etag : codedTag(etag, coding);
      if (tag !== undefined && status === 200 && isUnchanged(exchange, tag, reply.lastModified)) {
        refund(exchange);
        return finish(exchange, reply, 304, null, tag);
      }
      if (coding === undefined) return finish(exchange, reply, status, body, tag);
      return whenReady(compressor.compress(body, coding, etag), compressed =>
        finish(exchange, reply, status, compressed, tag, coding),
      );
    },
  };

  /** @throws HttpError 416 */
  function respondRanged(exchange: Exchange, reply: Reply, body: Body): Response {
    const { etag, lastModified } = reply;
    if (etag === undefined || typeof body === 'string')
      throw new Error('what is sent in ranges is tagged bytes');
    if (isUnchanged(exchange, etag, lastModified)) {
      refund(exchange);
      return finish(exchange, reply, 304, null, etag);
    }
    const size = body instanceof Blob ? body.size : body.byteLength;
    const { headers } = exchange.request;
    const range = exchange.method === 'GET' ? requestedRange(headers, size, etag) : undefined;
    if (range === undefined) return finish(exchange, reply, 200, body, etag);
    const part = { ...reply, headers: { ...reply.headers, 'Content-Range': contentRange(range, size) } };
    const bytes =
      body instanceof Blob
        ? body.slice(range.first, range.last + 1)
        : body.subarray(range.first, range.last + 1);
    return finish(exchange, part, 206, bytes, etag);
  }

  function isUnchanged(
    { request, method }: Exchange,
    etag: string,
    lastModified: number | undefined,
  ): boolean {
    return (
      (method === 'GET' || method === 'HEAD') && evaluate(request.headers, method, { etag, lastModified })
    );
  }

  /** The coding to apply; undefined for none: not wanted, not acceptable, or not worth it. */
  function codingFor(request: Request, body: string | Uint8Array): Coding | undefined {
    if (body.length < smallestCompressed) return undefined;
    const accepted = request.headers.get('accept-encoding');
    return accepted === null ? undefined : (negotiate.coding(accepted) ?? undefined);
  }

  /**
   * The response after conditions and codings have been applied.
   * @param etag as it is shown: with the coding's suffix
   */
  function finish(
    exchange: Exchange,
    reply: Reply,
    status: number,
    body: Body | null,
    etag?: string,
    coding?: Coding,
  ): Response {
    const state = exchange.quota ?? quota.peek(exchange.subject);
    // JSON goes by the name that was negotiated for it; errors keep their own.
    const shownType = reply.mediaType === json && reply.status < 400 ? exchange.mediaType : reply.mediaType;
    const mediaType = body === null ? '' : shownType;
    const now = Math.floor(clock.now() / 1000);
    const changed = reply.lastModified === undefined ? undefined : lastModifiedSecond(reply.lastModified);
    const isDated = changed !== undefined && changed <= now;
    const validators = etag === undefined ? (isDated ? 2 : 0) : isDated ? 3 : 1;
    const common = template(reply, mediaType, exchange.route?.version, state.reset, validators);
    if (etag !== undefined) common.set('ETag', etag);
    if (isDated) common.set('Last-Modified', reply.lastModifiedText ?? httpDate(changed * 1000));
    common.set('X-Request-ID', exchange.requestId);
    setQuota(common, state, now);
    common.set('Server-Timing', `total;dur=${exchange.elapsedText()}`);
    const response = new Response(body, { status, headers: common });
    if (state.limit !== quota.limit) showLimit(response.headers, state.limit);
    if (reply.headers !== undefined) setAll(response.headers, reply.headers);
    if (coding !== undefined) response.headers.set('Content-Encoding', coding);
    if (exchange.ownQuota !== undefined) {
      const own = exchange.ownQuota;
      setAll(response.headers, quotaHeaders(own.quota, own.state, clock.now()));
    }
    if (exchange.strict) {
      response.headers.set('Preference-Applied', strictApplied);
      response.headers.append('Vary', 'Prefer');
    }
    if (exchange.origin !== null) cors.allowOrigin(response.headers, exchange.origin);
    if (stopping.hasBegun()) response.headers.set('Connection', 'close');
    // Bun dates every response but those to HEAD.
    if (exchange.method === 'HEAD') response.headers.set('Date', httpDate(clock.now()));
    return response;
  }
}

function setAll(headers: Headers, values: Readonly<Record<string, string>>): void {
  for (const name in values) headers.set(name, values[name] ?? '');
}

/** Which validators a response has: ETag 1, Last-Modified 2, both 3. */
type Validated = 0 | 1 | 2 | 3;
type HeadersByValidators = readonly [Headers, Headers, Headers, Headers];

/** Stands in the log and in the numbers for a request whose client went away; it is never sent. As nginx has it. */
const clientClosedRequest = 499;
const abandoned: Reply = {
  status: clientClosedRequest,
  body: null,
  mediaType: json,
  cacheControl: noStore,
  tagged: false,
};

/** Whether the body could not be read to its end because the client has closed the connection. */
function hasGone({ request }: Exchange, thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError' && request.signal.aborted;
}

/** What a failure of the database means to the caller. */
function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  if (thrown instanceof StorageError) {
    if (thrown.kind === 'full') return new HttpError('STORAGE_FULL', { cause: thrown });
    if (thrown.kind === 'unavailable') {
      return new HttpError('DATABASE_UNAVAILABLE', { headers: { 'Retry-After': '2' }, cause: thrown });
    }
    if (thrown.kind === 'read-only') {
      return new HttpError('DATABASE_READ_ONLY', { headers: { 'Retry-After': '2' }, cause: thrown });
    }
    if (thrown.kind === 'moved') {
      return new HttpError('DATABASE_MOVED', { headers: { 'Retry-After': '5' }, cause: thrown });
    }
    if (thrown.kind === 'damaged') return new HttpError('DATABASE_DAMAGED', { cause: thrown });
    if (thrown.kind === 'unique') {
      // Columns are written external_id, members externalId.
      const field = (thrown.column ?? 'value').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      return new HttpError('DUPLICATE', {
        message: `${field}: another resource already has this value`,
        details: [{ field, pointer: `#/${field}`, code: 'unique', message: 'must be unique' }],
        cause: thrown,
      });
    }
  }
  return new HttpError('INTERNAL_ERROR', { cause: thrown });
}
