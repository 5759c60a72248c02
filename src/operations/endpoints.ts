/** Endpoints for operators and tools, outside the versions: index, health, readiness, metrics and the document. */
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { allow, createUnauthorizedError, parseBearerToken } from '../http/access.ts';
import { createEndpoint, type Endpoint } from '../http/endpoint.ts';
import { HttpError } from '../http/errors.ts';
import { json } from '../http/negotiate.ts';
import { noStore, replyOk } from '../http/response/reply.ts';
import type { Database } from '../storage/database.ts';
import { findReasonNotToServe } from '../storage/migrations/migrate.ts';
import { createIndexEndpoint, type VersionDocument } from './index-endpoint.ts';
import { createAccountPages } from './pages/account-pages.ts';
import type { Docs } from './pages/docs.ts';
import { html, replyHtml, replyText as text } from './text-reply.ts';

export interface OperationsOptions {
  readonly database: Database;
  /** The text of /metrics. */
  readonly metrics: () => Promise<string>;
  /** The bearer token that /metrics requires; without it only this machine has access. */
  readonly metricsToken: string | undefined;
  readonly release: string;
  /** The published versions, oldest first, each with its OpenAPI document as JSON text. */
  readonly versions: readonly VersionDocument[];
  readonly docs: Docs;
  readonly isStopping: () => boolean;
  /** Whether the start-up work is done. */
  readonly isStarted: () => boolean;
}

/** Common to all: public, and exempt from the quota. */
const open = { tag: 'Operation', method: 'GET', access: allow.public, exemptFromQuota: true } as const;
/** With the version of the format: some programs that read metrics accept only this one. */
const metricsType = 'text/plain; version=0.0.4';

