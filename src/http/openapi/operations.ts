/** One path of the document: its endpoints; and what every path has, HEAD and OPTIONS. */
import type { Slices } from '../../slices.ts';
import type { Access } from '../access.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Route } from '../router.ts';
import type { Version } from '../versions/lifecycle.ts';
import { requestBody, successResponse } from './bodies.ts';
import {
  errorsOf,
  honoursIdempotency,
  isConditional,
  plainName,
  plainStatuses,
  responseName,
  statusesOf,
} from './errors.ts';
import { type HeaderParameter, headerParameters, shapeParameters } from './parameters.ts';
import type { SchemaObject, Schemas } from './schemas.ts';

/** @param turn called between two operations */
export async function pathItem(route: Route, schemas: Schemas, turn: Slices['turn']): Promise<SchemaObject> {
  const operations: Record<string, SchemaObject> = {};
  for (const [method, { endpoint }] of route.operations) {
    operations[method.toLowerCase()] = operationOf(endpoint, route.version, schemas);
    await turn();
  }
  const first = [...route.operations.values()][0]?.endpoint;
  const shared = headerParameters(['XRequestId', 'Prefer']);
  // The path's own parameters are those of every method, HEAD and OPTIONS as well.
  const own = first === undefined ? [] : shapeParameters({ ...first, query: undefined }, schemas);
  return { parameters: [...own, ...shared], ...operations };
}

function operationOf(endpoint: Endpoint, version: Version | undefined, schemas: Schemas): SchemaObject {
  const { access, body } = endpoint;
  const errors = errorsOf(endpoint);
  const query = shapeParameters({ ...endpoint, params: undefined }, schemas);
  const parameters = [...query, ...headerParameters(headersReadBy(endpoint))];
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: [endpoint.description, accessText(access)].filter(part => part !== undefined).join('\n\n'),
    security: securityOf(access),
    ...(access.kind === 'public' ? {} : { 'x-roles': access.roles }),
    ...(access.kind === 'public' || access.scope === undefined ? {} : { 'x-scope': access.scope }),
    'x-errors': errors,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas) }),
    ...(version?.deprecatedSince === undefined ? {} : { deprecated: true }),
    responses: responsesOf(endpoint, version?.name, schemas),
  };
}

function headersReadBy(endpoint: Endpoint): HeaderParameter[] {
  const inParts = endpoint.errors?.includes('RANGE_NOT_SATISFIABLE') === true;
  const partial = inParts ? (['Range', 'IfRange'] as const) : [];
  if (isConditional(endpoint)) return ['IfNoneMatch', 'IfModifiedSince', ...partial];
  const isGuarded = endpoint.errors?.includes('PRECONDITION_FAILED') === true;
  return [
    ...(honoursIdempotency(endpoint) ? (['IdempotencyKey'] as const) : []),
    ...(isGuarded ? (['IfMatch', 'IfUnmodifiedSince'] as const) : []),
  ];
}

/** In ascending order; a status that the endpoint describes itself is not that of the layers. */
function responsesOf(
  endpoint: Endpoint,
  version: string | undefined,
  schemas: Schemas,
): Record<string, SchemaObject> {
  const responses: Record<string, SchemaObject> = {};
  if (isConditional(endpoint)) responses[304] = response('NotModified');
  for (const status of statusesOf(errorsOf(endpoint))) {
    const plain = endpoint.plainErrors === true && plainStatuses.includes(status);
    responses[status] = response(plain ? plainName(status) : responseName(status));
  }
  for (const [status, spec] of Object.entries(endpoint.responses)) {
    responses[status] = successResponse(endpoint, Number(status), spec, version, schemas);
  }
  return responses;
}

const response = (name: string): SchemaObject => ({ $ref: `#/components/responses/${name}` });

/**
 * What every path has beside its own operations, described once: repeated for each of them, it would be a third of the
 * document. 431 stands here, since it may come for any method and has no body: among the responses of each operation
 * it would make every error of generated clients one that may be undefined.
 */
export function everyPath(): SchemaObject {
  const tooLarge = { 431: response(responseName(431)) };
  return {
    summary: 'HEAD of every path that has GET, and OPTIONS of every path',
    parameters: headerParameters(['XRequestId', 'Prefer']),
    head: {
      operationId: 'readHeaders',
      tags: ['Operation'],
      summary: 'Headers only',
      description:
        'What GET returns, with its parameters, credentials, statuses and headers, but without the body.',
      responses: {
        200: response('HeadersOnly'),
        304: response('NotModified'),
        ...tooLarge,
        500: response(responseName(500)),
      },
    },
    options: {
      operationId: 'readMethods',
      tags: ['Operation'],
      summary: 'Methods of this address; CORS preflight',
      description:
        'Sent by browsers before a request from another origin. Needs no credentials, costs no quota.',
      security: [],
      responses: {
        204: response('Preflight'),
        400: response(responseName(400)),
        ...tooLarge,
        500: response(responseName(500)),
      },
    },
  };
}

function securityOf(access: Access): SchemaObject[] {
  if (access.kind === 'public') return [];
  const bearer = access.roles.length === 0 ? [] : [{ bearerAuth: [] }];
  return access.scope === undefined ? bearer : [...bearer, { apiKeyHeader: [] }, { apiKeyQuery: [] }];
}

function accessText(access: Access): string {
  if (access.kind === 'public') return 'Access: public.';
  const who = access.roles.length === 0 ? [] : [`the roles ${access.roles.join(', ')}`];
  if (access.scope !== undefined) who.push(`API keys with the scope \`${access.scope}\``);
  return `Access: ${who.join('; ')}.`;
}
