/**
 * What an endpoint is: method, path, who may use it, the schemas of what it takes and gives, and a handler of
 * a few lines. The schemas validate requests and make the OpenAPI document; app.ts runs the endpoint.
 */
import type { z } from 'zod';
import type { Cause } from '../events/outbox.ts';
import type { Transaction } from '../storage/database.ts';
import type { Access, Caller } from './access.ts';
import type { ErrorCode } from './errors.ts';
import { halJson } from './negotiate.ts';
import type { Quota, QuotaState } from './quota/index.ts';
import type { Reply } from './response/reply.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type ObjectSchema = z.ZodObject | undefined;
/** What a schema gives; undefined where there is none. */
export type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

/** A body that is a file, raw or as the part `file` of a form; or JSON instead. */
export interface UploadSpec {
  readonly kind: 'upload';
  /** Schema of the JSON. */
  readonly schema: z.ZodType;
  readonly example?: unknown;
  /** Schema of the texts that a form may have beside the file. */
  readonly texts: z.ZodObject;
  /** The media types of the raw file, which may be ranges: `image/*`. They say how it is sent, not what it is. */
  readonly types: readonly string[];
  /** Bytes of the file at most. */
  readonly limit: number;
}

/** The parsed body of an upload. */
export type UploadBody<Json, Texts> =
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'file'; readonly file: Uint8Array; readonly texts: Texts };

/** What a request body may be: one schema, or a PATCH in three media types whose schema checks the result. */
export type BodySpec =
  | UploadSpec
  | {
      readonly kind: 'json';
      readonly schema: z.ZodType;
      readonly example?: unknown;
      /** May be left out altogether: then it is undefined. */
      readonly optional?: true;
    }
  | { readonly kind: 'patch'; readonly schema: z.ZodObject; readonly example?: unknown }
  | {
      /** JSON that the handler gets as it was sent, unparsed: what is signed is its bytes. */
      readonly kind: 'raw';
      /** For the document only. */
      readonly schema: z.ZodType;
      readonly example?: unknown;
      /** Bytes at most, in place of BODY_LIMIT. */
      readonly limit: number;
    };

/** The parsed body of a PATCH: a partial object that is valid, or a patch document still to be applied. */
export type PatchBody<T> =
  | { readonly kind: 'partial'; readonly changes: T }
  | {
      readonly kind: 'merge';
      readonly patch: unknown;
      /** Whether it may leave read-only members only as they are (`Prefer: handling=strict`). */
      readonly strict?: boolean;
    }
  | { readonly kind: 'operations'; readonly patch: unknown };

/** What a handler gets of a body. */
export type BodyOutput<B> = B extends { kind: 'json'; schema: infer S; optional: true }
  ? Output<S> | undefined
  : B extends { kind: 'json'; schema: infer S }
    ? Output<S>
    : B extends { kind: 'patch'; schema: infer S }
      ? PatchBody<Output<S>>
      : B extends { kind: 'upload'; schema: infer S; texts: infer T }
        ? UploadBody<Output<S>, Output<T>>
        : B extends { kind: 'raw' }
          ? Uint8Array
          : undefined;

export interface ResponseSpec {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** The schema of what the request's body is of, where this body wraps it or is of something else. */
  readonly representation?: z.ZodType;
  readonly example?: unknown;
  /** Headers beyond those that every response has: name → description. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly mediaType?: string;
  /** The same as application/hal+json, which the endpoint then offers: see hal/index.ts. */
  readonly hal?: z.ZodType;
  /** Further media types it can be had in, as files without a schema: `application/pdf`. */
  readonly otherMediaTypes?: readonly string[];
  /** Has an entity tag though it has no schema: a page or a script. */
  readonly tagged?: true;
}

/**
 * What a handler is given: the request's parsed parts, and what it can have done with it. The Exchange of exchange.ts,
 * which goes through all layers with one request, is one, with what only they need besides; for an older version of the
 * API the handler gets a view of it. RequestContext of resources/context.ts is the part that decides how a resource is
 * shown.
 */
