/** THE schema of search: what is asked, and the hits. */
import { z } from 'zod';
import { collectionOf, pageParameters } from '../../http/paginate.ts';
import { identifier, prose, text } from '../../http/schema.ts';
import { searchTypes } from '../../storage/search/index.ts';

const type = z.enum(searchTypes);
const hits = z.int().min(0);

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
      .describe('1 for the words in the title, less for words elsewhere, beginnings of words, and typos.')
      .meta({ examples: [1] }),
    url: z
      .url()
      .max(2048)
      .meta({ examples: ['https://shop.example/v1/products/1'] }),
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
  .describe('Hits of each type the caller may read, whichever type was asked for.')
  .meta({ examples: [{ product: 1, article: 0, post: 0 }] });

export const searchResults = collectionOf(searchHit, 'SearchResults', { facets });

export const search = z.object({
  q: text(200).meta({
    description:
      'The words to find, all of them; the last may be the beginning of one. Case and diacritics do not matter.',
    examples: ['walnut lamp'],
  }),
  type: type.optional().describe('Only hits of this type; order is for staff, user for administrators.'),
  ...pageParameters,
});
