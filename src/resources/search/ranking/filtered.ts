/** Reads hits that match the filters of a search: reads all hits from the index, and keeps those that match. */
import { countBefore } from '../../../arrays/sorted.ts';
import type { Expression } from '../../../storage/search/expression.ts';
import { type DocumentType, getDocumentId, getDocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import type { SearchReader } from '../../../storage/search/reading/index.ts';
import { takeTurn } from '../../../turns/index.ts';
import { splitIntoParts } from '../../../turns/slices.ts';
import { isProduct } from '../sources.ts';

/** Hits per read: a few milliseconds of the event loop. */
const readAtOnce = 10_000;

/** Reads hits, with or without filters. */
export type HitReader = Pick<SearchReader, 'page' | 'among' | 'counts'>;

interface Wanted {
  readonly session: SearchSession;
  readonly expression: Expression;
  readonly types: readonly DocumentType[];
  readonly smallest?: number | undefined;
}

/** All accepted hits in the order of the index: possibly every product. */
export async function readAllHits(
  reader: Pick<SearchReader, 'page'>,
  { session, expression, types, smallest }: Wanted,
  accepts: (position: number) => boolean = () => true,
): Promise<number[]> {
  const found: number[] = [];
  for (let low = 0; ; ) {
    const part = await reader.page(session, expression, types, { limit: readAtOnce, low, smallest });
    for (const position of part) if (accepts(position)) found.push(position);
    const last = part.at(-1);
    if (last === undefined || part.length < readAtOnce) return found;
    low = last + 1;
    await takeTurn();
  }
}

/** The most positions between two turns of the event loop. */
const positionsAtOnce = 50_000;

export async function toProductIds(positions: readonly number[]): Promise<number[]> {
  const ids: number[] = [];
  for (const some of splitIntoParts(positions, positionsAtOnce)) {
    for (const position of some) if (isProduct(getDocumentType(position))) ids.push(getDocumentId(position));
    await takeTurn();
  }
  return ids;
}

/** @param matches whether the product with an id matches the filters */
export function createFilteredReader(reader: HitReader, matches: (id: number) => boolean): HitReader {
  /** Matching hits in order, by expression. One search reads few different lists, each several times. */
  const read = new Map<string, Promise<number[]>>();
  const readAll: HitReader['page'] = (session, expression, types, { smallest }) => {
    const wanted = { session, expression, types, smallest };
    return read.getOrInsertComputed(JSON.stringify(expression), () =>
      readAllHits(reader, wanted, position => matches(getDocumentId(position))),
    );
  };
  return {
    async page(session, expression, types, page) {
      const { limit, offset = 0, low = 0, high = Number.POSITIVE_INFINITY, descending = false } = page;
      const found = await readAll(session, expression, types, page);
      const [start, end] = [countBefore(found, low), countBefore(found, high)];
      if (!descending) return found.slice(start + offset, Math.min(end, start + offset + limit));
      return found.slice(Math.max(start, end - offset - limit), Math.max(start, end - offset)).reverse();
    },
    async counts(session, expression, types, smallest) {
      const counts = new Map(types.map(type => [type, 0]));
      const [type] = types;
      const { length } = await readAll(session, expression, types, { limit: 0, smallest });
      if (type !== undefined) counts.set(type, length);
      return counts;
    },
    among: reader.among,
  };
}