export interface HandlerContext<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** The request's address; `base` is absolute and ends before the version's prefix. */
  readonly url: RequestUrl;
  readonly requestId: string;
  readonly address: string;
  /** Whether the request was made on this machine, over the loopback interface and through no proxy. */
  readonly isLocal: boolean;
  /** The Authorization header as it was sent. */
  readonly authorization: string | null;
  /** Any other header as it was sent. */
  header(name: string): string | null;
  /** The media type that was negotiated for the response. */
  readonly mediaType: string;
  /** Whether what the operation does not know is refused instead of ignored: `Prefer: handling=strict`. */
  readonly strict: boolean;
  /**
   * Checks If-Match and the other preconditions against the resource as it is now (RFC 9110 §13).
   * @param bodyOf gives what a GET of this address returns, where there are any; @param lastModified epoch milliseconds
   * @throws HttpError 412
   */
  precondition(bodyOf: () => string, lastModified?: number): void;
  /**
   * Charges a quota of the operation's own, whose numbers the response then shows in place of the caller's.
   * @param message what is used up, for people
   * @throws HttpError 429
   */
  charge(quota: Quota, subject: string, message: string): Promise<void>;
  /** Has the response show a limit of the operation's own in place of the caller's. */
  showQuota(quota: Pick<Quota, 'limit' | 'window'>, state: QuotaState): void;
  /** This request as the cause of what it changes, at this moment. */
  cause(): Cause;
  /**
   * Runs the one transaction of this request; with Idempotency-Key, its response is stored in it.
   * @param touches lets it share one with others: see WriteOptions in storage/database.ts
   */
  write(work: (session: Transaction) => Promise<Reply>, touches?: readonly string[]): Promise<Reply>;
}

export interface RequestUrl {
  readonly base: string;
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly search: string;
}

export interface EndpointSpec<
  P extends ObjectSchema,
  Q extends ObjectSchema,
  B extends BodySpec | undefined,
> {
  readonly method: Method;
  /** With `{name}` for parameters, below the version's prefix: `/products/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly access: Access;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** Errors particular to this endpoint; those of the layers are added to the document for all. */
  readonly errors?: readonly ErrorCode[];
  /** Whether a POST honours Idempotency-Key; true unless the response holds tokens, of which each sign-in has its own. */
  readonly idempotent?: boolean;
  /** Responds 400 and 404 with `{error: message}` and nothing else, as the specification has it for todos. */
  readonly plainErrors?: boolean;
  /** Responds the same whether or not what its path names exists: never 404. */
  readonly neverNotFound?: true;
  /** Not charged to the quota, and its caller not identified: what machines request all the time, such as /health. */
  readonly exemptFromQuota?: boolean;
  /** Served before requests that wait for their turn: little work, which shows whether the process is alive. */
  readonly bypassesQueue?: boolean;
  /** The media types of a success, preferred first; JSON when not given. */
  readonly produces?: readonly string[];
  readonly handle: (context: HandlerContext<Output<P>, Output<Q>, BodyOutput<B>>) => Reply | Promise<Reply>;
}

/** An endpoint whose schemas have been forgotten by the type system; made only by `createEndpoint`. */
export interface Endpoint
  extends Omit<EndpointSpec<ObjectSchema, ObjectSchema, BodySpec | undefined>, 'handle'> {
  readonly handle: (context: HandlerContext<unknown, unknown, unknown>) => Reply | Promise<Reply>;
}

/** Checks a handler against its schemas, then lets it stand among endpoints of all kinds. */
export function createEndpoint<
  P extends ObjectSchema = undefined,
  Q extends ObjectSchema = undefined,
  B extends BodySpec | undefined = undefined,
>(spec: EndpointSpec<P, Q, B>): Endpoint {
  // Boundary: app.ts passes what these very schemas have parsed, so the context has the handler's type.
  return spec as unknown as Endpoint;
}

/**
 * The media types that a response of this kind can be had in, the preferred one first.
 * @param usual what JSON goes by here: its own name and the version's
 */
export function getMediaTypes(
  { produces }: Pick<Endpoint, 'produces'>,
  { mediaType, hal, otherMediaTypes }: ResponseSpec,
  usual: readonly string[],
): readonly string[] {
  if (produces !== undefined) return produces;
  if (mediaType !== undefined) return [mediaType];
  return [...usual, ...(hal === undefined ? [] : [halJson]), ...(otherMediaTypes ?? [])];
}

/** The media types of all its successes. */
export function getOfferedTypes(endpoint: Endpoint, usual: readonly string[]): readonly string[] {
  const successes = Object.entries(endpoint.responses).filter(([status]) => Number(status) < 300);
  const types = successes.flatMap(([, { mediaType: _, ...spec }]) => getMediaTypes(endpoint, spec, usual));
  return types.length === 0 ? usual : [...new Set(types)];
}

/**
 * Whether a request has the body that its operation takes; only an optional one may be missing. Content-Type says
 * nothing of it (RFC 9112 §6): many clients send that with each request.
 */
export function hasBody(body: BodySpec, headers: Headers): boolean {
  if (body.kind !== 'json' || body.optional !== true) return true;
  const length = headers.get('content-length');
  return headers.has('transfer-encoding') || (length !== null && length !== '0');
}
