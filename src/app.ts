/**
 * The order of the HTTP layers: read this first.
 *
 * A request passes the stages from `answer` to `parseRequest`, top to bottom. Each stage may end it with the
 * statuses that its comment lists. Anything thrown becomes an error reply, and every reply leaves through `respond`.
 */
import type { BunRequest, Server } from 'bun';
import type { Config } from './config.ts';
import { type Authenticator, admit, type Caller, confirmRead, identify } from './http/access.ts';
import { createCors } from './http/cors.ts';
import { type BodySpec, type Endpoint, mustParse } from './http/endpoint.ts';
import { HttpError } from './http/errors.ts';
import { Exchange, type ServerContext } from './http/exchange.ts';
import type { Idempotency } from './http/idempotency.ts';
import { createNegotiate, createNotAcceptableError, json, requireBodyType } from './http/negotiate.ts';
import { isLocal, readClientAddress } from './http/quota/client-address.ts';
import { createRateLimitError, type Quota } from './http/quota/index.ts';
import { checkHost, readRequestUrl } from './http/request/address.ts';
import { createBodyReader, dropRest, refusePartialBody } from './http/request/body.ts';
import * as requests from './http/request/index.ts';
import {
  createMemberCheck,
  prefersStrict,
  refuseUnknownParameters,
  refuseUnreadBody,
} from './http/request/strict.ts';
import { createRequestWrite } from './http/request/transaction.ts';
import { createCompressor } from './http/response/compress.ts';
import { createResponder } from './http/response/index.ts';
import type { Reply } from './http/response/reply.ts';
import type { Stopping } from './http/response/stopping.ts';
import { createRoutes, createUnknownRoute, pick, type Route, toBunPattern } from './http/router.ts';
import { runWhenReady } from './http/when-ready.ts';
import type { Observer } from './operations/observe.ts';
import type { Clock } from './ports/clock.ts';
import type { Database, Transaction } from './storage/database.ts';
import { createTurnQueue } from './turns/index.ts';
import type { PublishedVersion } from './versions.ts';

/** Seconds without a byte after which a connection is closed; this ends half-open and stalled requests. */
export const idleTimeout = 30;

export interface AppOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly authenticator: Authenticator;
  /** The start-up work that requests wait for; undefined once it is done. */
  readonly starting: () => Promise<void> | undefined;
  readonly stopping: Stopping;
  readonly quota: Quota;
  readonly idempotency: Idempotency;
  readonly observer: Observer;
  /** Called with each transaction of a request after it commits. */
  readonly committed: (session: Transaction) => void;
  /** Each is served below its own prefix. */
  readonly versions: readonly PublishedVersion[];
  /** Outside the versions: /health and the other operational endpoints. */
  readonly operations: readonly Endpoint[];
}

/** The path parameters as they were sent. */
type Params = Readonly<Record<string, string>>;
type Handler = (request: BunRequest, server: Server<undefined>) => Response | Promise<Response>;

export type App = ReturnType<typeof createApp>;

