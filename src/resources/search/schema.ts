/** The schema of search: its query parameters, and the hits. */
import { z } from 'zod';
import { buildCollectionSchema, pageParameters } from '../../http/paginate.ts';
import { anyText, count, identifier, prose, text } from '../../http/schema.ts';
import { getMemberNames } from '../../json-object.ts';
import { searchTypes } from '../../storage/search/index.ts';
import { facetMeta } from '../attributes/facets.ts';
import { maxSkuLength } from '../products/members/shared.ts';
import { listProducts, product } from '../products/schema.ts';

const type = z.enum(searchTypes);
const hits = count();
/** In characters (code points). */
export const maxQueryLength = 200;

/** Words of a query; the compatibility forms of some characters are several characters long. */
const queryWords = z.array(z.string().max(4000).meta({ pattern: anyText })).max(100);

const { price, currency, images, sku, category, status, rating, available } = product.shape;

/** Additional members that results show of products: hits of other types lack them. */
const ofProducts = {
  price: price.optional(),
  currency: currency.optional(),
  image: images.element.nullable().optional().describe('The first image of a product.'),
  sku: sku.optional(),
  category: category.optional(),
  status: status.optional(),
  rating: rating.optional(),
  available: available.optional(),
};

const searchHit = z
  .object({
    type,
    id: identifier(),
    title: prose(500).meta({ examples: ['Walnut desk lamp'] }),
    snippet: prose(5000)
      .describe('HTML: the words found in <mark>, everything else escaped.')
      .meta({ examples: ['A dimmable <mark>lamp</mark> with a solid walnut foot.'] }),
    score: z
      .number()
      .min(0)
      .max(1)
      .describe(
        'The quality of the hit: above 0.5 with all words, below with some; 0 after the two hundred best.',
      )
      .meta({ examples: [1] }),
    missing: queryWords
      .describe('Words of the query that this hit does not contain.')
      .meta({ examples: [[]] }),
    url: z
      .url()
      .max(2048)
      .meta({ examples: ['https://shop.example/v1/products/1'] }),
    ...ofProducts,
  })
  .meta({ id: 'SearchHit' });

const facets = z
  .object({
    product: hits.optional(),
    article: hits.optional(),
    post: hits.optional(),
    order: hits.optional(),
    user: hits.optional(),
  })
  // TypeScript that is generated for one schema of named and other members does not compile in every generator: an
  // optional member may be undefined, the others may not.
  .and(z.record(z.string().max(80), z.union([hits, ...facetMeta.facets.unwrap().valueType.options])))
  .meta({
    id: 'SearchFacets',
    description:
      'The number of hits of each type that the caller may read, regardless of `type`, and the requested facets of products.',
    examples: [{ product: 1, article: 0, post: 0 }],
  });

const relaxed = queryWords
  .optional()
  .describe('If no hit has all words: those that the best hit does not contain.')
  .meta({ examples: [['woman']] });

const correction = z.object({
  word: prose(4000)
    .describe('The word as it was sent, in lower case.')
    .meta({ examples: ['walnutt'] }),
  as: prose(4000)
    .describe('What the best hit has instead.')
    .meta({ examples: ['walnut'] }),
});
const corrected = z
  .array(correction)
  .max(100)
  .optional()
  .describe('Words with typing errors, and how the best hit spells them.')
  .meta({ examples: [[{ word: 'walnutt', as: 'walnut' }]] });

export const searchResults = buildCollectionSchema(searchHit, 'SearchResults', {
  facets,
  moreValues: facetMeta.moreValues,
  relaxed,
  corrected,
});

const { category: inCategory, brand, tag, minPrice, maxPrice, attributes } = listProducts.shape;
const { name, gtin, externalId } = listProducts.shape;
const { available: isAvailable, facets: counted, sort, order } = listProducts.shape;

/** The filters of lists of products: with any of them, hits are products only. */
const filters = {
  category: inCategory,
  brand,
  tag,
  name,
  sku: text(maxSkuLength)
    .optional()
    .describe('Only the product that has exactly this sku, or a variant with it.'),
  gtin,
  externalId,
  minPrice,
  maxPrice,
  available: isAvailable,
  attributes,
  status: z
    .enum(['active', 'archived'])
    .optional()
    .describe('Only products with this status; default active. `archived` requires staff.'),
  facets: counted,
  sort: sort.describe('Sort key of products; ties are broken by id. Default: the best hits first.'),
  order,
};

export const filterNames = getMemberNames(filters);

export const search = z.object({
  q: text(maxQueryLength).meta({
    description: 'The words to find; the last may be incomplete. Case and diacritics are ignored.',
    examples: ['walnut lamp'],
  }),
  type: type.optional().describe('Only hits of this type; order requires staff, user an administrator.'),
  ...filters,
  ...pageParameters,
});

/** A query that is still being typed. */
export const suggest = z.object({
  q: text(maxQueryLength).meta({ description: 'The text typed so far.', examples: ['walnut la'] }),
});

export const suggestions = z
  .object({
    words: z
      .array(prose(maxQueryLength))
      .max(10)
      .describe(
        'The query with its last word completed, most frequent first; none that is too long to be searched for.',
      )
      .meta({ examples: [['walnut lamp']] }),
    categories: z
      .array(
        z.object({
          id: identifier(),
          name: prose(100)
            .describe('The name.')
            .meta({ examples: ['Lamps'] }),
          path: prose(1200)
            .describe('The names from the top-level category down to it.')
            .meta({ examples: ['Lighting > Lamps'] }),
          url: z
            .url()
            .max(2048)
            .meta({ examples: ['https://shop.example/v1/categories/1'] }),
        }),
      )
      .max(10)
      .describe('Categories whose names contain these words.'),
    products: z.array(searchHit).max(10).describe('The best products, as hits of a search.'),
  })
  .meta({ id: 'Suggestions' });
