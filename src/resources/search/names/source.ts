/** Reads the names of products from rows and from the documents of events. */
import { sql } from 'kysely';
import type { Database } from '../../../storage/database.ts';
import { prepareQuery } from '../../../storage/prepared.ts';
import { splitRuns, splitWords } from '../../../storage/search/text/split.ts';
import type { Row } from '../../../storage/tables.ts';
import { computeAverage } from '../../products/ratings.ts';
import { productOf, products } from '../../products/row.ts';
import { computeRating, type Hit } from '../sources.ts';
import { maxQuality, type Named, type Spelling } from './arrays.ts';

/** How many words of a name, and of a brand, count. */
const maxNameWords = 40;
const maxBrandWords = 10;

/** Of products that are found by name. */
export type NameRow = Pick<
  Row<'products'>,
  'id' | 'name' | 'brand' | 'rating_sum' | 'rating_count' | 'available'
>;

type NameFacts = Pick<NameRow, 'id' | 'name' | 'brand'> & Pick<Hit['document'], 'rating' | 'available'>;

/** The dot that JavaScript adds to the small form of a Turkish `İ`: an `i` has one already. */
const addedDot = /(?<=i)\u0307/g;

/** Among the first words of a text, those whose spelling differs from the normalized word. */
function findSpellings(text: string, most: number): Spelling[] {
  if (!/[^ -~]/.test(text)) return [];
  const found: Spelling[] = [];
  let count = 0;
  for (const { start, end, words } of splitRuns(text)) {
    if (++count > most) break;
    const [word, ...more] = words;
    const spelling = text.slice(start, end).toLowerCase().replace(addedDot, '').normalize();
    if (word !== undefined && more.length === 0 && spelling !== word && !/[^\p{L}\p{M}]/u.test(spelling))
      found.push([word, spelling]);
  }
  return found;
}

const toNamed = ({ id, name, brand, rating, available }: NameFacts): Named => ({
  id,
  name: splitWords(name).slice(0, maxNameWords),
  brand: brand === null ? [] : splitWords(brand).slice(0, maxBrandWords),
  spellings: [...findSpellings(name, maxNameWords), ...findSpellings(brand ?? '', maxBrandWords)],
  // As in ranking/score.ts, where a rating counts twice as much.
  quality: Math.round((maxQuality * (2 * rating + Number(available))) / 3),
});

export const createNameSource = ({ build }: Pick<Database, 'build'>) => ({
  collection: products,
  /** Rows after an id, in the order of ids. */
  rows: prepareQuery<{ last: number; limit: number }, NameRow>(
    build,
    ({ last, limit }) => sql`select id, name, brand, rating_sum, rating_count, available from products
      where id > ${last} and status = 'active' order by id limit ${limit}`,
  ),
  namedRow(row: NameRow): Named {
    const count = row.rating_count;
    const rating = computeRating({ average: computeAverage(row.rating_sum, count), count });
    return toNamed({ ...row, rating, available: row.available === 1 });
  },
  /** The same from the document of an event; undefined if the product is not found by name. */
  namedIn(id: number, document: string): Named | undefined {
    const product = productOf({ id, document });
    if (product.status === 'archived') return undefined;
    return toNamed({ ...product, rating: computeRating(product.rating) });
  },
});