export function createApp(options: AppOptions) {
  const { config, clock, stopping, quota, observer, database, versions } = options;
  const negotiate = createNegotiate();
  const parseQuery = requests.createQueryParser();
  const readBody = createBodyReader();
  const parseBody = requests.createBodyParser();
  const refuseUnknownMembers = createMemberCheck();
  const cors = createCors(config.CORS_ORIGINS);
  const enter = createRequestQueue();
  const write = createRequestWrite(options);
  const compressor = createCompressor();
  const respond = createResponder({ clock, cors, quota, negotiate, compressor, stopping });

  /** Host: 400. CORS: 204. Preflights cost no quota; they and endpoints exempt from it need no credentials. */
  function answer(exchange: Exchange, params: Params): Reply | Promise<Reply> {
    const { request, route, method } = exchange;
    checkHost(request);
    if (method === 'OPTIONS') return createPreflightReply(request, route);
    exchange.endpoint = route?.operations.get(method === 'HEAD' ? 'GET' : method)?.endpoint;
    if (exchange.endpoint?.exemptFromQuota === true) return admitRequest(exchange, params);
    return runWhenReady(options.starting(), () => identifyCaller(exchange, params));
  }

  function identifyCaller(exchange: Exchange, params: Params): Reply | Promise<Reply> {
    const key = requests.findKeyParameter(exchange.url.search);
    return runWhenReady(identify(exchange.request.headers, key, exchange, options.authenticator), caller =>
      chargeQuota(exchange, params, caller),
    );
  }

  /** Quota: 429. Every caller is charged, permitted or not. */
  function chargeQuota(exchange: Exchange, params: Params, caller: Caller): Reply | Promise<Reply> {
    exchange.caller = caller;
    return runWhenReady(quota.charge(caller.subject, getLimit(caller)), state => {
      exchange.quota = state;
      if (!state.allowed) {
        throw createRateLimitError(
          `All ${state.limit} requests of this window are used`,
          state,
          options.clock.now(),
        );
      }
      return admitRequest(exchange, params);
    });
  }

  /** Requests per window: the key's own limit, or that of the caller's role. */
  function getLimit(caller: Caller): number {
    if (caller.kind === 'key') return caller.rateLimit ?? config.RATE_LIMIT;
    const staff = caller.kind === 'user' && caller.role !== 'user';
    return (staff ? config.RATE_LIMIT_STAFF : undefined) ?? config.RATE_LIMIT;
  }

  /** Route: 404, 405. Access: 401, 403. Negotiate: 406, 415. Confirm: 401. */
  function admitRequest(exchange: Exchange, params: Params): Reply | Promise<Reply> {
    const { request, method } = exchange;
    const { endpoint, offered } = pick(exchange.route, method);
    if (endpoint.notOffered !== undefined) throw new HttpError('NOT_FOUND', { message: endpoint.notOffered });
    admit(exchange.caller, endpoint.access);
    const mediaType = negotiate.mediaType(request.headers.get('accept'), offered);
    if (mediaType === undefined) throw createNotAcceptableError(offered);
    exchange.mediaType = mediaType;
    const { body } = endpoint;
    const sent = body !== undefined && mustParse(body, request.headers);
    const type = sent ? requireBodyType(request.headers, method, requests.getBodyTypes(body)) : undefined;
    return runWhenReady(confirmRead(exchange.caller, endpoint, options.authenticator, database.read), () =>
      parseRequest(exchange, endpoint, params, type),
    );
  }

  /** Parse: 400, 404, 413, 417. Then the handler: precondition 412, work 400–404, 409, 413, 415, 422, 429, 503, 507. */
  function parseRequest(
    exchange: Exchange,
    endpoint: Endpoint,
    params: Params,
    /** Undefined if there is no body to parse. */
    type: string | undefined,
  ): Reply | Promise<Reply> {
    exchange.params = requests.parseParams(params, endpoint.params);
    const prefer = exchange.request.headers.get('prefer');
    if (prefer !== null && prefersStrict(prefer)) {
      exchange.strict = true;
      refuseUnknownParameters(endpoint, exchange.url.search);
      refuseUnreadBody(endpoint, exchange.request.headers);
    }
    exchange.query = parseQuery(endpoint, exchange.url.search);
    const { body } = endpoint;
    if (body === undefined || type === undefined) return endpoint.handle(exchange);
    return handleWithBody(exchange, endpoint, body, type);
  }

  async function handleWithBody(
    exchange: Exchange,
    endpoint: Endpoint,
    body: BodySpec,
    type: string,
  ): Promise<Reply> {
    refusePartialBody(exchange.request);
    const bytes = await readBody(exchange, requests.getBodyLimit(endpoint, body, type, config.BODY_LIMIT));
    const contentType = exchange.request.headers.get('content-type') ?? '';
    exchange.body = parseBody(body, { type, contentType, strict: exchange.strict }, bytes, value => {
      if (exchange.strict) refuseUnknownMembers(endpoint, body, type, value);
    });
    exchange.bytes = requests.computeBodyIdentity(body, exchange.body, bytes);
    return endpoint.handle(exchange);
  }

  function createPreflightReply(request: Request, route: Route | undefined): Reply {
    const patch = route?.operations.get('PATCH')?.endpoint.body;
    const headers = {
      ...cors.preflight(request),
      ...(route === undefined || route.allow === '' ? {} : { Allow: route.allow }),
      ...(patch === undefined ? {} : { 'Accept-Patch': requests.getBodyTypes(patch).join(', ') }),
    };
    return {
      status: 204,
      body: null,
      mediaType: json,
      cacheControl: 'max-age=86400',
      headers,
      tagged: false,
    };
  }

  function serve(
    route: Route | undefined,
    params: Params,
    request: Request,
    serverContext: ServerContext,
  ): Response | Promise<Response> {
    const gate = stopping.gate();
    if (gate !== undefined) return gate.then(() => serve(route, params, request, serverContext));
    const { BASE_URL, TRUST_PROXY } = config;
    const url = readRequestUrl(request, BASE_URL, TRUST_PROXY, serverContext.localBase);
    const exchange = new Exchange(
      request,
      route,
      requests.readRequestId(request.headers),
      url,
      serverContext,
    );
    let sent: Response | Promise<Response>;
    try {
      sent = runWhenReady(answer(exchange, params), reply => respond.respond(exchange, reply));
    } catch (error) {
      sent = respond.respond(exchange, respond.failure(exchange, error));
    }
    return sent instanceof Promise ? observeWhenSent(exchange, sent) : observeResponse(exchange, sent);
  }

  async function observeWhenSent(exchange: Exchange, sent: Promise<Response>): Promise<Response> {
    let response: Response;
    try {
      response = await sent;
    } catch (error) {
      response = await respond.respond(exchange, respond.failure(exchange, error));
    }
    if (exchange.unread !== undefined) response = await dropRest(response, exchange.unread);
    return observeResponse(exchange, response);
  }

  function observeResponse(exchange: Exchange, response: Response): Response {
    observer.served(exchange, response.status);
    return response;
  }

  /** The same for all requests of one server. */
  let serverContext: ServerContext | undefined;
  const toContext = (server: Server<undefined>): ServerContext => {
    serverContext ??= {
      addressOf: request =>
        readClientAddress(server.requestIP(request)?.address, request.headers, config.TRUST_PROXY),
      isLocal: request => isLocal(server.requestIP(request)?.address, request.headers),
      localBase: `http://localhost:${server.port}`,
      now: options.clock.now,
      keepOpen: request => server.timeout(request, idleTimeout),
      write,
    };
    return serverContext;
  };

  const routes: Record<string, Handler> = {};
  const all = [
    ...versions.flatMap(version => createRoutes(version.endpoints, version)),
    ...createRoutes(options.operations, undefined),
  ];
  for (const route of all) {
    routes[toBunPattern(route.path)] = (request, server) => {
      database.refresh();
      return enter(route.bypassesQueue, () => serve(route, request.params, request, toContext(server)));
    };
  }
  // An unknown path below a version's prefix still belongs to that version.
  const unknown = versions.map(version => ({
    prefix: `/${version.name}/`,
    route: createUnknownRoute(version),
  }));
  return {
    /** Bun's route table: one entry for each path. */
    routes,
    /** Handles every other path. */
    fallback(request: Request, server: Server<undefined>): Response | Promise<Response> {
      database.refresh();
      const serverContext = toContext(server);
      const { path } = readRequestUrl(request, undefined, false, serverContext.localBase);
      const route = unknown.find(({ prefix }) => path.startsWith(prefix))?.route;
      return enter(false, () => serve(route, {}, request, serverContext));
    },
  };
}

/**
 * Requests that arrive together are delivered together. A thousand reads of a megabyte each would block everything else
 * for seconds, and so would thousands of requests that bypass the queue; those have their own queue.
 * @returns a function that serves a request at once if there is time, otherwise after those before it
 */
function createRequestQueue() {
  const [takeTurn, bypass] = [createTurnQueue({ isInOrder: true }), createTurnQueue({ isInOrder: true })];
  return (bypassesQueue: boolean, serve: () => Response | Promise<Response>): Response | Promise<Response> =>
    runWhenReady(bypassesQueue ? bypass() : takeTurn(), serve);
}
