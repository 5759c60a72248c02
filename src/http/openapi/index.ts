/** Endpoints → OpenAPI 3.1: the document matches the code because both use the same schemas. */
import { takeTurn } from '../../turns/index.ts';
import type { Endpoint } from '../endpoint.ts';
import type { ErrorCode } from '../errors.ts';
import { createRoutes } from '../router.ts';
import type { Version } from '../versions/lifecycle.ts';
import { addAddresses } from './addresses.ts';
import {
  buildErrorResponse,
  buildPlainResponse,
  collectErrors,
  collectStatuses,
  plainStatuses,
  toPlainName,
  toResponseName,
} from './errors.ts';
import { buildHeaders, headers, occasionalHeaders } from './headers.ts';
import { buildEveryPath, buildPathItem } from './operations.ts';
import { parameters, shareParameters } from './parameters.ts';
import { createSchemas, type SchemaObject, type Schemas } from './schemas.ts';
import { description, summary, tagTexts, title } from './text.ts';

export interface DocumentOptions {
  /** Endpoints below the version's prefix. */
  readonly resources: readonly Endpoint[];
  /** Endpoints outside the versions. */
  readonly operations: readonly Endpoint[];
  /** The described version; its `contract` is `info.version`. */
  readonly version: Version;
  /** BASE_URL. A proxy may remove its path from the paths of requests. */
  readonly base?: string | undefined;
}

/**
 * Builds the document. The same endpoints give the same document, in the same order of members. It takes some hundred
 * milliseconds, and is therefore built in slices.
 */
export async function openApiDocument(options: DocumentOptions): Promise<Record<string, unknown>> {
  const { resources, operations, version, base = '' } = options;
  const schemas = createSchemas();
  const items: Record<string, SchemaObject> = {};
  for (const route of [...createRoutes(resources, version), ...createRoutes(operations, undefined)]) {
    items[route.path] = await buildPathItem(route, schemas);
  }
  const shared = shareParameters(items);
  const { paths } = shared;
  await takeTurn();
  const endpoints = [...resources, ...operations];
  const everyPath = buildEveryPath();
  const responses = keepUsed(buildSharedResponses(endpoints, schemas), 'responses', [paths, everyPath]);
  await takeTurn();
  const usedParameters = { ...keepUsed(parameters, 'parameters', paths), ...shared.parameters };
  await takeTurn();
  const usedHeaders = keepUsed(headers, 'headers', [paths, responses]);
  await takeTurn();
  const components = schemas.components();
  await takeTurn();
  const located = addAddresses(components, paths);
  await takeTurn();
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
        // Without the host: requests from the documentation page must go to the host that served the page.
        url: URL.parse(base)?.pathname ?? '/',
        description: 'The service that serves this document, in production or elsewhere.',
        'x-internal': false,
      },
    ],
    security: [{ bearerAuth: [] }],
    tags: buildTags(endpoints),
    paths,
    components: {
      securitySchemes,
      parameters: usedParameters,
      headers: usedHeaders,
      responses,
      schemas: located,
      pathItems: { EveryPath: everyPath },
    },
  };
}

const securitySchemes = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The access token of `/v1/auth/login`: a JWT, signed with HS256 and checked as RFC8725 requires.',
  },
  apiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key that has the scope of the operation.',
  },
  apiKeyQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'The same in the query string. Discouraged: servers and proxies log query strings.',
  },
};

function buildTags(endpoints: readonly Endpoint[]): SchemaObject[] {
  return [...Map.groupBy(endpoints, ({ tag }) => tag)].map(([name, members]) => ({
    name,
    description: tagTexts[name] ?? members.map(member => `${member.summary}.`).join(' '),
  }));
}

/** The shared responses that operations refer to, by name. */
function buildSharedResponses(
  endpoints: readonly Endpoint[],
  schemas: Schemas,
): Record<string, SchemaObject> {
  const codes: ErrorCode[] = ['INTERNAL_ERROR', ...endpoints.flatMap(collectErrors)];
  const errors = collectStatuses(codes).map(status => [
    toResponseName(status),
    buildErrorResponse(status, schemas),
  ]);
  const notModified = {
    description: 'The cached representation is current. Costs no quota.',
    headers: buildHeaders(['ETag', 'Last-Modified']),
  };
  const plain = endpoints.some(({ plainErrors }) => plainErrors === true)
    ? plainStatuses.map(status => [toPlainName(status), buildPlainResponse(status, schemas)])
    : [];
  const preflight = {
    description: 'The methods and media types of this address, and what browsers may send to it.',
    headers: buildHeaders([
      'Allow',
      'Accept-Patch',
      'Access-Control-Allow-Methods',
      'Access-Control-Allow-Headers',
      'Access-Control-Max-Age',
    ]),
  };
  return {
    NoContent: { description: 'Success, without a body.', headers: buildHeaders([]) },
    NotModified: notModified,
    Preflight: preflight,
    HeadersOnly: {
      description: 'The headers of the response to GET, without the body.',
      headers: buildHeaders(['Content-Encoding', 'ETag', 'Last-Modified', ...occasionalHeaders]),
    },
    ...Object.fromEntries(plain),
    [toResponseName(431)]: {
      description:
        'The request line and headers exceed 16 KiB in total. Sent before the service sees the request, so without a body or the headers of other responses.',
    },
    ...Object.fromEntries(errors),
  };
}

/** The components of a kind that the document refers to; unused ones would be misleading. */
function keepUsed(
  components: Readonly<Record<string, object>>,
  kind: string,
  document: unknown,
): SchemaObject {
  const text = JSON.stringify(document);
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
  );
}
