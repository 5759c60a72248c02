/**
 * The definition of an endpoint: method, path, access rule, schemas of its input and output, and a short handler. The
 * schemas validate requests and generate the OpenAPI document; app.ts runs the endpoint.
 */
import type { z } from 'zod';
import type { Cause } from '../events/outbox.ts';
import type { Transaction } from '../storage/database.ts';
import type { Access, Caller } from './access.ts';
import type { ErrorCode } from './errors.ts';
import { halJson } from './negotiate.ts';
import type { Policy, Quota, QuotaState } from './quota/index.ts';
import type { Reply } from './response/reply.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type ObjectSchema = z.ZodObject | undefined;
/** The output type of a schema; undefined without a schema. */
export type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

/** A body that is a file, raw or as the part `file` of a form, or alternatively JSON. */
export interface UploadSpec {
  readonly kind: 'upload';
  readonly schema: z.ZodType;
  readonly example?: unknown;
  /** Schema of the texts that a form may have in addition to the file. */
  readonly texts: z.ZodObject;
  /** The media types of the raw file, which may be ranges: `image/*`. They do not prove what it contains. */
  readonly types: readonly string[];
  /** Maximum size of the file in bytes. */
  readonly limit: number;
}

export type UploadBody<Json, Texts> =
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'file'; readonly file: Uint8Array; readonly texts: Texts };

/** The kinds of request bodies. A PATCH has three media types, and its schema checks the result. */
export type BodySpec =
  | UploadSpec
  | {
      readonly kind: 'json';
      readonly schema: z.ZodType;
      readonly example?: unknown;
      /** The body may be missing; it is undefined then. */
      readonly optional?: true;
    }
  | { readonly kind: 'patch'; readonly schema: z.ZodObject; readonly example?: unknown }
  | {
      /** JSON that the handler receives unparsed, because its bytes are signed. */
      readonly kind: 'raw';
      /** For the document only. */
      readonly schema: z.ZodType;
      readonly example?: unknown;
      /** Maximum size in bytes, instead of BODY_LIMIT. */
      readonly limit: number;
    };

/** The parsed body of a PATCH: a valid partial object, or a patch document that has not been applied yet. */
export type PatchBody<T> =
  | { readonly kind: 'partial'; readonly changes: T }
  | {
      readonly kind: 'merge';
      readonly patch: unknown;
      /** Whether a change of a read-only member is refused (`Prefer: handling=strict`). */
      readonly strict?: boolean;
    }
  | { readonly kind: 'operations'; readonly patch: unknown };

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
  /** The schema of the resource in the request body, if this response wraps it or shows something else. */
  readonly representation?: z.ZodType;
  readonly example?: unknown;
  /** Headers in addition to those of every response: name → description. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly mediaType?: string;
  /** The schema of the HAL representation, which the endpoint then offers: see hal/index.ts. */
  readonly hal?: z.ZodType;
  /** Further media types that are offered, as files without a schema: `application/pdf`. */
  readonly otherMediaTypes?: readonly string[];
  /** Has an entity tag without a schema: a page or a script. */
  readonly tagged?: true;
}

/**
 * The argument of a handler: the parsed parts of the request, and the actions available for it. It is implemented by
 * the Exchange of exchange.ts, which passes through all layers with one request and has further members for them; for
 * an older version of the API the handler receives a view of it. RequestContext of resources/context.ts is the part
 * that decides how a resource is shown.
 */
