/** One path of the document: its endpoints, and the HEAD and OPTIONS that come with them. */
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
import { headersOf } from './headers.ts';
import { type HeaderParameter, headerParameters, shapeParameters } from './parameters.ts';
import type { SchemaObject, Schemas } from './schemas.ts';

export function pathItem(route: Route, schemas: Schemas): SchemaObject {
  const operations: Record<string, SchemaObject> = {};
  for (const [method, { endpoint }] of route.operations) {
    const operation = operationOf(endpoint, route.version, schemas);
    operations[method.toLowerCase()] = operation;
    if (method === 'GET') operations.head = headOf(operation);
  }
  const first = [...route.operations.values()][0]?.endpoint;
  if (first !== undefined) operations.options = optionsOf(first);
  const shared = headerParameters(['XRequestId', 'Prefer']);
  // The path's own parameters are those of every method, OPTIONS as well.
  const own = first === undefined ? [] : shapeParameters({ ...first, query: undefined }, schemas);
  return { parameters: [...own, ...shared], ...operations };
}

type Operation = SchemaObject & { readonly responses: Readonly<Record<string, SchemaObject>> };

function operationOf(endpoint: Endpoint, version: Version | undefined, schemas: Schemas): Operation {
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
  if (isConditional(endpoint)) return ['IfNoneMatch', 'IfModifiedSince'];
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
 * HEAD answers what GET answers, without the body. 431 may come for any method. It is named for those without a body
 * only, HEAD and OPTIONS: having none, it would make every error of generated clients one that may be undefined.
 */
function headOf(get: Operation): SchemaObject {
  const { responses, ...same } = get;
  const described = { ...responses, 431: response(responseName(431)) };
  const bodiless = Object.entries(described).map(([status, described]) => {
    if (described.$ref !== undefined) return [status, described];
    const { content: _, 'x-alternative-content': _others, ...rest } = described;
    return [status, sharedHead(rest) ?? { ...rest, description: headText }];
  });
  return {
    ...same,
    operationId: `${get.operationId}Head`,
    summary: `${get.summary}: headers only`,
    description: 'Answers what GET answers, without the body.',
    responses: Object.fromEntries(bodiless),
  };
}

const headText = 'What GET answers, without its body.';

/** The shared responses to HEAD, by name: with validators, and without. */
export const headResponses: Readonly<Record<string, SchemaObject>> = {
  HeadersTagged: {
    description: headText,
    headers: headersOf(['Content-Encoding', 'ETag', 'Last-Modified']),
  },
  Headers: { description: headText, headers: headersOf(['Content-Encoding']) },
};

function sharedHead({ headers }: SchemaObject): SchemaObject | undefined {
  const wanted = JSON.stringify(headers);
  const name = Object.keys(headResponses).find(
    name => JSON.stringify(headResponses[name]?.headers) === wanted,
  );
  return name === undefined ? undefined : response(name);
}

function optionsOf(endpoint: Endpoint): SchemaObject {
  return {
    operationId: `${endpoint.operationId}Options`,
    tags: [endpoint.tag],
    summary: 'Methods of this address; CORS preflight',
    description:
      'Asked by browsers before a request from another origin. Needs no credentials, costs no quota.',
    security: [],
    responses: {
      204: response('Preflight'),
      400: response(responseName(400)),
      431: response(responseName(431)),
      500: response(responseName(500)),
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
