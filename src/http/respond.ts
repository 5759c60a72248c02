/** The way back: errors become replies, replies become responses with every header the contract names. */
import type { Clock } from '../ports/clock.ts';
import { StorageError } from '../storage/database.ts';
import { type Compressor, codedTag, smallestCompressed } from './compress.ts';
import { entityTag, evaluate, httpDate } from './conditional.ts';
import type { Cors } from './cors.ts';
import { errorBody, HttpError, problemBody } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { lifecycleHeaders } from './lifecycle.ts';
import { json, type Negotiate, problemJson } from './negotiate.ts';
import type { Quota, QuotaState } from './rate-limit.ts';
import { noStore, type Reply } from './reply.ts';

export interface Responder {
  /** Turns anything thrown into the reply that the caller gets. */
  failure(exchange: Exchange, thrown: unknown): Reply;
  respond(exchange: Exchange, reply: Reply): Promise<Response>;
}

export interface ResponderOptions {
  readonly clock: Clock;
  readonly cors: Cors;
  readonly quota: Quota;
  readonly negotiate: Negotiate;
  readonly compressor: Compressor;
}

export function responder({ clock, cors, quota, negotiate, compressor }: ResponderOptions): Responder {
  const templates = new Map<string, Headers>();
  const policy = `"default";q=${quota.limit};w=${quota.window}`;

  /** The headers that are the same for all answers of one kind; copying them is cheaper than setting them. */
  function template(reply: Reply, exchange: Exchange): Headers {
    const mediaType = reply.body === null ? '' : reply.mediaType;
    const key = `${mediaType} ${reply.cacheControl} ${exchange.route?.version?.name}`;
    let headers = templates.get(key);
    if (headers === undefined) {
      headers = new Headers({
        'Cache-Control': reply.cacheControl,
        Vary: 'Accept, Accept-Encoding, Origin',
        'X-Content-Type-Options': 'nosniff',
        'X-RateLimit-Limit': String(quota.limit),
        'X-RateLimit-Window': String(quota.window),
        'RateLimit-Policy': policy,
        ...(mediaType === '' ? {} : { 'Content-Type': mediaType }),
        ...(exchange.route?.version === undefined ? {} : lifecycleHeaders(exchange.route.version)),
      });
      templates.set(key, headers);
    }
    return new Headers(headers);
  }

  function setQuota(headers: Headers, state: QuotaState): void {
    const seconds = Math.max(0, state.reset - Math.floor(clock.now() / 1000));
    headers.set('X-RateLimit-Remaining', String(state.remaining));
    headers.set('X-RateLimit-Reset', String(state.reset));
    headers.set('RateLimit', `"default";r=${state.remaining};t=${seconds}`);
  }

  /** 304 costs the caller nothing, so that polling is cheap for both sides. */
  function refund(exchange: Exchange): void {
    const { caller, endpoint } = exchange;
    if (caller !== undefined && endpoint?.free !== true) exchange.quota = quota.refund(caller.subject);
  }

  return {
    failure(exchange, thrown) {
      const error = toHttpError(thrown);
      if (error.status >= 500) exchange.failure = thrown;
      const text = exchange.problem ? problemBody : errorBody;
      return {
        status: error.status,
        body: text(error, exchange.requestId),
        mediaType: exchange.problem ? problemJson : json,
        cacheControl: noStore,
        headers: error.headers,
        tagged: false,
      };
    },

    async respond(exchange, reply) {
      const { request, method } = exchange;
      let { status, body } = reply;
      const headers = template(reply, exchange);
      if (reply.tagged && body !== null) {
        const etag = entityTag(body);
        let shown = etag;
        const unchanged =
          status === 200 && method !== 'POST' && (method === 'GET' || method === 'HEAD')
            ? evaluate(request.headers, method, { etag, lastModified: reply.lastModified })
            : false;
        if (unchanged) {
          status = 304;
          body = null;
          headers.delete('Content-Type');
          refund(exchange);
        } else {
          const coded = await encode(request, body, etag);
          if (coded !== undefined) {
            body = coded.bytes;
            shown = codedTag(etag, coded.coding);
            headers.set('Content-Encoding', coded.coding);
          }
        }
        headers.set('ETag', shown);
        if (reply.lastModified !== undefined) headers.set('Last-Modified', httpDate(reply.lastModified));
      } else if (body !== null) {
        const coded = await encode(request, body, undefined);
        if (coded !== undefined) {
          body = coded.bytes;
          headers.set('Content-Encoding', coded.coding);
        }
      }
      if (reply.headers !== undefined) {
        for (const name in reply.headers) headers.set(name, reply.headers[name] ?? '');
      }
      headers.set('X-Request-ID', exchange.requestId);
      setQuota(headers, exchange.quota ?? quota.peek(exchange.caller?.subject ?? `ip:${exchange.address()}`));
      cors.allowOrigin(headers, exchange.origin);
      headers.set('Server-Timing', `total;dur=${exchange.elapsed().toFixed(3)}`);
      // Bun dates every answer but those to HEAD.
      if (method === 'HEAD') headers.set('Date', httpDate(clock.now()));
      return new Response(body, { status, headers });
    },
  };

  async function encode(request: Request, body: string | Uint8Array, etag: string | undefined) {
    const accepted = request.headers.get('accept-encoding');
    if (accepted === null) return undefined;
    const coding = negotiate.coding(accepted);
    if (coding === undefined || coding === null || body.length < smallestCompressed) return undefined;
    return { coding, bytes: await compressor.compress(body, coding, etag) };
  }
}

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
