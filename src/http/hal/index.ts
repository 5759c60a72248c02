/**
 * application/hal+json (draft-kelly-json-hal): a representation with `_links` and `_embedded`, for clients whose Accept
 * prefers it. A link is present only while its target is possible for the caller.
 */
import { z } from 'zod';
import { halJson, json } from '../negotiate.ts';
import { buildCollectionSchema, type PageTexts } from '../paginate.ts';
import { joinItems, type PageBody } from '../response/page-body.ts';
import type { ReplyOptions } from '../response/reply.ts';

export interface Link {
  readonly href: string;
  /** The method to send; GET if absent. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Whether `href` is a URI template (RFC 6570). */
  readonly templated?: boolean;
  /** The media type to accept there; HAL if absent. */
  readonly type?: string;
}

export type Links = Readonly<Record<string, Link>>;

/** Longer than any address whose request fits into the 16 KiB of a head, even with every character escaped. */
const maxHrefLength = 65_536;

/** Without a limit of its own: as long as the address of the request, whose parameters it repeats. */
const href = z.url().meta({ examples: ['https://shop.example/v1/orders/1'] });

export const link = z
  .object({ href, method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).optional() })
  .meta({ id: 'Link', example: { href: 'https://shop.example/v1/orders/1' } });

/** A link whose address may be a template, as in entry points. */
const templatedLink = z
  .object({
    href: z
      .string()
      .min(1)
      .max(maxHrefLength)
      .describe('An address, or a URI template (RFC 6570).')
      .meta({ pattern: '^https?://', examples: ['https://shop.example/v1/products{?page,perPage}'] }),
    templated: z.literal(true).optional().describe('Present if `href` is a template.'),
    type: z
      .enum([json, 'text/html', 'text/plain'])
      .optional()
      .describe('The media type at the address; absent if it is available as HAL.'),
  })
  .meta({ id: 'TemplatedLink' });

/** `_links` of an entry point, by relation. */
export const entryLinksSchema = z
  .record(z.string().max(64), templatedLink)
  .describe('Links by relation: the collections, and single resources by id.')
  .meta({
    examples: [
      {
        self: { href: 'https://shop.example/v1' },
        products: { href: 'https://shop.example/v1/products{?sku,page,perPage}', templated: true },
        product: { href: 'https://shop.example/v1/products/{id}', templated: true },
      },
    ],
  });

/** An empty `_embedded`: HAL representations here always have the member. */
export const nothingEmbedded = z.object({});

type Named<Names extends readonly string[], S> = { [Name in Names[number]]: S };

/** The schema of `_links`: links that are always present, and optional ones. */
export function buildLinksSchema<
  const Always extends readonly string[],
  const Sometimes extends readonly string[] = [],
>(always: Always, sometimes?: Sometimes) {
  const shape: Record<string, z.ZodType> = {};
  for (const name of always) shape[name] = link;
  for (const name of sometimes ?? []) shape[name] = link.optional();
  // Boundary: the loops above give every name its schema.
  return z.object(shape as Named<Always, typeof link> & Named<Sometimes, z.ZodOptional<typeof link>>);
}

export function buildHalSchema(
  resource: z.ZodObject,
  name: string,
  links: z.ZodObject,
  embedded: z.ZodObject = nothingEmbedded,
) {
  return resource.extend({ _links: links, _embedded: embedded }).meta({ id: name, example: undefined });
}

/** `_links` of every collection in HAL. */
const pageLinks = buildLinksSchema(['self', 'first'], ['last', 'prev', 'next']).meta({
  id: 'PageLinks',
  description: 'The addresses of this page and of others of the same list.',
});

/** The schema of the HAL variant of a collection: its items are embedded under `relation`. */
function buildHalCollectionSchema(item: z.ZodType, relation: string, collection: z.ZodObject, name: string) {
  return z
    .object({
      meta: collection.shape.meta ?? z.object({}),
      _links: pageLinks,
      _embedded: z.object({ [relation]: z.array(item).max(100) }),
    })
    .meta({ id: name });
}

/**
 * The schemas of a page of a collection, in JSON and in HAL.
 * @param relation the name of the items in HAL
 */
export function buildPageSchemas(
  item: z.ZodType,
  itemHal: z.ZodType,
  relation: string,
  name: string,
  { halName = `${name}Hal`, meta }: { halName?: string; meta?: z.ZodRawShape } = {},
) {
  const schema = buildCollectionSchema(item, name, meta);
  return { schema, hal: buildHalCollectionSchema(itemHal, relation, schema, halName) };
}

export const isHal = (mediaType: string): boolean => mediaType === halJson;

/**
 * The Last-Modified option of a representation. HAL has none: its links change with more than the resource.
 * @param milliseconds epoch milliseconds of the resource's last change
 */
export const buildDateOptions = (mediaType: string, milliseconds: number): ReplyOptions =>
  isHal(mediaType) ? {} : { lastModified: milliseconds };

/** The link to `self`, followed by other links. */
export const addSelfLink = (self: string, others: Links = {}): Links => ({ self: { href: self }, ...others });

export function toHal(
  resource: object,
  links: Links,
  embedded: Readonly<Record<string, unknown>> = {},
): object {
  return { ...resource, _links: links, _embedded: embedded };
}

/** Adds links and an empty `_embedded` to a resource that is the JSON text of a non-empty object. Returns JSON text. */
export function toHalText(resource: string, links: Links): string {
  return `${resource.slice(0, -1)},"_links":${JSON.stringify(links)},"_embedded":{}}`;
}

/** The links to change and delete the resource at this address; none without permission. */
export function changeLinks(href: string, mayWrite: boolean): Links {
  return mayWrite ? { edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } } : {};
}

/**
 * A page in HAL, whose items are already in HAL.
 * @param relation the name that the items are embedded under: the collection's, in the plural
 * @param self the address of this page
 */
export function toHalCollection(
  { items, meta, links }: PageTexts,
  relation: string,
  self: string,
): PageBody | Promise<PageBody> {
  const others = Object.entries(links).filter(([, address]) => address !== 'null');
  const texts = [['self', JSON.stringify(self)], ...others].map(
    ([name, address]) => `"${name}":{"href":${address}}`,
  );
  const before = `{"meta":${meta},"_links":{${texts.join(',')}},"_embedded":{${JSON.stringify(relation)}:[`;
  return joinItems(before, items, ']}}');
}
