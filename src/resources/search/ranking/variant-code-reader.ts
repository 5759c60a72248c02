/**
 * Reads the index as if products were indexed with those codes of their variants that a query has. Few products have
 * such codes; their own words are read from their texts. All other products are read from the index.
 */

import { mergeDistinct } from '../../../arrays/sorted.ts';
import type { Expression, Term } from '../../../storage/search/expression.ts';
import { countByType, type DocumentType, getDocumentType } from '../../../storage/search/index.ts';
import type { SearchReader } from '../../../storage/search/reading/index.ts';
import { type SearchText, toDocumentWordsInSlices } from '../../../storage/search/text/words.ts';
import { succeedOnce } from '../../../turns/once.ts';
import { addCodes } from './features.ts';
import type { ScorableReader } from './scorable-cache.ts';
import type { Codes } from './variant-codes.ts';

type Words = ReadonlySet<string>;

const hasTerm = (words: Words, { word, mark = '', prefix }: Term): boolean =>
  words.has(mark + word) || (prefix === true && words.values().some(own => own.startsWith(mark + word)));

const matches = (words: Words, expression: Expression): boolean =>
  expression.every(group => group.some(choice => choice.every(term => hasTerm(words, term))));

/** A product with a code that the query has. */
interface CodedProduct {
  readonly position: number;
  readonly codes: Words;
  /** The words that the index has for it. */
  readonly own: Words;
}

/**
 * Creates a reader for one search.
 * @param reader knows nothing of variants
 * @param readDocuments returns the texts at some positions, and omits deleted documents
 */
export function addCodesToReader(
  reader: SearchReader,
  { words }: Pick<Codes, 'words'>,
  readDocuments: (positions: readonly number[]) => Promise<ReadonlyMap<number, SearchText>>,
): SearchReader {
  if (words.size === 0) return reader;
  const readCoded = succeedOnce(async (): Promise<readonly CodedProduct[]> => {
    const documents = await readDocuments([...words.keys()].sort((a, b) => a - b));
    const products: CodedProduct[] = [];
    for (const [position, document] of documents) {
      const own = new Set(await toDocumentWordsInSlices(document));
      products.push({ position, codes: words.get(position) ?? new Set(), own });
    }
    return products;
  });

  /** The products that match an expression only by these codes, in ascending order. */
  async function findMore(expression: Expression, types: readonly DocumentType[]): Promise<number[]> {
    const terms = expression.flat(2);
    if (!words.values().some(codes => terms.some(term => hasTerm(codes, term)))) return [];
    return (await readCoded())
      .filter(
        ({ position, codes, own }) =>
          types.includes(getDocumentType(position)) &&
          !matches(own, expression) &&
          matches(own.union(codes), expression),
      )
      .map(({ position }) => position);
  }

  return {
    ...reader,

    async page(session, expression, types, page) {
      const { low = 0, high = Number.POSITIVE_INFINITY, offset = 0, limit, descending = false } = page;
      const more = (await findMore(expression, types)).filter(at => at >= low && at < high);
      if (more.length === 0) return reader.page(session, expression, types, page);
      // Added hits move the others by at most as many places.
      const start = Math.max(0, offset - more.length);
      const read = await reader.page(session, expression, types, {
        ...page,
        offset: start,
        limit: offset - start + limit,
      });
      const [first] = read;
      if (first === undefined && start > 0) return [];
      const isBehind = (at: number) =>
        start === 0 || first === undefined || (descending ? at < first : at > first);
      const behind = more.filter(isBehind);
      const skipped = offset - start - (more.length - behind.length);
      const merged = mergeDistinct([read, behind]);
      return (descending ? merged.reverse() : merged).slice(skipped, skipped + limit);
    },

    async among(session, group, positions, types, within) {
      const found = await reader.among(session, group, positions, types, within);
      const here = new Set(positions);
      // Tests all of them: the reader does not find products that match `within` only by their codes.
      const more = (await readCoded())
        .filter(({ position }) => here.has(position) && types.includes(getDocumentType(position)))
        .filter(({ codes, own }) => matches(own.union(codes), [group]))
        .map(({ position }) => position);
      return more.length === 0 ? found : mergeDistinct([found, more]);
    },

    async counts(session, expression, types, smallest) {
      const counts = await reader.counts(session, expression, types, smallest);
      const added = countByType(await findMore(expression, types), types);
      return new Map(types.map(type => [type, (counts.get(type) ?? 0) + (added.get(type) ?? 0)]));
    },

    async frequency(session, expression, types, smallest) {
      const total = await reader.frequency(session, expression, types, smallest);
      return total + (await findMore(expression, types)).length;
    },
  };
}

/** Adds these codes to the features of products. */
export function addCodesToScorables(read: ScorableReader, { words }: Pick<Codes, 'words'>): ScorableReader {
  if (words.size === 0) return read;
  return async (session, positions, documentsOf) => {
    const scorables = new Map(await read(session, positions, documentsOf));
    for (const [position, codes] of words) {
      const scorable = scorables.get(position);
      if (scorable !== undefined)
        scorables.set(position, { ...scorable, features: addCodes(scorable.features, codes) });
    }
    return scorables;
  };
}
