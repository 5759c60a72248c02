/**
 * The order of the HTTP layers and the list of resources: read this first.
 *
 * A request passes the stages from `answer` to `parsed`, from top to bottom; each may end it with the statuses named there.
 * Whatever is thrown becomes an error reply, and every reply leaves through `respond`.
 */
import type { BunRequest, Server } from 'bun';
import type { Config } from './config.ts';
import { type Authenticator, admit, type Caller, confirmRead, identify } from './http/access.ts';
import { refuseConditions } from './http/cache/conditional.ts';
import { cors as corsFor } from './http/cors.ts';
import { type BodySpec, type Endpoint, hasBody } from './http/endpoint.ts';
import { HttpError } from './http/errors.ts';
import { Exchange, type ServerContext } from './http/exchange.ts';
import { type Idempotency, idempotencyKeyOf } from './http/idempotency.ts';
import { bodyType, json, negotiation } from './http/negotiate.ts';
import { addressOf, isLocal } from './http/quota/client-address.ts';
import { type Quota, usedUp } from './http/quota/index.ts';
import { checkHost, urlOf } from './http/request/address.ts';
import { droppingRest, readBody } from './http/request/body.ts';
import * as requests from './http/request/index.ts';
import {
  memberCheck,
  prefersStrict,
  refuseUnknownParameters,
  refuseUnreadBody,
} from './http/request/strict.ts';
import { createTurns } from './http/request/turns.ts';
import { compressor } from './http/response/compress.ts';
import { responder } from './http/response/index.ts';
import type { Reply } from './http/response/reply.ts';
import type { Stopping } from './http/response/stopping.ts';
import { bunPattern, pick, type Route, routesOf, unknownRoute } from './http/router.ts';
import { whenReady } from './http/when-ready.ts';
import type { Observer } from './operations/observe.ts';
import type { Clock } from './ports/clock.ts';
import type { Database, Transaction } from './storage/database.ts';
import type { PublishedVersion } from './versions.ts';

export interface AppOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly authenticator: Authenticator;
  /** What requests wait for: everything that has to be there from the start; undefined once it is. */
  readonly starting: () => Promise<void> | undefined;
  readonly stopping: Stopping;
  readonly quota: Quota;
  readonly idempotency: Idempotency;
  readonly observer: Observer;
  /** Called with every transaction of a request that has been committed. */
  readonly committed: (session: Transaction) => void;
  /** Each with its resources, below its prefix. */
  readonly versions: readonly PublishedVersion[];
  /** Beside them: /health and the other operational endpoints. */
  readonly operations: readonly Endpoint[];
}

/** The path's parameters as they were sent. */
type Params = Readonly<Record<string, string>>;
type Work = (session: Transaction) => Promise<Reply>;
type Handler = (request: BunRequest, server: Server<undefined>) => Response | Promise<Response>;

export interface App {
  /** Bun's route table: one entry for each path. */
  readonly routes: Record<string, Handler>;
  /** Every other path. */
  readonly fallback: (request: Request, server: Server<undefined>) => Response | Promise<Response>;
}

