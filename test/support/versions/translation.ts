/**
 * Publishes an endpoint of one version in another, with a different representation. Both share one handler, and with it
 * all actions, checks and writes. It moves to src/http/versions/ with the first breaking change: CONTRIBUTING.md explains
 * when and how ("Publishing a breaking change").
 *
 * Terms: `old` is the version whose handler runs, `new` the version of the request.
 */

import type {
  BodySpec,
  Endpoint,
  HandlerContext,
  PatchBody,
  ResponseSpec,
} from '../../../src/http/endpoint.ts';
import {
  buildErrorDetail,
  createValidationError,
  type ErrorDetail,
  HttpError,
} from '../../../src/http/errors.ts';
import type { Reply } from '../../../src/http/response/reply.ts';
import { toErrorDetails } from '../../../src/http/schema.ts';
import { isObject } from '../../../src/json-object.ts';

type Members = Readonly<Record<string, unknown>>;

export interface Translation {
  readonly query?: Endpoint['query'];
  readonly body?: BodySpec;
  readonly responses?: Readonly<Record<number, ResponseSpec>>;
  /** Parsed new query → old query. */
  readonly queryToOld?: (query: Members) => Members;
  /** New body → body of the old version, as a client would send it; in a partial body any member may be missing. */
  readonly bodyToOld?: (body: Members) => Members;
  /** Body of a success of the old endpoint → body of the new one. */
  readonly responseToNew?: (body: Members) => Members;
  /** Renamed members, old name → new name: errors and the pointers of patches follow them. */
  readonly renamed?: Readonly<Record<string, string>>;
}

export function translateEndpoint(endpoint: Endpoint, translation: Translation): Endpoint {
  const { query, body, responses } = translation;
  return {
    ...endpoint,
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    ...(responses === undefined ? {} : { responses }),
    async handle(context) {
      try {
        return toNewReply(await endpoint.handle(toOldContext(endpoint, context, translation)), translation);
      } catch (error) {
        throw error instanceof HttpError ? toNewError(error, translation) : error;
      }
    },
  };
}

type AnyContext = HandlerContext<unknown, unknown, unknown>;

function toOldContext(endpoint: Endpoint, context: AnyContext, translation: Translation): AnyContext {
  const { queryToOld, bodyToOld } = translation;
  const { query, body } = context;
  // A view of the request: other members are inherited from it.
  return Object.create(context, {
    // Boundary: request/index.ts parsed both with the translation's schemas, which describe objects.
    ...(queryToOld === undefined ? {} : { query: { value: queryToOld(query as Members) } }),
    ...(bodyToOld === undefined || endpoint.body === undefined || body === undefined
      ? {}
      : { body: { value: toOldBody(endpoint.body, body as Members | PatchBody<Members>, translation) } }),
    precondition: {
      // Callers know the validator of the new representation.
      value: (oldOf: () => string, lastModified?: number) =>
        context.precondition(() => toNewText(oldOf(), translation), lastModified),
    },
  });
}

function toOldBody(spec: BodySpec, body: Members | PatchBody<Members>, translation: Translation): unknown {
  const { bodyToOld = keepBody, renamed = {} } = translation;
  // Parsed like the body of a client of the old version: the old schema adds its defaults.
  const parseOld = (sent: Members): unknown => {
    const result = spec.schema.safeParse(bodyToOld(sent));
    if (result.success) return result.data;
    throw createValidationError(toErrorDetails(result.error));
  };
  // Boundary: request/index.ts built a body of the kind that the endpoint declares.
  if (spec.kind !== 'patch') return parseOld(body as Members);
  const patch = body as PatchBody<Members>;
  if (patch.kind === 'partial') return { ...patch, changes: parseOld(patch.changes) };
  if (patch.kind === 'merge')
    return isObject(patch.patch) ? { ...patch, patch: bodyToOld(patch.patch) } : patch;
  const toOld = new Map(Object.entries(renamed).map(([old, name]) => [name, old]));
  const operations: unknown = patch.patch;
  if (!Array.isArray(operations)) return patch;
  return { ...patch, patch: operations.map(operation => toOldOperation(operation, toOld)) };
}

const keepBody = (body: Members) => body;

/** Translates the pointers to renamed members; values below the top level of the document are unchanged. */
function toOldOperation(operation: unknown, toOld: ReadonlyMap<string, string>): unknown {
  if (!isObject(operation)) return operation;
  const changed: Record<string, unknown> = { ...operation };
  for (const member of ['path', 'from']) {
    const pointer = changed[member];
    if (typeof pointer !== 'string' || !pointer.startsWith('/')) continue;
    const slash = pointer.indexOf('/', 1);
    const end = slash === -1 ? pointer.length : slash;
    const old = toOld.get(pointer.slice(1, end));
    if (old !== undefined) changed[member] = `/${old}${pointer.slice(end)}`;
  }
  return changed;
}

function toNewReply(reply: Reply, translation: Translation): Reply {
  const { body } = reply;
  const isJson = reply.mediaType.endsWith('json') && body !== null && !(body instanceof Blob);
  if (!isJson || translation.responseToNew === undefined) return reply;
  // The entity tag is that of the old body.
  const { etag: _, ...rest } = reply;
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  return { ...rest, body: toNewText(text, translation) };
}

function toNewText(old: string, { responseToNew }: Translation): string {
  // Boundary: representations are JSON objects, written by the handler.
  return responseToNew === undefined ? old : JSON.stringify(responseToNew(JSON.parse(old) as Members));
}

function toNewError(error: HttpError, { renamed = {} }: Translation): HttpError {
  const details = error.details?.map(detail => toNewDetail(detail, renamed));
  const named = Object.keys(renamed).find(old => error.message.startsWith(`${old}: `));
  const message =
    named === undefined ? error.message : `${renamed[named]}${error.message.slice(named.length)}`;
  const { headers, cause } = error;
  return new HttpError(error.code, {
    message,
    headers,
    cause,
    ...(details === undefined ? {} : { details }),
  });
}

function toNewDetail(detail: ErrorDetail, renamed: Readonly<Record<string, string>>): ErrorDetail {
  const [first = ''] = detail.field.split('.');
  const name = Object.hasOwn(renamed, first) ? renamed[first] : undefined;
  return name === undefined ? detail : renameDetail(detail, first, name);
}

/** The same problem with the first name of its path replaced. */
export function renameDetail(detail: ErrorDetail, first: string, name: string): ErrorDetail {
  const rest = detail.pointer.indexOf('/', '#/'.length);
  const { pointer } = buildErrorDetail([name], detail.code, detail.message);
  return {
    ...detail,
    field: `${name}${detail.field.slice(first.length)}`,
    pointer: rest === -1 ? pointer : pointer + detail.pointer.slice(rest),
  };
}
