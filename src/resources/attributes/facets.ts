/** Facets of lists of products: which are requested, and how `meta` says what they count. */
import { sql } from 'kysely';
import { z } from 'zod';
import { quoteValue } from '../../http/credentials.ts';
import { createFieldError, HttpError } from '../../http/errors.ts';
import { prose } from '../../http/schema.ts';
import { createFacetCounter, type FacetRequest, type Facets } from '../../storage/columns/counted.ts';
import { mostValues } from '../../storage/columns/facet.ts';
import { type Columns, TooManyValues } from '../../storage/columns/index.ts';
import type { Database } from '../../storage/database.ts';
import type { Definitions } from './store.ts';

/** Facets in one request, at most. */
const mostFacets = 20;
/** Characters of a name that a message quotes. */
const quotedLength = 80;
const plainFacets = ['brand', 'category', 'tag', 'status', 'price'];
const attributeForm = /^attr\.[a-z][a-z0-9_.-]{0,63}$/;

/** The parameter, for the query schema of any list of products. */
export const facetParameter = {
  facets: prose(1500)
    .optional()
    .describe(
      `Facets to count, with commas between them, ${mostFacets} at most: ${plainFacets.join(', ')}, and attributes as \`attr.colour\`. \`meta.facets\` has how many products there are of each value, each facet counted without its own filter.`,
    ),
};

const facetValue = z.object({
  value: z
    .union([prose(1200), z.number(), z.boolean()])
    .describe('The value; of categories the path, whose products are also those below it.')
    .meta({ examples: ['red'] }),
  count: z.int().min(1).describe('How many products have it.'),
});
const bound = z.number().nullable();
const bucket = z.object({
  from: z.number().describe('The lowest price in it.'),
  to: z.number().describe('The next bucket begins here.'),
  count: z.int().min(0).describe('How many products cost as much.'),
});
const priceFacet = z
  .object({
    min: bound.describe('The lowest price; null without products.'),
    max: bound.describe('The highest price; null without products.'),
    buckets: z.array(bucket).max(12).describe('How prices are spread, in ascending order.'),
  })
  .meta({ id: 'PriceFacet' });
const valuesFacet = z.array(facetValue).max(mostValues).meta({ id: 'ValuesFacet' });

/** What `meta` has where facets are requested. */
export const facetMeta = {
  facets: z
    .record(z.string().max(80), z.union([valuesFacet, priceFacet]))
    .optional()
    .describe('How many products have each value, by facet: the most frequent first, then the smaller value.')
    .meta({
      examples: [
        {
          'attr.colour': [
            { value: 'red', count: 12 },
            { value: 'blue', count: 5 },
          ],
          price: { min: 4.5, max: 89, buckets: [{ from: 0, to: 100, count: 17 }] },
        },
      ],
    }),
  moreValues: z
    .record(z.string().max(80), z.int().min(1))
    .optional()
    .describe(
      `How many values a facet has beyond the ${mostValues} that are shown; absent where it has none.`,
    )
    .meta({ examples: [{ brand: 12 }] }),
};

export interface ProductFacets {
  /**
   * The names of the facets that a parameter requests; none without it.
   * @throws HttpError 400 that names one that does not exist
   */
  names(parameter: string | undefined, definitions: Definitions): Promise<readonly string[]>;
  /**
   * The members of `meta`, as JSON text without braces.
   * @throws HttpError 400 for a facet with more values than are counted
   */
  members(request: FacetRequest): Promise<string>;
}

export function createProductFacets(database: Database, columns: Columns): ProductFacets {
  const { build, read } = database;
  const count = createFacetCounter(database, columns);

  async function isUsed(key: string): Promise<boolean> {
    const query = sql<{ key: string }>`select key from product_attributes where key = ${key} limit 1`;
    return (await read.first(query.compile(build))) !== undefined;
  }

  async function check(name: string, definitions: Definitions): Promise<void> {
    if (plainFacets.includes(name)) return;
    const shown = quoteValue(name, quotedLength);
    if (!attributeForm.test(name)) {
      const known = `${plainFacets.join(', ')}, or attr. and the key of an attribute`;
      throw createFieldError('facets', 'enum', `must name facets, which ${shown} is not: they are ${known}`);
    }
    const key = name.slice('attr.'.length);
    const definition = definitions.get(key);
    if (definition?.facet === false)
      throw createFieldError('facets', 'facet', `must not name ${shown}, which is none`);
    if (definition === undefined && !(await isUsed(key)))
      throw createFieldError('facets', 'unknown', `must not name ${shown}: no product has this attribute`);
  }

  return {
    async names(parameter, definitions) {
      if (parameter === undefined) return [];
      const names = [...new Set(parameter.split(',').map(name => name.trim()))].filter(name => name !== '');
      if (names.length === 0) throw createFieldError('facets', 'minItems', 'must name a facet');
      if (names.length > mostFacets)
        throw createFieldError('facets', 'maxItems', `must name ${mostFacets} facets or fewer`);
      for (const name of names) await check(name, definitions);
      return names;
    },
    async members(request) {
      try {
        return formatMembers(request.facets, await count(request));
      } catch (error) {
        if (!(error instanceof TooManyValues)) throw error;
        const message = `must not name ${error.column}, which has more values than are counted`;
        throw new HttpError('VALIDATION_FAILED', {
          message: `facets: ${message}`,
          details: [{ field: 'facets', pointer: '#/facets', code: 'maxValues', message }],
          cause: error,
        });
      }
    },
  };
}

/** In the order they were requested. */
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
