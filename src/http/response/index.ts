/** The way back: errors become replies, and replies become responses with every header of the contract. */
import type { Clock } from '../../ports/clock.ts';
import { computeEntityTag, evaluate, toLastModifiedSecond } from '../cache/conditional.ts';
import { formatHttpDate } from '../cache/http-date.ts';
import type { Cors } from '../cors.ts';
import type { Exchange } from '../exchange.ts';
import { type Coding, json, type Negotiate } from '../negotiate.ts';
import { buildQuotaHeaders, type Quota } from '../quota/index.ts';
import { strictApplied } from '../request/strict.ts';
import { runWhenReady } from '../when-ready.ts';
import { type Compressor, minCompressedSize, toCodedTag } from './compress.ts';
import { toFailureReply } from './failure.ts';
import { createCommonHeaders } from './headers.ts';
import { formatContentRange, readRange } from './ranges.ts';
import type { Body, Reply } from './reply.ts';
import { createSending } from './sending.ts';
import type { Stopping } from './stopping.ts';

/** The 304s per window that cost nothing, as a multiple of the caller's limit; further ones are charged. */
const refundsPerRequest = 10;

export interface ResponderOptions {
  readonly clock: Clock;
  readonly cors: Cors;
  readonly quota: Quota;
  readonly negotiate: Negotiate;
  readonly compressor: Compressor;
  readonly stopping: Stopping;
}

export function createResponder(options: ResponderOptions) {
  const { clock, cors, quota, negotiate, compressor, stopping } = options;
  const common = createCommonHeaders(quota);
  const sending = createSending();

  /**
   * Refunds a 304 for an entity tag, so that polling is cheap for both sides. Conditions that hold for any version
   * (`*`, a date) prove no earlier response and are charged.
   */
  function refund(exchange: Exchange): void {
    const named = exchange.request.headers.get('if-none-match');
    if (exchange.endpoint?.exemptFromQuota === true || named === null || named.trim() === '*') return;
    const limit = exchange.quota?.limit ?? quota.limit;
    exchange.quota = quota.refund(exchange.subject, limit, limit * refundsPerRequest);
  }

  return {
    /** Converts anything thrown to the reply for the caller. */
    failure: (exchange: Exchange, thrown: unknown) => toFailureReply(exchange, thrown, negotiate),

    /** Returns a promise only if something must be awaited: most responses need no turn of the event loop. */
    respond(exchange: Exchange, reply: Reply): Response | Promise<Response> {
      const { body, status } = reply;
      if (body === null) return finish(exchange, reply, status, body);
      if (reply.ranged === true) return respondRanged(exchange, reply, body);
      if (body instanceof Blob)
        throw new Error('a reply that is a file has to be one that is sent in ranges');
      const etag = reply.tagged ? (reply.etag ?? computeEntityTag(body)) : undefined;
      const coding = chooseCoding(exchange.request, body);
      // The tag of the 200: preconditions refer to it, and a 304 shows it (RFC 9110 §15.4.5).
      const tag = etag === undefined || coding === undefined ? etag : toCodedTag(etag, coding);
      if (tag !== undefined && status === 200 && isUnchanged(exchange, tag, reply.lastModified)) {
        refund(exchange);
        return finish(exchange, reply, 304, null, tag);
      }
      if (coding === undefined) return finish(exchange, reply, status, body, tag);
      return runWhenReady(compressor.compress(body, coding, etag), compressed =>
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
    const range = exchange.method === 'GET' ? readRange(headers, size, etag) : undefined;
    if (range === undefined) return finish(exchange, reply, 200, body, etag);
    const part = {
      ...reply,
      headers: { ...reply.headers, 'Content-Range': formatContentRange(range, size) },
    };
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
      (method === 'GET' || method === 'HEAD') &&
      evaluate(request.headers, method, { etag, lastModified }, clock.now)
    );
  }

  /** The coding to apply; undefined if none is wanted, acceptable or worthwhile. */
  function chooseCoding(request: Request, body: string | Uint8Array): Coding | undefined {
    if (body.length < minCompressedSize) return undefined;
    const accepted = request.headers.get('accept-encoding');
    return accepted === null ? undefined : (negotiate.coding(accepted) ?? undefined);
  }

  /**
   * Builds the response after conditions and codings have been applied.
   * @param etag in its final form, with the suffix of the coding
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
    // JSON is sent under the media type that was negotiated; errors keep their own.
    const shownType = reply.mediaType === json && reply.status < 400 ? exchange.mediaType : reply.mediaType;
    const mediaType = body === null ? '' : shownType;
    const now = Math.floor(clock.now() / 1000);
    const changed = reply.lastModified === undefined ? undefined : toLastModifiedSecond(reply.lastModified);
    const isDated = changed !== undefined && changed <= now;
    const { cacheControl } = reply;
    const headers = common.of({ cacheControl, mediaType, version: exchange.route?.version, now }, state);
    if (etag === undefined) headers.delete('ETag');
    else headers.set('ETag', etag);
    if (isDated) headers.set('Last-Modified', reply.lastModifiedText ?? formatHttpDate(changed * 1000));
    else headers.delete('Last-Modified');
    headers.set('X-Request-ID', exchange.requestId);
    headers.set('Server-Timing', `total;dur=${exchange.elapsedText()}`);
    const response = new Response(toSendable(exchange, reply, body), { status, headers });
    if (reply.headers !== undefined) setAll(response.headers, reply.headers);
    if (coding !== undefined) response.headers.set('Content-Encoding', coding);
    if (exchange.ownQuota !== undefined || state.limit !== quota.limit) {
      const own = exchange.ownQuota ?? { policy: { limit: state.limit, window: quota.window }, state };
      setAll(response.headers, buildQuotaHeaders(own.policy, own.state, clock.now()));
    }
    if (exchange.strict) response.headers.set('Preference-Applied', strictApplied);
    if (exchange.origin !== null) cors.allowOrigin(response.headers, exchange.origin);
    if (stopping.hasBegun()) response.headers.set('Connection', 'close');
    return response;
  }

  /** @throws HttpError 429, 503; never after a change, which the client must not repeat */
  function toSendable({ endpoint, method, subject }: Exchange, { ranged }: Reply, body: Body | null) {
    if (body === null || body instanceof Blob || method === 'HEAD' || ranged === true) return body;
    // What is exempt from the quota is short, or a document that all its responses share.
    if (endpoint?.exemptFromQuota === true) return sending.share(body);
    return sending.toSendable(body, subject, method === 'GET');
  }
}

function setAll(headers: Headers, values: Readonly<Record<string, string>>): void {
  for (const name in values) headers.set(name, values[name] ?? '');
}
