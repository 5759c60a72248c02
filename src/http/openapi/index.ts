/** Endpoints → OpenAPI 3.1: the document says what the code does because it is made from the same schemas. */
import { slices } from '../../slices.ts';
import type { Endpoint } from '../endpoint.ts';
import type { ErrorCode } from '../errors.ts';
import { routesOf } from '../router.ts';
import type { Version } from '../versions/lifecycle.ts';
import { withAddresses } from './addresses.ts';
import {
  errorResponse,
  errorsOf,
  plainName,
  plainResponse,
  plainStatuses,
  responseName,
  statusesOf,
} from './errors.ts';
import { headers, headersOf, occasionalHeaders } from './headers.ts';
import { everyPath, pathItem } from './operations.ts';
import { parameters, shareParameters } from './parameters.ts';
import { createSchemas, type SchemaObject, type Schemas } from './schemas.ts';
import { description, summary, tagTexts, title } from './text.ts';

export interface DocumentOptions {
  /** Endpoints below the version's prefix. */
  readonly resources: readonly Endpoint[];
  /** Endpoints beside the versions. */
  readonly operations: readonly Endpoint[];
  /** Its `contract` is `info.version`. */
  readonly version: Version;
}

/**
 * The same document for the same endpoints, member by member in the same order. It takes some hundred milliseconds,
 * and so is made in slices.
 */
export async function openApiDocument({
  resources,
  operations,
  version,
}: DocumentOptions): Promise<Record<string, unknown>> {
  const schemas = createSchemas();
  const { turn } = slices();
  const items: Record<string, SchemaObject> = {};
  for (const route of [...routesOf(resources, version), ...routesOf(operations, undefined)]) {
    items[route.path] = await pathItem(route, schemas, turn);
  }
  const shared = shareParameters(items);
  const { paths } = shared;
  await turn();
  const endpoints = [...resources, ...operations];
  const responses = sharedResponses(endpoints, schemas);
  await turn();
  const usedParameters = { ...used(parameters, 'parameters', paths), ...shared.parameters };
  await turn();
  const usedHeaders = used(headers, 'headers', [paths, responses]);
  await turn();
  const components = schemas.components();
  await turn();
  const located = withAddresses(components, paths);
  await turn();
  return {
    openapi: '3.1.0',
    info: {
      title,
      summary,
      description,
      version: version.contract,
      contact: { name: 'The Catalog authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '/',
        description: 'The service that serves this document, in production or elsewhere.',
        'x-internal': false,
      },
    ],
    security: [{ bearerAuth: [] }],
    tags: tagsOf(endpoints),
    paths,
    components: {
      securitySchemes,
      parameters: usedParameters,
      headers: usedHeaders,
      responses,
      schemas: located,
      pathItems: { EveryPath: everyPath() },
    },
  };
}

const securitySchemes = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The access token of `/v1/auth/login`: a JWT, signed with HS256 and checked as RFC8725 asks for.',
  },
  apiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key whose scopes include the one the operation names.',
  },
  apiKeyQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'The same in the query string. Discouraged: servers and proxies log query strings.',
  },
};

function tagsOf(endpoints: readonly Endpoint[]): SchemaObject[] {
  return [...Map.groupBy(endpoints, ({ tag }) => tag)].map(([name, members]) => ({
    name,
    description: tagTexts[name] ?? members.map(member => `${member.summary}.`).join(' '),
  }));
}

/** The responses that operations refer to, by name. */
function sharedResponses(endpoints: readonly Endpoint[], schemas: Schemas): Record<string, SchemaObject> {
  const codes: ErrorCode[] = ['INTERNAL_ERROR', ...endpoints.flatMap(errorsOf)];
  const errors = statusesOf(codes).map(status => [responseName(status), errorResponse(status, schemas)]);
  const notModified = {
    description: 'Nothing has changed: what the client has is current. Costs no quota.',
    headers: headersOf(['ETag', 'Last-Modified']),
  };
  const plain = endpoints.some(({ plainErrors }) => plainErrors === true)
    ? plainStatuses.map(status => [plainName(status), plainResponse(status, schemas)])
    : [];
  const preflight = {
    description: 'What this address takes, and what browsers may send to it.',
    headers: headersOf([
      'Allow',
      'Accept-Patch',
      'Access-Control-Allow-Methods',
      'Access-Control-Allow-Headers',
      'Access-Control-Max-Age',
    ]),
  };
  return {
    NotModified: notModified,
    Preflight: preflight,
    HeadersOnly: {
      description: 'What GET returns, without its body.',
      headers: headersOf(['Content-Encoding', 'ETag', 'Last-Modified', ...occasionalHeaders]),
    },
    ...Object.fromEntries(plain),
    [responseName(431)]: {
      description:
        'The request line and headers are longer than 16 KiB together. Sent before the service sees the request: without a body and without the headers of other responses.',
    },
    ...Object.fromEntries(errors),
  };
}

/** The components of a kind that the document refers to: one that nothing uses would only mislead. */
function used(components: Readonly<Record<string, object>>, kind: string, document: unknown): SchemaObject {
  const text = JSON.stringify(document);
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
  );
}
