/** What operators and tools ask for, beside the versions: index, health, readiness, metrics and the document. */
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { allow, unauthorized } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { HttpError } from '../http/errors.ts';
import { json } from '../http/negotiate.ts';
import { noStore, ok, type Reply } from '../http/reply.ts';
import type { Database } from '../storage/database.ts';
import { pendingMigrations } from '../storage/migrate.ts';
import { accountPages } from './account-pages.ts';
import type { Docs } from './docs.ts';
import { type MetricsSources, metricsText } from './metrics.ts';

export interface OperationsOptions {
  readonly database: Database;
  readonly metrics: MetricsSources;
  /** When set, /metrics asks for it as a bearer token. */
  readonly metricsToken: string | undefined;
  readonly release: string;
  /** The published versions, oldest first, each with its OpenAPI document as JSON text. */
  readonly versions: readonly VersionDocument[];
  readonly docs: Docs;
  readonly isStopping: () => boolean;
}

export interface VersionDocument {
  /** As in `v1`. */
  readonly name: string;
  readonly document: () => string;
}

const tag = 'Operation';
const metricsType = 'text/plain; version=0.0.4; charset=utf-8';
const html = 'text/html; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';
const link = z.url();

export function operationEndpoints(options: OperationsOptions): Endpoint[] {
  const { database, docs, versions } = options;
  const current = versions.at(-1);
  if (current === undefined) throw new Error('no version is published');
  /** Where a version is described: the newest at the address that never changes. */
  const documentPath = ({ name }: VersionDocument) =>
    name === current.name ? '/openapi.json' : `/openapi.${name}.json`;
  return [
    endpoint({
      method: 'GET',
      path: '/',
      operationId: 'getIndex',
      summary: 'Where everything is',
      tag,
      access: allow.public,
      free: true,
      responses: {
        200: {
          description: 'The service and its addresses.',
          schema: z
            .object({
              name: z.literal('Catalog'),
              release: z
                .string()
                .max(64)
                .meta({ pattern: '^\\d+\\.\\d+\\.\\d+', examples: ['1.0.0'] }),
              links: z.object({
                ...Object.fromEntries(versions.map(({ name }) => [name, link])),
                products: link,
                docs: link,
                openapi: link,
                health: link,
                ready: link,
                metrics: link,
              }),
            })
            .meta({ id: 'Index' }),
        },
      },
      async handle({ url: { base } }) {
        const links = {
          ...Object.fromEntries(versions.map(version => [version.name, base + documentPath(version)])),
          products: `${base}/${current.name}/products`,
          docs: `${base}/docs`,
          openapi: `${base}/openapi.json`,
          health: `${base}/health`,
          ready: `${base}/ready`,
          metrics: `${base}/metrics`,
        };
        return ok({ name: 'Catalog', release: options.release, links });
      },
    }),
    endpoint({
      method: 'GET',
      path: '/health',
      operationId: 'getHealth',
      summary: 'Whether the process is alive',
      tag,
      access: allow.public,
      free: true,
      responses: {
        200: { description: 'It is.', schema: z.object({ status: z.literal('ok') }).meta({ id: 'Health' }) },
      },
      async handle() {
        return ok({ status: 'ok' }, { cacheControl: noStore });
      },
    }),
    endpoint({
      method: 'GET',
      path: '/ready',
      operationId: 'getReadiness',
      summary: 'Whether requests can be served: the database answers and is migrated',
      tag,
      access: allow.public,
      free: true,
      responses: {
        200: {
          description: 'They can.',
          schema: z
            .object({ status: z.literal('ready'), database: z.enum(['sqlite', 'postgresql']) })
            .meta({ id: 'Readiness' }),
        },
      },
      errors: ['DATABASE_UNAVAILABLE', 'SHUTTING_DOWN'],
      async handle() {
        if (options.isStopping()) throw new HttpError('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } });
        await requireMigrated(database);
        return ok({ status: 'ready', database: database.dialect.name }, { cacheControl: noStore });
      },
    }),
    endpoint({
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Numbers for Prometheus',
      description: 'Asks for METRICS_TOKEN as a bearer token when that is set.',
      tag,
      access: allow.public,
      free: true,
      produces: ['text/plain'],
      responses: { 200: { description: 'Prometheus text format.', mediaType: 'text/plain' } },
      errors: ['UNAUTHORIZED'],
      async handle({ authorization }) {
        requireToken(options.metricsToken, authorization);
        return text(await metricsText(options.metrics), metricsType);
      },
    }),
    documentEndpoint('/openapi.json', 'getOpenApiDocument', 'This document', current),
    ...versions.slice(0, -1).map(version => {
      const id = `getOpenApiDocument${version.name.toUpperCase()}`;
      return documentEndpoint(documentPath(version), id, `The document of /${version.name}`, version);
    }),
    endpoint({
      method: 'GET',
      path: '/docs',
      operationId: 'getDocs',
      summary: 'The documentation, to read and try',
      tag,
      access: allow.public,
      free: true,
      produces: ['text/html'],
      responses: { 200: { description: 'A page.', mediaType: 'text/html', tagged: true } },
      async handle() {
        const headers = { 'Content-Security-Policy': docs.contentSecurityPolicy };
        return { ...text(docs.page, html), headers, cacheControl: 'public, max-age=300', tagged: true };
      },
    }),
    ...accountPages().map(({ path, operationId, summary, page, contentSecurityPolicy }) =>
      endpoint({
        method: 'GET',
        path,
        operationId,
        summary,
        description:
          'Mails link here, with the token as the query parameter `token`, which the page sends on.',
        tag,
        access: allow.public,
        free: true,
        produces: ['text/html'],
        responses: { 200: { description: 'A page.', mediaType: 'text/html' } },
        handle() {
          const headers = {
            'Content-Security-Policy': contentSecurityPolicy,
            // The address holds a token: no other page is to learn of it.
            'Referrer-Policy': 'no-referrer',
          };
          return { ...text(page, html), headers };
        },
      }),
    ),
    endpoint({
      method: 'GET',
      path: '/docs/scalar.js',
      operationId: 'getDocsScript',
      summary: 'The script of the documentation page',
      tag,
      access: allow.public,
      free: true,
      produces: ['text/javascript', 'application/javascript'],
      responses: { 200: { description: 'A script.', mediaType: 'text/javascript', tagged: true } },
      async handle() {
        return {
          ...text(await docs.script(), javascript),
          cacheControl: 'public, max-age=86400',
          tagged: true,
        };
      },
    }),
  ];
}

const openApi = z.record(z.string(), z.unknown()).meta({ id: 'OpenApiDocument' });

function documentEndpoint(path: string, operationId: string, summary: string, version: VersionDocument) {
  return endpoint({
    method: 'GET',
    path,
    operationId,
    summary,
    tag,
    access: allow.public,
    free: true,
    produces: [json, 'application/openapi+json', 'application/vnd.oai.openapi+json'],
    responses: { 200: { description: 'OpenAPI 3.1.', schema: openApi } },
    async handle() {
      return ok(version.document(), { cacheControl: 'public, max-age=300' });
    },
  });
}

function text(body: string, mediaType: string): Reply {
  return { status: 200, body, mediaType, cacheControl: noStore, tagged: false };
}

async function requireMigrated(database: Database): Promise<void> {
  await database.ping();
  const pending = await pendingMigrations(database);
  if (pending.length > 0) {
    throw new HttpError('DATABASE_UNAVAILABLE', {
      message: `The database lacks the migrations ${pending.join(', ')}; run catalog migrate.`,
      headers: { 'Retry-After': '5' },
    });
  }
}

function requireToken(expected: string | undefined, authorization: string | null): void {
  if (expected === undefined) return;
  const digest = (value: string) => new Bun.CryptoHasher('sha256').update(value).digest();
  // Digests have one length, whatever was sent, and comparing them takes one time.
  const sent = digest(authorization ?? '');
  if (!timingSafeEqual(sent, digest(`Bearer ${expected}`))) throw unauthorized(undefined);
}
