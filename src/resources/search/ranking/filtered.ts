/** Reads hits that meet the filters of a search: all that the index gives, and of those the ones that meet them. */
import { idAt } from '../../../storage/search/index.ts';
import type { SearchReader } from '../../../storage/search/read.ts';

/** More products than a catalog is made for. */
const mostRead = 10_000_000;

/** What reads hits, whether there are filters or not. */
export type HitReader = Pick<SearchReader, 'page' | 'counts' | 'cached'>;

/** @param meets tells of a product's id whether it meets the filters */
export function filteredReader(reader: HitReader, meets: (id: number) => boolean): HitReader {
  /** All hits in their order. A search asks for few different ones again and again. */
  const read = new Map<string, Promise<number[]>>();
  const allOf: HitReader['page'] = (session, expression, types, { smallest }) => {
    const key = JSON.stringify(expression);
    const known = read.get(key);
    if (known !== undefined) return known;
    const found = reader
      .page(session, expression, types, { limit: mostRead, smallest })
      .then(positions => positions.filter(position => meets(idAt(position))));
    read.set(key, found);
    return found;
  };
  return {
    async page(session, expression, types, page) {
      const { limit, offset = 0, low = 0, high = Number.POSITIVE_INFINITY, descending = false } = page;
      const found = await allOf(session, expression, types, page);
      const within = found.filter(position => position >= low && position < high);
      if (descending) within.reverse();
      return within.slice(offset, offset + limit);
    },
    async counts(session, expression, types, smallest) {
      const counts = new Map(types.map(type => [type, 0]));
      const [type] = types;
      const { length } = await allOf(session, expression, types, { limit: mostRead, smallest });
      if (type !== undefined) counts.set(type, length);
      return counts;
    },
    cached: async () => undefined,
  };
}