export function createOperationEndpoints(options: OperationsOptions): Endpoint[] {
  const { database, docs, versions } = options;
  const current = versions.at(-1);
  if (current === undefined) throw new Error('no version is published');
  /** The path of a version's document; the newest version is at the path that never changes. */
  const toDocumentPath = ({ name }: VersionDocument) =>
    name === current.name ? '/openapi.json' : `/openapi.${name}.json`;
  return [
    createIndexEndpoint({ ...options, current }, toDocumentPath),
    createEndpoint({
      ...open,
      path: '/health',
      operationId: 'getHealth',
      summary: 'Check that the process is alive',
      bypassesQueue: true,
      responses: {
        200: {
          description: 'The process is alive.',
          schema: z.object({ status: z.literal('ok') }).meta({ id: 'Health' }),
        },
      },
      async handle() {
        return replyOk({ status: 'ok' }, { cacheControl: noStore });
      },
    }),
    createEndpoint({
      ...open,
      path: '/ready',
      operationId: 'getReadiness',
      summary: 'Check that requests can be served: the database responds and is migrated',
      bypassesQueue: true,
      responses: {
        200: {
          description: 'Requests can be served.',
          schema: z
            .object({ status: z.literal('ready'), database: z.enum(['sqlite', 'postgresql']) })
            .meta({ id: 'Readiness' }),
        },
      },
      errors: [
        'DATABASE_UNAVAILABLE',
        'DATABASE_READ_ONLY',
        'DATABASE_MOVED',
        'DATABASE_DAMAGED',
        'SHUTTING_DOWN',
      ],
      async handle() {
        if (options.isStopping())
          throw new HttpError('SHUTTING_DOWN', { headers: { 'Retry-After': '5' }, expected: true });
        if (!options.isStarted()) {
          throw new HttpError('DATABASE_UNAVAILABLE', {
            message: 'The service is starting: its first administrator is being created.',
            headers: { 'Retry-After': '1' },
            expected: true,
          });
        }
        await requireReadyDatabase(database);
        return replyOk({ status: 'ready', database: database.dialect.name }, { cacheControl: noStore });
      },
    }),
    createEndpoint({
      ...open,
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Read metrics for Prometheus',
      description:
        'Requires METRICS_TOKEN as a bearer token. If it is not set, only requests from the same machine are served: over the loopback interface, to `localhost` or a loopback address, and not through a proxy or by a page of another origin in a browser.',
      produces: [metricsType],
      responses: {
        200: { description: 'The metrics in the Prometheus text format.', mediaType: 'text/plain' },
      },
      errors: ['UNAUTHORIZED'],
      async handle({ authorization, isLocal }) {
        if (options.metricsToken !== undefined) requireToken(options.metricsToken, authorization);
        else if (!isLocal) throw createUnauthorizedError(undefined, localOnly);
        return text(await options.metrics(), `${metricsType}; charset=utf-8`);
      },
    }),
    createDocumentEndpoint('/openapi.json', 'getOpenApiDocument', 'Read this document', current),
    ...versions.slice(0, -1).map(version => {
      const id = `getOpenApiDocument${version.name.toUpperCase()}`;
      return createDocumentEndpoint(
        toDocumentPath(version),
        id,
        `Read the document of /${version.name}`,
        version,
      );
    }),
    createEndpoint({
      ...open,
      path: '/docs',
      operationId: 'getDocs',
      summary: 'Show the interactive documentation',
      produces: ['text/html'],
      responses: {
        200: { description: 'An HTML page.', mediaType: 'text/html', tagged: true, headers: pageHeaders },
      },
      async handle() {
        const headers = { 'Content-Security-Policy': docs.contentSecurityPolicy };
        return { ...text(docs.page, html), headers, cacheControl: 'public, max-age=300', tagged: true };
      },
    }),
    ...createAccountPages().map(({ path, operationId, summary, page }) =>
      createEndpoint({
        ...open,
        path,
        operationId,
        summary,
        description: 'Mails link here with the token in the query parameter `token`, which the page submits.',
        produces: ['text/html'],
        responses: {
          200: {
            description: 'An HTML page.',
            mediaType: 'text/html',
            headers: { ...pageHeaders, 'Referrer-Policy': 'Hides the token from other sites.' },
          },
        },
        handle: () => replyHtml(page),
      }),
    ),
    ...docs.assets.map(({ path, operationId, summary, mediaType, read }) =>
      createEndpoint({
        ...open,
        path,
        operationId,
        summary,
        produces: [mediaType],
        responses: { 200: { description: 'A file of the page.', mediaType, tagged: true } },
        async handle() {
          const cacheControl = 'public, max-age=86400';
          return {
            status: 200,
            ...(await read()),
            mediaType: `${mediaType}; charset=utf-8`,
            cacheControl,
            tagged: true,
          };
        },
      }),
    ),
  ];
}

const openApi = z.record(z.string(), z.unknown()).meta({ id: 'OpenApiDocument' });

function createDocumentEndpoint(
  path: string,
  operationId: string,
  summary: string,
  version: VersionDocument,
) {
  return createEndpoint({
    ...open,
    path,
    operationId,
    summary,
    produces: [json, 'application/openapi+json', 'application/vnd.oai.openapi+json'],
    responses: { 200: { description: 'The OpenAPI 3.1 document.', schema: openApi } },
    async handle() {
      return { ...replyOk('', { cacheControl: 'public, max-age=300' }), ...(await version.document()) };
    },
  });
}

/** Checks that the database responds and is migrated. @throws HttpError 503 */
async function requireReadyDatabase(database: Database): Promise<void> {
  await database.ping();
  const message = await findReasonNotToServe(database);
  if (message !== undefined)
    throw new HttpError('DATABASE_UNAVAILABLE', { message, headers: { 'Retry-After': '5' } });
}

const pageHeaders = { 'Content-Security-Policy': 'Restricts the page to files of its own.' };

const localOnly =
  'Without the setting METRICS_TOKEN, only this machine may read /metrics. Set it, and send it as a bearer token.';

function requireToken(expected: string, authorization: string | null): void {
  const digest = (value: string) => new Bun.CryptoHasher('sha256').update(value).digest();
  // Digests have equal length, whatever was sent, so comparing them takes constant time.
  const sent = digest(parseBearerToken(authorization ?? '') ?? '');
  if (!timingSafeEqual(sent, digest(expected))) throw createUnauthorizedError(undefined);
}
