/**
 * Caches the features of recently scored documents: splitting their texts is the most expensive part of a search.
 */
import { createBoundedMap } from '../../../bounded-map.ts';
import { countBytes } from '../../../storage/changes/rows.ts';
import type { Database } from '../../../storage/database.ts';
import { getDocumentType, toPosition } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import type { SearchReader } from '../../../storage/search/reading/index.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import { takeTurn } from '../../../turns/index.ts';
import { products } from '../../products/row.ts';
import { type DocumentReader, isProduct } from '../sources.ts';
import { createFeatureReader, type Features } from './features.ts';
import type { Facts } from './score.ts';

export interface Scorable extends Facts {
  readonly features: Features;
}

export type ScorableReader = (
  session: SearchSession,
  positions: readonly number[],
  documentsOf: DocumentReader,
) => Promise<ReadonlyMap<number, Scorable>>;

/** The most bytes of cached features. */
const cacheSize = 48 * 1024 * 1024;
/** Bytes that a document takes in addition to its words. */
const knownBytes = 600;

const computeSize = ({ features }: Scorable): number =>
  [...features.fields, ...features.kinds].reduce((sum, { words }) => sum + countBytes(words), knownBytes);

/**
 * Features of products are as current as the last check for changes: checking each product for changes took longer
 * than the rest of a search.
 * @returns a reader of the features of documents by position, which omits deleted documents
 */
export function createScorableReader(
  { changes }: Pick<Database, 'changes'>,
  { seen }: Pick<SearchReader, 'seen'>,
  { isFiller }: Pick<Stems, 'isFiller'>,
): ScorableReader {
  const known = createBoundedMap<number, Scorable>(cacheSize, computeSize);
  const readFeatures = createFeatureReader(isFiller);

  changes.follow(products, (committed, ids) => {
    if (committed === undefined && ids === undefined) known.clear();
    for (const id of ids ?? committed?.map(({ id }) => id) ?? []) {
      known.delete(toPosition('product', id));
      known.delete(toPosition('archived', id));
    }
  });

  return async (session, positions, documentsOf) => {
    const found = new Map<number, Scorable>();
    const absent: number[] = [];
    for (const position of positions) {
      const scorable = known.get(position);
      if (scorable !== undefined) found.set(position, scorable);
      else absent.push(position);
    }
    if (absent.length === 0) return found;
    for (const [position, document] of await documentsOf(session, absent)) {
      await takeTurn();
      const { rating, available } = document;
      const scorable = { features: await readFeatures(document), rating, available };
      // If anything changed since the search began, this document may be outdated and must not be cached.
      if (isProduct(getDocumentType(position)) && session.seen === seen()) known.set(position, scorable);
      found.set(position, scorable);
    }
    return found;
  };
}
