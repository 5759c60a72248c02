/**
 * Lists with facets: rows, total and counts of one state, however much is written meanwhile. Both are read at once, and
 * are of one state while others write nothing, and mostly when they do; else they are read by one session.
 */
import type { FacetCounter, Facets } from '../columns/facet-counter.ts';
import type { Database } from '../database.ts';
import type { Lister } from './index.ts';
import { isFollowed, type ListedAt, type ListRequest } from './request.ts';

/** So often both are read at once. */
const attempts = 3;

interface FacetedList<Row> {
  readonly listed: ListedAt<Row>;
  readonly facets: Facets;
}

/**
 * @returns a function that reads a page of a list of products, and its facets
 * @throws TooManyValues
 */
export function createFacetedLister({ snapshot }: Pick<Database, 'snapshot'>, counter: FacetCounter) {
  return async <Row>(list: Lister<Row>, request: ListRequest): Promise<FacetedList<Row>> => {
    const { conditions, facets = [] } = request;
    const counted = { conditions, facets };
    for (let attempt = 0; attempt < attempts && isFollowed(request); attempt++) {
      const [listed, found] = await Promise.all([list(request), counter.count(counted)]);
      if (listed.version === found.version) return { listed, facets: found };
    }
    return snapshot(
      async session => {
        const found = await counter.countIn(session, counted);
        return { listed: await list(request, session), facets: found };
      },
      { background: true },
    );
  };
}
