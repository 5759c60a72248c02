/** The errors of the document: those that each endpoint may send, and a shared response for each status. */

import { STATUS_CODES } from 'node:http';
import { getMemberNames } from '../../json-object.ts';
import { type Endpoint, honoursIdempotency } from '../endpoint.ts';
import { buildErrorDetail, type ErrorCode, errorTable } from '../errors.ts';
import { json, problemJson } from '../negotiate.ts';
import { getStatusPhrase } from '../response/error-body.ts';
import { buildHeaders, type ParticularHeader } from './headers.ts';
import type { SchemaObject, Schemas } from './schemas.ts';

const codes = getMemberNames(errorTable);

/** Whether an endpoint is a GET with an entity tag, which may respond 304. */
export function isConditional({ method, responses }: Endpoint): boolean {
  const success = responses[200];
  return method === 'GET' && (success?.schema !== undefined || success?.tagged === true);
}

/** The codes that any endpoint may send: described once, with the parts that every path has. */
export const commonErrors: readonly ErrorCode[] = [
  'INVALID_HOST',
  // Even without parameters and body, `Prefer: handling=strict` is checked.
  'VALIDATION_FAILED',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'INTERNAL_ERROR',
];

/** The codes that an endpoint may send, its own and those of the layers, in the order of the table. */
export function collectErrors(endpoint: Endpoint): ErrorCode[] {
  const found = new Set<ErrorCode>([...generateLayerErrors(endpoint), ...(endpoint.errors ?? [])]);
  return codes.filter(code => found.has(code));
}

/** Errors of every endpoint that uses the database, which are exactly those that a quota counts. */
const fromDatabase = [
  'RATE_LIMITED',
  'DATABASE_UNAVAILABLE',
  'DATABASE_READ_ONLY',
  'DATABASE_MOVED',
  'DATABASE_DAMAGED',
] as const;

