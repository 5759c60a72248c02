/**
 * Searches with facets. Facets count a state that is kept before the search; the search reads its index of words later.
 * If the index then has products that the kept state lacks, the search is repeated without them.
 */
import type { FacetRequest } from '../../storage/columns/facet-counter.ts';
import type { KeptProductFacets, ProductFacets } from '../attributes/facets.ts';
import type { SearchRequest } from './results.ts';
import type { SearchResult } from './store.ts';

/** How often a search is tried while other requests change products. */
const attempts = 3;

type Search = (narrowed: Pick<SearchRequest, 'ids' | 'matches'>) => Promise<SearchResult>;

/** @returns a function that runs a search, and counts facets of exactly as many products as its total */
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

  return async (search: Search) => {
    for (let attempt = 1; ; attempt++) {
      const kept = await facets.keep(request, kind);
      const isNarrowed = request.conditions.length > 0 || attempt > 1;
      const { found, total, members } = await searchOnce(search, kept, isNarrowed);
      if (found.facets.get('product') === total) return { found, members };
      if (attempt === attempts) return { found: replaceTotal(found, total), members };
    }
  };
}

/** Sets the total to the number of counted products, for searches while other requests keep changing products. */
function replaceTotal(found: SearchResult, total: number): SearchResult {
  return {
    ...found,
    total: found.total === undefined ? undefined : total,
    facets: new Map(found.facets).set('product', total),
  };
}
