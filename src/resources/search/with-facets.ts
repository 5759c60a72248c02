/**
 * Searches with facets. What facets are counted of is kept as it is before the search, which reads its index of words
 * at later moments: where that has products that are others by then, the search is made again, without these.
 */
import type { FacetRequest } from '../../storage/columns/facet-counter.ts';
import type { KeptProductFacets, ProductFacets } from '../attributes/facets.ts';
import type { SearchRequest } from './results.ts';
import type { SearchResult } from './store.ts';

/** So often a search is made in which others change products. */
const attempts = 3;

interface CountedSearch {
  readonly found: SearchResult;
  /** Members of `meta` as JSON text. */
  readonly members: string;
}

type Search = (narrowed: Pick<SearchRequest, 'ids' | 'matches'>) => Promise<SearchResult>;

/** @returns a function that gives what a search finds, and facets of as many products as its total says */
export function createFacetedSearch(
  facets: Pick<ProductFacets, 'keep'>,
  request: FacetRequest,
  status: 'active' | 'archived' = 'active',
) {
  const kind = { column: 'status', operator: '=', value: status, literal: true } as const;

  async function searchOnce(search: Search, kept: KeptProductFacets, isNarrowed: boolean) {
    const found = await search({ ids: true, ...(isNarrowed ? { matches: kept.matches } : {}) });
    return { found, ...(await kept.count(found.unfiltered)) };
  }

  return async (search: Search): Promise<CountedSearch> => {
    for (let attempt = 1; ; attempt++) {
      const kept = await facets.keep(request, kind);
      const isNarrowed = request.conditions.length > 0 || attempt > 1;
      const { found, total, members } = await searchOnce(search, kept, isNarrowed);
      if (found.facets.get('product') === total) return { found, members };
      if (attempt === attempts) return { found: replaceTotal(found, total), members };
    }
  };
}

/** What was found where others change products all the time: as many as are counted. */
function replaceTotal(found: SearchResult, total: number): SearchResult {
  return {
    ...found,
    total: found.total === undefined ? undefined : total,
    facets: new Map(found.facets).set('product', total),
  };
}
