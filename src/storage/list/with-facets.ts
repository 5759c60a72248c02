/**
 * Lists with facets: rows, total and counts always show the same state. The list and its facets are read concurrently,
 * and usually see the same state even during writes; if they do not after some attempts, one session reads both.
 */
import type { FacetCounter } from '../columns/facet-counter.ts';
import type { Database } from '../database.ts';
import type { Lister } from './index.ts';
import { isFollowed, type ListRequest } from './request.ts';

/** How often both are read concurrently before one session reads them. */
const attempts = 3;

/**
 * @returns a function that reads a page of a list of products, and its facets
 * @throws TooManyValues
 */
export function createFacetedLister({ snapshot }: Pick<Database, 'snapshot'>, counter: FacetCounter) {
  return async <Row>(list: Lister<Row>, request: ListRequest) => {
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