export function createApp(options: AppOptions): App {
  const { config, clock, stopping, quota, observer, idempotency, database, versions } = options;
  const negotiate = negotiation();
  const parseQuery = requests.queryParser();
  const refuseUnknownMembers = memberCheck();
  const cors = corsFor(config.CORS_ORIGINS);
  const turns = createTurns();
  const respond = responder({ clock, cors, quota, negotiate, compressor: compressor(), stopping });

  /** Host: 400. CORS: 204. A preflight carries no credentials and costs nothing. What is free needs no credentials. */
  function answer(exchange: Exchange, params: Params): Reply | Promise<Reply> {
    const { request, route, method } = exchange;
    checkHost(request);
    if (method === 'OPTIONS') return preflight(request, route);
    exchange.endpoint = route?.operations.get(method === 'HEAD' ? 'GET' : method)?.endpoint;
    if (exchange.endpoint?.free === true) return admitted(exchange, params);
    const started = options.starting();
    return started === undefined
      ? identifiedBy(exchange, params)
      : started.then(() => identifiedBy(exchange, params));
  }

  function identifiedBy(exchange: Exchange, params: Params): Reply | Promise<Reply> {
    const key = requests.queryParameter(exchange.url.search, 'api_key');
    return whenReady(identify(exchange.request.headers, key, exchange, options.authenticator), caller =>
      identified(exchange, params, caller),
    );
  }

  /** Quota: 429. It is charged to anyone who calls, whether or not they may do what they request. */
  function identified(exchange: Exchange, params: Params, caller: Caller): Reply | Promise<Reply> {
    exchange.caller = caller;
    return whenReady(quota.charge(caller.subject, limitOf(caller)), state => {
      exchange.quota = state;
      if (!state.allowed) {
        throw usedUp(`All ${state.limit} requests of this window are used`, state, options.clock.now());
      }
      return admitted(exchange, params);
    });
  }

  /** Requests per window: a key's own limit, or that of the role. */
  function limitOf(caller: Caller): number {
    if (caller.kind === 'key') return caller.rateLimit ?? config.RATE_LIMIT;
    const staff = caller.kind === 'user' && caller.role !== 'user';
    return (staff ? config.RATE_LIMIT_STAFF : undefined) ?? config.RATE_LIMIT;
  }

  /** Route: 404, 405. Negotiate: 406, 415. Access: 401, 403. */
  function admitted(exchange: Exchange, params: Params): Reply | Promise<Reply> {
    const { request, method } = exchange;
    const { endpoint, offered } = pick(exchange.route, method);
    const mediaType = negotiate.mediaType(request.headers.get('accept'), offered);
    if (mediaType === undefined) {
      throw new HttpError('NOT_ACCEPTABLE', { message: `Accept must allow one of ${offered.join(', ')}.` });
    }
    exchange.mediaType = mediaType;
    const { body } = endpoint;
    const sent = body !== undefined && hasBody(body, request.headers);
    const type = sent ? bodyType(request.headers, method, requests.bodyTypes(body)) : undefined;
    admit(exchange.caller, endpoint.access);
    return whenReady(confirmRead(exchange.caller, endpoint, options.authenticator, database.read), () =>
      parsed(exchange, endpoint, params, type),
    );
  }

  /** Parse: 400, 413. Then the handler: precondition 412, work 404, 409, 422. */
  function parsed(
    exchange: Exchange,
    endpoint: Endpoint,
    params: Params,
    /** Undefined when there is no body to parse. */
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
    return withBody(exchange, endpoint, body, type);
  }

  async function withBody(
    exchange: Exchange,
    endpoint: Endpoint,
    body: BodySpec,
    type: string,
  ): Promise<Reply> {
    const bytes = await readBody(exchange, requests.bodyLimit(body, type, config.BODY_LIMIT));
    const contentType = exchange.request.headers.get('content-type') ?? '';
    exchange.body = requests.parseBody(body, { type, contentType, strict: exchange.strict }, bytes, value => {
      if (exchange.strict) refuseUnknownMembers(endpoint, body, type, value);
    });
    exchange.bytes = requests.bodyIdentity(body, exchange.body, bytes);
    return endpoint.handle(exchange);
  }

  /**
   * The one transaction of a request; a repeated POST gets the response that the first one has stored. Anyone who calls
   * a protected operation is confirmed in it, before anything is written or given again: 401.
   */
  async function write(exchange: Exchange, work: Work, touches?: readonly string[]): Promise<Reply> {
    let used: Transaction | undefined;
    const checked: Work = async session => {
      used = session;
      const done = await work(session);
      // After the work, whose own errors come first; what it has written is undone (RFC 9110 §13.2.1).
      if (!exchange.conditionsChecked) {
        refuseConditions(exchange.request.headers, exchange.route?.operations.has('GET') === true);
      }
      return done;
    };
    const reply = await transaction(exchange, checked, touches);
    if (used !== undefined) options.committed(used);
    return reply;
  }

  async function transaction(exchange: Exchange, work: Work, touches?: readonly string[]): Promise<Reply> {
    const { endpoint, request, method, url, query, bytes, caller, mediaType } = exchange;
    const confirmed = async (session: Transaction): Promise<void> => {
      if (endpoint?.access.kind !== 'public') await options.authenticator.confirm(session, caller);
    };
    const honoured = method === 'POST' && endpoint?.idempotent !== false;
    const key = honoured ? idempotencyKeyOf(request.headers) : undefined;
    if (key === undefined) {
      const confirmedWork: Work = session => confirmed(session).then(() => work(session));
      return database.write(confirmedWork, { touches });
    }
    const repeatable = { caller: caller.subject, key, method, path: url.path, query, body: bytes, mediaType };
    const answered = await idempotency.run(repeatable, confirmed, work);
    exchange.mediaType = answered.mediaType;
    return answered.reply;
  }

  function preflight(request: Request, route: Route | undefined): Reply {
    const patch = route?.operations.get('PATCH')?.endpoint.body;
    const headers = {
      ...cors.preflight(request),
      ...(route === undefined || route.allow === '' ? {} : { Allow: route.allow }),
      ...(patch === undefined ? {} : { 'Accept-Patch': requests.bodyTypes(patch).join(', ') }),
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
    const url = urlOf(request, BASE_URL, TRUST_PROXY, serverContext.localBase);
    const exchange = new Exchange(request, route, requests.requestIdOf(request.headers), url, serverContext);
    let sent: Response | Promise<Response>;
    try {
      sent = whenReady(answer(exchange, params), reply => respond.respond(exchange, reply));
    } catch (error) {
      sent = respond.respond(exchange, respond.failure(exchange, error));
    }
    return sent instanceof Promise ? onceSent(exchange, sent) : observed(exchange, sent);
  }

  async function onceSent(exchange: Exchange, sent: Promise<Response>): Promise<Response> {
    let response: Response;
    try {
      response = await sent;
    } catch (error) {
      response = await respond.respond(exchange, respond.failure(exchange, error));
    }
    if (exchange.unread !== undefined) response = await droppingRest(response, exchange.unread);
    return observed(exchange, response);
  }

  function observed(exchange: Exchange, response: Response): Response {
    observer.served(exchange, response.status);
    return response;
  }

  /** The same for all requests of one server. */
  let serverContext: ServerContext | undefined;
  const contextOf = (server: Server<undefined>): ServerContext => {
    serverContext ??= {
      addressOf: request =>
        addressOf(server.requestIP(request)?.address, request.headers, config.TRUST_PROXY),
      isLocal: request => isLocal(server.requestIP(request)?.address, request.headers),
      localBase: `http://localhost:${server.port}`,
      now: options.clock.now,
      write,
    };
    return serverContext;
  };

  const routes: Record<string, Handler> = {};
  const all = [
    ...versions.flatMap(version => routesOf(version.endpoints, version)),
    ...routesOf(options.operations, undefined),
  ];
  for (const route of all) {
    routes[bunPattern(route.path)] = (request, server) => {
      database.refresh();
      return turns.enter(route.urgent, () => serve(route, request.params, request, contextOf(server)));
    };
  }
  // A path that a version does not have is still answered by that version.
  const unknown = versions.map(version => ({ prefix: `/${version.name}/`, route: unknownRoute(version) }));
  return {
    routes,
    fallback(request, server) {
      database.refresh();
      const serverContext = contextOf(server);
      const { path } = urlOf(request, undefined, false, serverContext.localBase);
      const route = unknown.find(({ prefix }) => path.startsWith(prefix))?.route;
      return turns.enter(false, () => serve(route, {}, request, serverContext));
    },
  };
}
