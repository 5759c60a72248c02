/** Searches: which documents a query finds, best first, with the texts they are shown by. */

import { rowFinder } from '../../storage/columns/counted.ts';
import type { Columns } from '../../storage/columns/index.ts';
import type { Database } from '../../storage/database.ts';
import type { Listed } from '../../storage/list/request.ts';
import { positionOf, type SearchType } from '../../storage/search/index.ts';
import type { SearchSession } from '../../storage/search/reading/frequency.ts';
import { LongRead, type SearchReader } from '../../storage/search/reading/index.ts';
import { sortedReader } from '../../storage/search/sorted.ts';
import type { Stems } from '../../storage/search/text/stems.ts';
import { vocabulary } from '../../storage/search/vocabulary.ts';
import type { SynonymStore } from '../synonyms/store.ts';
import { hitsAt, pageOf, unfilteredIds } from './page.ts';
import { queryCaches } from './query/word.ts';
import { codedProducts } from './ranking/codes.ts';
import { scorableReader } from './ranking/known.ts';
import { type ReadyRequest, resultsOf, type SearchRequest, type Tools } from './results.ts';
import type { WordTest } from './snippet.ts';
import { countsByType, documentReader, type Hit, readOnce } from './sources.ts';

export interface Found extends Listed<{ readonly hit: Hit }> {
  /** Hits of each visible type. */
  readonly facets: ReadonlyMap<SearchType, number>;
  /** Words of the query that not even the best hit has; none where there are no hits. */
  readonly relaxed: readonly string[];
  /** The ids of all products found, whether they meet the filters or not; where they were requested. */
  readonly unfiltered: readonly number[];
}

export interface SearchStore {
  search(request: SearchRequest): Promise<Found>;
  /** Products that have been found, each once, by all of some words. */
  shown(
    products: readonly { readonly id: number; readonly score: number }[],
    marks: WordTest,
  ): Promise<Hit[]>;
}

export function searchStore(
  database: Database,
  columns: Columns,
  stems: Stems,
  synonyms: Pick<SynonymStore, 'current'>,
  reader: SearchReader,
): SearchStore {
  const documentsOf = documentReader(database);
  const scorablesOf = scorableReader(database, reader, stems);
  const sorted = sortedReader(database);
  const rowsMeeting = rowFinder(database, columns);
  const tools = {
    sorted,
    reader,
    stems,
    vocabulary: vocabulary(database),
    documentsOf,
    scorablesOf,
    coded: codedProducts(database),
    ...queryCaches(),
  };
  return {
    async shown(found, marks) {
      const places = found.map(({ id, score }) => ({
        position: positionOf('product', id),
        score,
        missing: [],
      }));
      return (await hitsAt(tools, database.read, places, { marks })).map(({ hit }) => hit);
    },

    async search(given) {
      const { conditions = [] } = given;
      // Before anything is read: it may be read in the background itself.
      const request = { ...given, meets: await rowsMeeting(conditions), synonyms: await synonyms.current() };
      const seen = reader.seen();
      const brief = reader.holdsUp;
      try {
        // No snapshot: what is in memory is of another state anyway, and beginning and ending one takes as long as two reads.
        return await find(tools, { ...database.read, brief, seen }, request);
      } catch (error) {
        if (!(error instanceof LongRead)) throw error;
        return database.snapshot(session => find(tools, { ...session, seen }, request), { background: true });
      }
    },
  };
}

async function find(all: Tools, session: SearchSession, request: ReadyRequest): Promise<Found> {
  const tools = { ...all, documentsOf: readOnce(all.documentsOf) };
  const results = await resultsOf(tools, session, request);
  const unfiltered = request.ids === true ? await unfilteredIds(tools, session, results) : [];
  return {
    ...(await pageOf(tools, session, results, request)),
    facets: countsByType(results.counts),
    relaxed: results.ranking.head[0]?.missing ?? [],
    unfiltered,
  };
}
