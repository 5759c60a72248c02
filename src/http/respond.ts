/** The way back: errors become replies, replies become responses with every header the contract names. */
import type { Clock } from '../ports/clock.ts';
import { StorageError } from '../storage/database.ts';
import { type Compressor, codedTag, smallestCompressed } from './compress.ts';
import { entityTag, evaluate, httpDate } from './conditional.ts';
import type { Cors } from './cors.ts';
import { errorBody, HttpError, plainBody, problemBody } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { lifecycleHeaders, type Version } from './lifecycle.ts';
import { type Coding, json, type Negotiate, problemJson } from './negotiate.ts';
import { type Quota, type QuotaState, quotaHeaders } from './rate-limit.ts';
import { noStore, type Reply } from './reply.ts';

export interface Responder {
  /** Turns anything thrown into the reply that the caller gets. */
  failure(exchange: Exchange, thrown: unknown): Reply;
  /** A promise only when something has to be waited for: most answers need no turn of the event loop. */
  respond(exchange: Exchange, reply: Reply): Response | Promise<Response>;
}

export interface ResponderOptions {
  readonly clock: Clock;
  readonly cors: Cors;
  readonly quota: Quota;
  readonly negotiate: Negotiate;
  readonly compressor: Compressor;
}

export function responder({ clock, cors, quota, negotiate, compressor }: ResponderOptions): Responder {
  const templates = new Map<Version | undefined, Map<string, Map<string, HeadersByValidators>>>();
  let windowReset = 0;
  const policy = `"default";q=${quota.limit};w=${quota.window}`;
  /** How `RateLimit` ends while it is so many seconds to the end of the window. */
  let left = { seconds: -1, text: '' };

  /**
   * The headers of all answers of one kind. A response takes a copy of them, so the few that differ from one
   * answer to the next are set here just before: an object of its own for each answer costs twice as much.
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

  function setQuota(headers: Headers, { remaining, reset }: QuotaState): void {
    const seconds = Math.max(0, reset - Math.floor(clock.now() / 1000));
    if (seconds !== left.seconds) left = { seconds, text: `;t=${seconds}` };
    headers.set('X-RateLimit-Remaining', String(remaining));
    headers.set('RateLimit', `"default";r=${remaining}${left.text}`);
  }

  /** 304 costs the caller nothing, so that polling is cheap for both sides. */
  function refund(exchange: Exchange): void {
    if (exchange.endpoint?.free !== true) exchange.quota = quota.refund(exchange.subject);
  }

  return {
    failure(exchange, thrown) {
      const error = toHttpError(thrown);
      if (error.status >= 500) exchange.failure = thrown;
      const plain = exchange.endpoint?.plainErrors === true && (error.status === 400 || error.status === 404);
      const text = exchange.problem ? problemBody : plain ? plainBody : errorBody;
      return {
        status: error.status,
        body: text(error, exchange.requestId),
        mediaType: exchange.problem ? problemJson : json,
        cacheControl: noStore,
        headers: error.headers,
        tagged: false,
      };
    },

    respond(exchange, reply) {
      const { body, status } = reply;
      if (body === null) return finish(exchange, reply, status, body);
      const etag = reply.tagged ? (reply.etag ?? entityTag(body)) : undefined;
      if (etag !== undefined && status === 200 && isUnchanged(exchange, etag, reply.lastModified)) {
        refund(exchange);
        return finish(exchange, reply, 304, null, etag);
      }
      const coding = codingFor(exchange.request, body);
      if (coding === undefined) return finish(exchange, reply, status, body, etag);
      const compressed = compressor.compress(body, coding, etag);
      const tag = etag === undefined ? undefined : codedTag(etag, coding);
      return compressed instanceof Promise
        ? onceCompressed(exchange, reply, compressed, coding, tag)
        : finish(exchange, reply, status, compressed, tag, coding);
    },
  };

  async function onceCompressed(
    exchange: Exchange,
    reply: Reply,
    compressed: Promise<Uint8Array<ArrayBuffer>>,
    coding: Coding,
    etag: string | undefined,
  ): Promise<Response> {
    return finish(exchange, reply, reply.status, await compressed, etag, coding);
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
    body: string | Uint8Array<ArrayBuffer> | null,
    etag?: string,
    coding?: Coding,
  ): Response {
    const state = exchange.quota ?? quota.peek(exchange.subject);
    // JSON goes by the name that was negotiated for it; errors keep their own.
    const shownType = reply.mediaType === json && reply.status < 400 ? exchange.mediaType : reply.mediaType;
    const mediaType = body === null ? '' : shownType;
    const { lastModified } = reply;
    const validators =
      etag === undefined ? (lastModified === undefined ? 0 : 2) : lastModified === undefined ? 1 : 3;
    const common = template(reply, mediaType, exchange.route?.version, state.reset, validators);
    if (etag !== undefined) common.set('ETag', etag);
    if (lastModified !== undefined) {
      common.set('Last-Modified', reply.lastModifiedText ?? httpDate(lastModified));
    }
    common.set('X-Request-ID', exchange.requestId);
    setQuota(common, state);
    common.set('Server-Timing', `total;dur=${exchange.elapsedText()}`);
    const response = new Response(body, { status, headers: common });
    if (reply.headers !== undefined) setAll(response.headers, reply.headers);
    if (coding !== undefined) response.headers.set('Content-Encoding', coding);
    if (exchange.ownQuota !== undefined) {
      const own = exchange.ownQuota;
      setAll(response.headers, quotaHeaders(own.quota, own.state, clock.now()));
    }
    if (exchange.origin !== null) cors.allowOrigin(response.headers, exchange.origin);
    // Bun dates every answer but those to HEAD.
    if (exchange.method === 'HEAD') response.headers.set('Date', httpDate(clock.now()));
    return response;
  }
}

function setAll(headers: Headers, values: Readonly<Record<string, string>>): void {
  for (const name in values) headers.set(name, values[name] ?? '');
}

/** Which validators an answer has: ETag 1, Last-Modified 2, both 3. */
type Validated = 0 | 1 | 2 | 3;
type HeadersByValidators = readonly [Headers, Headers, Headers, Headers];

/** What a failure of the database means to the caller. */
function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  if (thrown instanceof StorageError) {
    if (thrown.kind === 'full') return new HttpError('STORAGE_FULL', { cause: thrown });
    if (thrown.kind === 'unavailable') {
      return new HttpError('DATABASE_UNAVAILABLE', { headers: { 'Retry-After': '2' }, cause: thrown });
    }
    if (thrown.kind === 'unique') {
      const field = thrown.column ?? 'value';
      return new HttpError('DUPLICATE', {
        message: `${field}: another resource already has this value`,
        details: [{ field, pointer: `#/${field}`, code: 'unique', message: 'must be unique' }],
        cause: thrown,
      });
    }
  }
  return new HttpError('INTERNAL_ERROR', { cause: thrown });
}
