/** Facets of product lists: parsing the request, and the members of `meta` with their counts. */
import { z } from 'zod';
import { attributeKey } from '../../attribute-key.ts';
import { quoteValue } from '../../http/credentials.ts';
import { buildErrorDetail, createFieldError, HttpError } from '../../http/errors.ts';
import { count, prose } from '../../http/schema.ts';
import { maxValues } from '../../storage/columns/facet.ts';
import { createFacetCounter, type FacetRequest, type Facets } from '../../storage/columns/facet-counter.ts';
import type { Columns } from '../../storage/columns/index.ts';
import { TooManyValues } from '../../storage/columns/source.ts';
import type { Database } from '../../storage/database.ts';
import type { Lister } from '../../storage/list/index.ts';
import type { Condition, ListRequest } from '../../storage/list/request.ts';
import { createFacetedLister } from '../../storage/list/with-facets.ts';
import type { Definitions } from './store.ts';
import { createUsedAttributes } from './used.ts';

const maxFacets = 20;
/** The number of characters of a name that a message quotes. */
const quotedLength = 80;
const plainFacets = ['brand', 'category', 'tag', 'status', 'price'];
const attributePrefix = 'attr.';

/** The query parameter, for the schema of any list of products. */
export const facetParameter = {
  facets: prose(1500)
    .optional()
    .describe(
      `Facets to count, separated by commas, ${maxFacets} at most: ${plainFacets.join(', ')}, and attributes as \`attr.colour\`. \`meta.facets\` has the number of products for each value; each facet is counted without its own filter.`,
    ),
};

const facetValue = z.object({
  value: z
    .union([prose(1200), z.number(), z.boolean()])
    .describe('The value; for categories the path, which includes products in categories below it.')
    .meta({ examples: ['red'] }),
  count: count(1).describe('The number of products with it.'),
});
const bound = z.number().nullable();
const bucket = z.object({
  from: z.number().describe('The lowest price in it.'),
  to: z.number().describe('The start of the next bucket; included in the last bucket only.'),
  count: count().describe('The number of products with such a price.'),
});
const priceFacet = z
  .object({
    min: bound.describe('The lowest price; null without products.'),
    max: bound.describe('The highest price; null without products.'),
    buckets: z.array(bucket).max(12).describe('The distribution of prices, in ascending order.'),
  })
  .meta({ id: 'PriceFacet' });
const valuesFacet = z.array(facetValue).max(maxValues).meta({ id: 'ValuesFacet' });

/** The members of `meta` when facets are requested. */
export const facetMeta = {
  facets: z
    .record(z.string().max(80), z.union([valuesFacet, priceFacet]))
    .meta({
      id: 'ProductFacets',
      description:
        'The number of products with each value, by facet: the most frequent first, ties by value.',
      examples: [
        {
          'attr.colour': [
            { value: 'red', count: 12 },
            { value: 'blue', count: 5 },
          ],
          price: { min: 4.5, max: 89, buckets: [{ from: 0, to: 100, count: 17 }] },
        },
      ],
    })
    .optional(),
  moreValues: z
    .record(z.string().max(80), count(1))
    .meta({
      id: 'MoreValues',
      description: `The number of values of a facet beyond the ${maxValues} shown; absent if there are none.`,
      examples: [{ brand: 12 }],
    })
    .optional(),
};

export type ProductFacets = ReturnType<typeof createProductFacets>;

export interface KeptProductFacets {
  matches(id: number): boolean;
  /** The number of these products that match, and the members of `meta` as JSON text without braces. */
  count(ids: readonly number[]): Promise<{ readonly total: number; readonly members: string }>;
}

export function createProductFacets(database: Database, columns: Columns) {
  const { isUsed } = createUsedAttributes(database);
  const counter = createFacetCounter(database, columns);
  const listCounted = createFacetedLister(database, counter);

  async function check(name: string, definitions: Definitions): Promise<void> {
    if (plainFacets.includes(name)) return;
    const shown = quoteValue(name, quotedLength);
    const key = name.slice(attributePrefix.length);
    if (!name.startsWith(attributePrefix) || !attributeKey.test(key)) {
      const known = `${plainFacets.join(', ')}, and attr. with the key of an attribute`;
      throw createFieldError('facets', 'enum', `${shown} is not a facet; facets are ${known}`);
    }
    const definition = definitions.get(key);
    if (definition?.facet === false)
      throw createFieldError(
        'facets',
        'facet',
        `${shown} is not a facet: its definition says "facet": false`,
      );
    if (definition === undefined && !(await isUsed(key)))
      throw createFieldError('facets', 'unknown', `must not name ${shown}: no product has this attribute`);
  }

  return {
    /**
     * The names of the facets that the parameter requests; none if it is absent.
     * @throws HttpError 400 naming a facet that does not exist
     */
    async names(parameter: string | undefined, definitions: Definitions): Promise<readonly string[]> {
      if (parameter === undefined) return [];
      const names = [...new Set(parameter.split(',').map(name => name.trim()))].filter(name => name !== '');
      if (names.length === 0) throw createFieldError('facets', 'minItems', 'must name a facet');
      if (names.length > maxFacets)
        throw createFieldError('facets', 'maxItems', `must name ${maxFacets} facets or fewer`);
      for (const name of names) await check(name, definitions);
      return names;
    },
    /**
     * Prepares the counts for products that a search has yet to find, as of the current state.
     * @throws HttpError 400 for a facet with more values than are counted
     */
    async keep(request: FacetRequest, kind: Condition): Promise<KeptProductFacets> {
      const { matches, count } = await refuseTooMany(() => counter.keep(request, kind));
      return {
        matches,
        async count(ids) {
          const counted = await count(ids);
          return { total: counted.total, members: formatMembers(request.facets, counted) };
        },
      };
    },
    /**
     * A page of products, with the members of `meta` that hold the facets, counted in the same state, as JSON text
     * without braces; undefined if no facets are requested.
     * @throws HttpError 400 for a facet with more values than are counted
     */
    async list<Row>(list: Lister<Row>, request: ListRequest) {
      const { facets: names } = request;
      if (names === undefined) return { listed: await list(request), members: undefined };
      return refuseTooMany(async () => {
        const { listed, facets } = await listCounted(list, request);
        return { listed, members: formatMembers(names, facets) };
      });
    },
  };
}

async function refuseTooMany<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TooManyValues)) throw error;
    const message = `must not name ${error.column}, which has too many values, alone or with the facets before it`;
    throw new HttpError('VALIDATION_FAILED', {
      message: `facets: ${message}`,
      details: [buildErrorDetail(['facets'], 'maxValues', message)],
      cause: error,
    });
  }
}

/** The members of `meta`, with facets in the order requested. */
function formatMembers(names: readonly string[], { values, ranges }: Facets): string {
  const more: Record<string, number> = {};
  const facets = names.map(name => {
    const found = values[name];
    if (found !== undefined && found.more > 0) more[name] = found.more;
    return [name, found?.values ?? ranges[name]] as const;
  });
  const rest = Object.keys(more).length === 0 ? '' : `,"moreValues":${JSON.stringify(more)}`;
  return `"facets":${JSON.stringify(Object.fromEntries(facets))}${rest}`;
}
