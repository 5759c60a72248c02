/** A path of the document with its operations; and HEAD and OPTIONS, which every path has. */
import { takeTurn } from '../../turns/index.ts';
import type { Access } from '../access.ts';
import { type Endpoint, honoursIdempotency } from '../endpoint.ts';
import type { Route } from '../router.ts';
import type { Version } from '../versions/lifecycle.ts';
import { buildRequestBody, buildSuccessResponse } from './bodies.ts';
import {
  collectErrors,
  collectStatuses,
  commonErrors,
  isConditional,
  plainStatuses,
  toPlainName,
  toResponseName,
} from './errors.ts';
import { buildHeaderParameters, buildShapeParameters, type HeaderParameter } from './parameters.ts';
import type { SchemaObject, Schemas } from './schemas.ts';

/** Builds a path of the document, with a turn of the event loop after each operation. */
export async function buildPathItem(route: Route, schemas: Schemas): Promise<SchemaObject> {
  const operations: Record<string, SchemaObject> = {};
  for (const [method, { endpoint }] of route.operations) {
    operations[method.toLowerCase()] = buildOperation(endpoint, route.version, schemas);
    await takeTurn();
  }
  const first = [...route.operations.values()][0]?.endpoint;
  const shared = buildHeaderParameters(['XRequestId', 'Prefer']);
  // The parameters of the path apply to every method, including HEAD and OPTIONS.
  const own = first === undefined ? [] : buildShapeParameters({ ...first, query: undefined }, schemas);
  return { parameters: [...own, ...shared], ...operations };
}

function buildOperation(endpoint: Endpoint, version: Version | undefined, schemas: Schemas): SchemaObject {
  const { access, body } = endpoint;
  const errors = collectErrors(endpoint).filter(code => !commonErrors.includes(code));
  const query = buildShapeParameters({ ...endpoint, params: undefined }, schemas);
  const parameters = [...query, ...buildHeaderParameters(getReadHeaders(endpoint))];
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: [endpoint.description, describeAccess(access)]
      .filter(part => part !== undefined)
      .join('\n\n'),
    security: buildSecurity(access),
    ...(access.kind === 'public' ? {} : { 'x-roles': access.roles }),
    ...(access.kind === 'public' || access.scope === undefined ? {} : { 'x-scope': access.scope }),
    'x-errors': errors,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: buildRequestBody(body, schemas) }),
    ...(version?.deprecatedSince === undefined ? {} : { deprecated: true }),
    responses: buildResponses(endpoint, version?.name, schemas),
  };
}

function getReadHeaders(endpoint: Endpoint): HeaderParameter[] {
  const inParts = endpoint.errors?.includes('RANGE_NOT_SATISFIABLE') === true;
  const partial = inParts ? (['Range', 'IfRange'] as const) : [];
  if (isConditional(endpoint)) return ['IfNoneMatch', 'IfModifiedSince', ...partial];
  const isGuarded = endpoint.errors?.includes('PRECONDITION_FAILED') === true;
  return [
    ...(honoursIdempotency(endpoint) ? (['IdempotencyKey'] as const) : []),
    ...(isGuarded ? (['IfMatch', 'IfUnmodifiedSince'] as const) : []),
  ];
}

/** The responses in ascending order; one that the endpoint describes itself replaces that of the layers. */
function buildResponses(
  endpoint: Endpoint,
  version: string | undefined,
  schemas: Schemas,
): Record<string, SchemaObject> {
  const responses: Record<string, SchemaObject> = {};
  if (isConditional(endpoint)) responses[304] = referToResponse('NotModified');
  for (const status of collectStatuses(collectErrors(endpoint))) {
    const plain = endpoint.plainErrors === true && plainStatuses.includes(status);
    responses[status] = referToResponse(plain ? toPlainName(status) : toResponseName(status));
  }
  for (const [status, spec] of Object.entries(endpoint.responses)) {
    responses[status] = buildSuccessResponse(endpoint, Number(status), spec, version, schemas);
  }
  return responses;
}

const referToResponse = (name: string): SchemaObject => ({ $ref: `#/components/responses/${name}` });

/**
 * The parts that every path has in addition to its own operations, described once: repeated for each path, they would
 * be a third of the document. This includes 431, which may come for any method and has no body. Among the responses of
 * each operation it would make every error type of generated clients possibly undefined.
 */
export function buildEveryPath(): SchemaObject {
  const tooLarge = { 431: referToResponse(toResponseName(431)) };
  return {
    summary: 'HEAD for every path with GET, and OPTIONS for every path',
    'x-errors': commonErrors,
    parameters: buildHeaderParameters(['XRequestId', 'Prefer']),
    head: {
      operationId: 'readHeaders',
      tags: ['Operation'],
      summary: 'Read the headers only',
      description:
        'The response to GET, with its parameters, credentials, statuses and headers, but without the body.',
      responses: {
        200: referToResponse('HeadersOnly'),
        304: referToResponse('NotModified'),
        ...tooLarge,
        500: referToResponse(toResponseName(500)),
      },
    },
    options: {
      operationId: 'readMethods',
      tags: ['Operation'],
      summary: 'Read the methods of this address; CORS preflight',
      description:
        'Browsers send it before a request from another origin. It needs no credentials and costs no quota.',
      security: [],
      responses: {
        204: referToResponse('Preflight'),
        400: referToResponse(toResponseName(400)),
        ...tooLarge,
        500: referToResponse(toResponseName(500)),
      },
    },
  };
}

function buildSecurity(access: Access): SchemaObject[] {
  if (access.kind === 'public') return [];
  const bearer = access.roles.length === 0 ? [] : [{ bearerAuth: [] }];
  return access.scope === undefined ? bearer : [...bearer, { apiKeyHeader: [] }, { apiKeyQuery: [] }];
}

function describeAccess(access: Access): string {
  if (access.kind === 'public') return 'Access: public.';
  const { roles } = access;
  const who = roles.length === 0 ? [] : [`the ${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')}`];
  if (access.scope !== undefined) who.push(`API keys with the scope \`${access.scope}\``);
  return `Access: ${who.join('; ')}.`;
}
