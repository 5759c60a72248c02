/** The service's own address: a page for people, links for HAL clients, an index for programs. */
import { z } from 'zod';
import { allow } from '../http/access.ts';
import { createEndpoint, type Endpoint } from '../http/endpoint.ts';
import { addSelfLink, entryLinksSchema, type Links, nothingEmbedded, toHal } from '../http/hal/index.ts';
import { halJson, json } from '../http/negotiate.ts';
import { replyOk } from '../http/response/reply.ts';
import type { StaticBody } from './pages/docs.ts';
import { buildIndexPage } from './pages/index-page.ts';
import { replyHtml } from './text-reply.ts';

export interface VersionDocument {
  /** Such as `v1`. */
  readonly name: string;
  /** The links of its entry point. @param root the address of the version */
  links(root: string): Links;
  /** Built on first use. */
  readonly document: () => Promise<StaticBody>;
}

/** The endpoints outside the versions, none of which serves HAL. */
const beside = {
  docs: { path: '/docs', type: 'text/html' },
  openapi: { path: '/openapi.json', type: json },
  health: { path: '/health', type: json },
  ready: { path: '/ready', type: json },
  metrics: { path: '/metrics', type: 'text/plain' },
} as const;

const address = z.url().describe('The address.');

interface Published {
  readonly release: string;
  readonly versions: readonly VersionDocument[];
  /** The newest version. */
  readonly current: VersionDocument;
}

/** @param documentPath the path of a version's document */
export function createIndexEndpoint(
  { release, versions, current }: Published,
  documentPath: (version: VersionDocument) => string,
): Endpoint {
  const names = versions.map(({ name }) => name);
  const described = {
    name: z.literal('Catalog').describe('The name of the service.'),
    release: z
      .string()
      .max(64)
      .describe('The release of the program; the contract has its own version.')
      .meta({ pattern: '^\\d+\\.\\d+\\.\\d+', examples: ['1.0.0'] }),
  };
  const addresses = Object.fromEntries(
    [...names, 'products', ...Object.keys(beside)].map(name => [name, address]),
  );
  return createEndpoint({
    method: 'GET',
    path: '/',
    operationId: 'getIndex',
    summary: 'List the addresses of the service',
    tag: 'Operation',
    access: allow.public,
    exemptFromQuota: true,
    responses: {
      200: {
        description: 'The service and its addresses; for browsers, an HTML page.',
        otherMediaTypes: ['text/html'],
        headers: {
          'Content-Security-Policy': 'Only of the page: restricts it to its own content.',
          'Referrer-Policy': 'Only of the page: hides its address from other sites.',
        },
        schema: z
          .object({ ...described, links: z.object(addresses).describe('Addresses by name.') })
          .meta({ id: 'ServiceIndex' }),
        hal: z
          .object({ ...described, _links: entryLinksSchema, _embedded: nothingEmbedded })
          .meta({ id: 'ServiceIndexHal' }),
      },
    },
    handle({ url: { base }, mediaType }) {
      if (mediaType === 'text/html')
        return replyHtml(buildIndexPage({ base, release, version: current.name }));
      if (mediaType === halJson) {
        const own = addSelfLink(`${base}/`, {
          ...current.links(`${base}/${current.name}`),
          ...Object.fromEntries(names.map(name => [name, { href: `${base}/${name}` }])),
          ...Object.fromEntries(
            Object.entries(beside).map(([name, { path, type }]) => [name, { href: base + path, type }]),
          ),
        });
        return replyOk(toHal({ name: 'Catalog', release }, own));
      }
      const links = {
        ...Object.fromEntries(versions.map(version => [version.name, base + documentPath(version)])),
        products: `${base}/${current.name}/products`,
        ...Object.fromEntries(Object.entries(beside).map(([name, { path }]) => [name, base + path])),
      };
      return replyOk({ name: 'Catalog', release, links });
    },
  });
}
