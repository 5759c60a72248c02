/**
 * The entry point for programs that know one address and follow links. The path of each version leads to its
 * collections, as plain addresses in JSON and as HAL links, templated (RFC 6570) if they take an id or a query.
 */
import { z } from 'zod';
import { allow } from '../access.ts';
import { createEndpoint, type Endpoint } from '../endpoint.ts';
import { halJson, json } from '../negotiate.ts';
import { findPrefix } from '../request/prefixed.ts';
import { replyOk } from '../response/reply.ts';
import { addSelfLink, entryLinksSchema, type Link, type Links, nothingEmbedded, toHal } from './index.ts';

interface Described {
  /** Such as `v1`. */
  readonly name: string;
  readonly contract: string;
  readonly endpoints: readonly Endpoint[];
}

/** A target of the entry point: its relation, its path below the version, and the template of that path. */
interface Destination {
  readonly relation: string;
  readonly path: string;
  readonly template: string;
  readonly isHal: boolean;
}

/** Collections, and single resources by their id; nested resources are reached from there. */
function findDestinations(endpoints: readonly Endpoint[]): Destination[] {
  return endpoints.flatMap(({ method, path, operationId, query, responses }) => {
    const segments = path.split('/').slice(1);
    const [, id, ...deeper] = segments;
    const isSingle = id?.startsWith('{') === true && deeper.length === 0;
    const isCollection = !path.includes('{') && path !== '';
    if (method !== 'GET' || (!isSingle && !isCollection)) return [];
    const named = operationId.replace(/^get/, '');
    const relation = isSingle ? `${named.charAt(0).toLowerCase()}${named.slice(1)}` : segments.at(-1);
    if (relation === undefined) return [];
    // Repeatable parameters have no `*`, with which a common library (uri-template) leaves out the name of a single value.
    const parameters = Object.entries(query?.shape ?? {})
      .map(([name, field]) => (findPrefix(field) === undefined ? name : `${name}*`))
      .join(',');
    const template = parameters === '' ? path : `${path}{?${parameters}}`;
    return [{ relation, path, template, isHal: responses[200]?.hal !== undefined }];
  });
}

/** @param root the version's address: `https://shop.example/v1` */
export function buildEntryLinks({ endpoints }: Pick<Described, 'endpoints'>, root: string): Links {
  return Object.fromEntries(
    findDestinations(endpoints).map(({ relation, template, isHal }): [string, Link] => {
      const href = `${root}${template}`;
      const templated = template.includes('{') ? { templated: true } : {};
      return [relation, { href, ...templated, ...(isHal ? {} : { type: json }) }];
    }),
  );
}

/** GET of the version's root path. */
export function createEntryEndpoint(version: Described): Endpoint {
  const { name, contract, endpoints } = version;
  const destinations = findDestinations(endpoints);
  const plain = destinations.filter(({ path }) => !path.includes('{'));
  const address = z.url().max(2048).describe('The address of this collection.');
  const described = {
    version: z.literal(name).describe('The version, as in its path.'),
    // Not a literal: clients generated for one contract read those of later ones.
    contract: z
      .string()
      .max(64)
      .describe('The version of the contract: `info.version` of its document.')
      .meta({ pattern: '^\\d+\\.\\d+\\.\\d+', examples: [contract] }),
  };
  return createEndpoint({
    method: 'GET',
    path: '',
    operationId: 'getEntry',
    summary: 'List the collections of this version',
    description:
      'The HAL representation has URI templates (RFC 6570) with the parameters of each collection.',
    tag: 'Operation',
    access: allow.public,
    exemptFromQuota: true,
    responses: {
      200: {
        description: 'The collections and their addresses.',
        schema: z
          .object({
            ...described,
            links: z
              .object(Object.fromEntries(plain.map(({ relation }) => [relation, address])))
              .describe('The address of each collection, by name.'),
          })
          .meta({ id: 'Entry' }),
        hal: z
          .object({ ...described, _links: entryLinksSchema, _embedded: nothingEmbedded })
          .meta({ id: 'EntryHal' }),
      },
    },
    handle({ url, mediaType }) {
      const root = `${url.base}/${name}`;
      if (mediaType === halJson) {
        const links = addSelfLink(root, buildEntryLinks(version, root));
        return replyOk(toHal({ version: name, contract }, links));
      }
      const links = Object.fromEntries(plain.map(({ relation, path }) => [relation, `${root}${path}`]));
      return replyOk({ version: name, contract, links });
    },
  });
}