/** The errors of the stages of app.ts, in their order. */
function* generateLayerErrors(endpoint: Endpoint): Generator<ErrorCode> {
  const { method, access, body, params } = endpoint;
  yield* commonErrors;
  if (endpoint.exemptFromQuota !== true) yield* fromDatabase;
  if (endpoint.exemptFromQuota !== true && (method === 'GET' || body !== undefined)) yield 'SERVICE_BUSY';
  if (access.kind === 'protected') yield* ['UNAUTHORIZED', 'TOKEN_EXPIRED', 'FORBIDDEN'] as const;
  if (params !== undefined && endpoint.neverNotFound !== true) yield 'NOT_FOUND';
  if (body !== undefined) {
    yield* ['UNSUPPORTED_MEDIA_TYPE', 'EXPECTATION_FAILED', 'PAYLOAD_TOO_LARGE', 'MALFORMED_JSON'] as const;
  }
  if (body?.kind === 'patch') {
    yield* ['MALFORMED_PATCH', 'PATCH_TEST_FAILED', 'PATCH_PATH_NOT_FOUND', 'PATCH_RESULT_INVALID'] as const;
  }
  if (honoursIdempotency(endpoint)) {
    yield* ['INVALID_IDEMPOTENCY_KEY', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'] as const;
  }
  if (method !== 'GET' || isConditional(endpoint)) yield 'PRECONDITION_FAILED';
  if (method !== 'GET') yield 'STORAGE_FULL';
}

/** `400` → `BadRequest`. */
export function toResponseName(status: number): string {
  return (STATUS_CODES[status] ?? `Status ${status}`).replaceAll(/\W+/g, '');
}

export function collectStatuses(found: readonly ErrorCode[]): number[] {
  return [...new Set(found.map(code => errorTable[code].status))].sort((a, b) => a - b);
}

const headersByStatus: Readonly<Record<number, readonly ParticularHeader[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  409: ['Retry-After'],
  416: ['Accept-Ranges', 'Content-Range'],
  415: ['Accept', 'Accept-Post', 'Accept-Patch'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The shared response of a status, with all its codes. */
export function buildErrorResponse(status: number, schemas: Schemas): SchemaObject {
  const own = codes.filter(code => errorTable[code].status === status);
  const base = schemas.named('Error', buildErrorSchema(schemas));
  const problem = schemas.named('Problem', buildProblemSchema(schemas));
  const kind = schemas.named(`${toResponseName(status)}Code`, {
    type: 'string',
    description: `The codes of status ${status}.`,
    enum: own,
    'x-enum-descriptions': own.map(code => errorTable[code].message),
  });
  const refineSchema = (schema: SchemaObject) => ({
    allOf: [
      schema,
      { type: 'object', properties: { error: { ...kind, description: 'A stable code of this status.' } } },
    ],
  });
  return {
    description: own.map(code => `\`${code}\`: ${errorTable[code].message}`).join('\n\n'),
    headers: buildHeaders(['Content-Encoding', ...(headersByStatus[status] ?? [])]),
    content: {
      [json]: { schema: refineSchema(base), examples: buildNamedExamples(own, buildErrorExample) },
      [problemJson]: {
        schema: refineSchema(problem),
        examples: buildNamedExamples(own.slice(0, 1), buildProblemExample),
      },
    },
  };
}

/** The statuses whose body is only `{error}` for some resources. */
export const plainStatuses: readonly number[] = [400, 404];

/** `400` → `PlainBadRequest`. */
export const toPlainName = (status: number): string => `Plain${toResponseName(status)}`;

export function buildPlainResponse(status: number, schemas: Schemas): SchemaObject {
  const schema = schemas.named('PlainError', {
    type: 'object',
    description: 'What went wrong, in one sentence.',
    properties: { error: buildTextSchema(4096, 'What happened, for people.') },
    required: ['error'],
    examples: [{ error: 'title: is required' }],
  });
  const shared = buildErrorResponse(status, schemas);
  const example = { error: status === 404 ? 'There is no todo 7.' : 'title: is required' };
  // Boundary: buildErrorResponse built it.
  const content = shared.content as Record<string, SchemaObject>;
  return { ...shared, content: { ...content, [json]: { schema, example } } };
}

function buildNamedExamples(
  own: readonly ErrorCode[],
  make: (code: ErrorCode) => SchemaObject,
): SchemaObject {
  return Object.fromEntries(own.map(code => [code, { value: make(code) }]));
}

const requestId = '3f8e2a51-7c94-4b0d-9e16-52d7a0c4b8f3';
const detailExample = buildErrorDetail(['price'], 'minimum', 'must be 0 or more');

function buildErrorExample(code: ErrorCode): SchemaObject {
  const details = code === 'VALIDATION_FAILED' ? { details: [detailExample] } : {};
  return { error: code, message: errorTable[code].message, requestId, ...details };
}

function buildProblemExample(code: ErrorCode): SchemaObject {
  const { status, message } = errorTable[code];
  const standard = { type: 'about:blank', title: getStatusPhrase(status), status, detail: message };
  return { ...standard, instance: `urn:request:${requestId}`, ...buildErrorExample(code) };
}

const buildTextSchema = (maxLength: number, description: string): SchemaObject => ({
  type: 'string',
  maxLength,
  pattern: '\\S',
  description,
});

function buildErrorMembers(schemas: Schemas): Record<string, SchemaObject> {
  const detail = schemas.named('ErrorDetail', {
    type: 'object',
    description: 'One problem with one field.',
    properties: {
      field: buildTextSchema(1024, 'The field, as in `items.0.quantity`; `body` for the whole body.'),
      pointer: buildTextSchema(
        1024,
        'A JSON Pointer into the body as a URI fragment (RFC 6901 section 6), or the name of a parameter after `#/`.',
      ),
      code: buildTextSchema(64, 'The broken rule: the keyword of JSON Schema if there is one.'),
      message: buildTextSchema(4096, 'What the rule requires, for people.'),
    },
    required: ['field', 'pointer', 'code', 'message'],
    examples: [detailExample],
  });
  return {
    error: {
      type: 'string',
      maxLength: 64,
      pattern: '^[A-Z][A-Z_]*$',
      description: 'A stable code. New ones may be added.',
    },
    message: buildTextSchema(4096, 'What happened, for people.'),
    requestId: buildTextSchema(255, 'As in X-Request-ID.'),
    details: {
      type: 'array',
      maxItems: 10_000,
      items: detail,
      description: 'The individual problems.',
    },
  };
}

function buildErrorSchema(schemas: Schemas): SchemaObject {
  return {
    type: 'object',
    description: 'What went wrong.',
    properties: buildErrorMembers(schemas),
    required: ['error', 'message', 'requestId'],
    examples: [buildErrorExample('NOT_FOUND')],
  };
}

function buildProblemSchema(schemas: Schemas): SchemaObject {
  const uri = { type: 'string', format: 'uri-reference', maxLength: 1024 };
  return {
    type: 'object',
    description: 'What went wrong, in the format of RFC 9457; sent if Accept names application/problem+json.',
    properties: {
      type: { ...uri, description: 'Always `about:blank`; `error` distinguishes errors.' },
      title: buildTextSchema(64, 'The reason phrase of the status.'),
      status: {
        type: 'integer',
        format: 'int32',
        minimum: 400,
        maximum: 599,
        description: 'The status of the response.',
      },
      detail: buildTextSchema(4096, 'The same as `message`.'),
      instance: { ...uri, description: 'A URN with the id of the request.' },
      ...buildErrorMembers(schemas),
    },
    required: ['type', 'title', 'status', 'detail', 'instance', 'error', 'message', 'requestId'],
    examples: [buildProblemExample('NOT_FOUND')],
  };
}