export interface HandlerContext<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** The requested address; `base` is absolute and ends before the version's prefix. */
  readonly url: RequestUrl;
  readonly requestId: string;
  readonly address: string;
  /** Whether it was made on this machine: to a loopback address, through no proxy, by no page of another origin. */
  readonly isLocal: boolean;
  /** The Authorization header as it was sent. */
  readonly authorization: string | null;
  /** Any other header as it was sent. */
  header(name: string): string | null;
  /** The media type negotiated for the response. */
  readonly mediaType: string;
  /** Whether unknown parameters and members are refused instead of ignored: `Prefer: handling=strict`. */
  readonly strict: boolean;
  /**
   * Checks If-Match and the other preconditions against the current resource (RFC 9110 §13).
   * @param bodyOf gives the body of a GET here, called if there are any; @param lastModified epoch milliseconds
   * @throws HttpError 412
   */
  precondition(bodyOf: () => string, lastModified?: number): void;
  /**
   * Charges a quota of the operation's own; the response shows its numbers instead of the caller's.
   * @param message which quota is used up, for people
   * @throws HttpError 429
   */
  charge(quota: Quota, subject: string, message: string): Promise<void>;
  /** Makes the response show a limit of the operation's own instead of the caller's. */
  showQuota(policy: Policy, state: QuotaState): void;
  /** This request, now, as the cause of its changes. */
  cause(): Cause;
  /**
   * Runs the one transaction of this request; with Idempotency-Key, its response is stored in it.
   * @param touches allows it to share a transaction with others: see WriteOptions in storage/database.ts
   */
  write(work: (session: Transaction) => Promise<Reply>, touches?: readonly string[]): Promise<Reply>;
}

export interface RequestUrl {
  readonly base: string;
  readonly path: string;
  /** Without the question mark; empty if there is no query. */
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
  /** Errors of this endpoint; the document adds those of the layers. */
  readonly errors?: readonly ErrorCode[];
  /** Whether a POST honours Idempotency-Key; true unless its response holds tokens, which must not be repeated. */
  readonly idempotent?: boolean;
  /** Responds 400 and 404 with only `{error: message}`, as the specification requires for todos. */
  readonly plainErrors?: boolean;
  /** Responds the same whether or not the resource in its path exists: never 404. */
  readonly neverNotFound?: true;
  /** Exempt from the quota, and its caller is not identified: for endpoints that machines poll, such as /health. */
  readonly exemptFromQuota?: boolean;
  /** Why all requests are 404, if the settings do not provide for the operation: their bodies are not read. */
  readonly notOffered?: string;
  /** Served ahead of queued requests: cheap endpoints that show whether the process is alive. */
  readonly bypassesQueue?: boolean;
  /** The media types of a success, preferred first; JSON by default. */
  readonly produces?: readonly string[];
  readonly handle: (context: HandlerContext<Output<P>, Output<Q>, BodyOutput<B>>) => Reply | Promise<Reply>;
}

/** An endpoint with its schema types erased; only `createEndpoint` creates it. */
export interface Endpoint
  extends Omit<EndpointSpec<ObjectSchema, ObjectSchema, BodySpec | undefined>, 'handle'> {
  readonly handle: (context: HandlerContext<unknown, unknown, unknown>) => Reply | Promise<Reply>;
}

/** Checks the type of a handler against its schemas, then erases it. */
export function createEndpoint<
  P extends ObjectSchema = undefined,
  Q extends ObjectSchema = undefined,
  B extends BodySpec | undefined = undefined,
>(spec: EndpointSpec<P, Q, B>): Endpoint {
  // Boundary: app.ts passes values parsed by these schemas, so the context has the handler's type.
  return spec as unknown as Endpoint;
}

/**
 * The media types of a response, preferred first.
 * @param usual the media types of JSON here: its own and the version's
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

export function getOfferedTypes(endpoint: Endpoint, usual: readonly string[]): readonly string[] {
  const successes = Object.entries(endpoint.responses).filter(([status]) => Number(status) < 300);
  const types = successes.flatMap(([, { mediaType: _, ...spec }]) => getMediaTypes(endpoint, spec, usual));
  return types.length === 0 ? usual : [...new Set(types)];
}

export const honoursIdempotency = ({ method, idempotent }: Endpoint): boolean =>
  method === 'POST' && idempotent !== false;

/** Whether to parse the body of a request; only an optional one may be missing. */
export const mustParse = (body: BodySpec, headers: Headers): boolean =>
  body.kind !== 'json' || body.optional !== true || hasBody(headers);

/** Whether a request has a body. Content-Type does not show that (RFC 9112 §6): many clients send it with every request. */
export function hasBody(headers: Headers): boolean {
  const length = headers.get('content-length');
  return headers.has('transfer-encoding') || (length !== null && length !== '0');
}
