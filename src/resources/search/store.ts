/** Searches: which documents a query finds, best first, with the texts they are shown by. */

import { createRowFinder } from '../../storage/columns/counted.ts';
import type { Columns } from '../../storage/columns/index.ts';
import type { Database } from '../../storage/database.ts';
import type { Listed } from '../../storage/list/request.ts';
import { type SearchType, toPosition } from '../../storage/search/index.ts';
import type { SearchSession } from '../../storage/search/reading/frequency.ts';
import { LongRead, type SearchReader } from '../../storage/search/reading/index.ts';
import { createSortedReader } from '../../storage/search/sorted.ts';
import type { Stems } from '../../storage/search/text/stems.ts';
import { createVocabulary } from '../../storage/search/vocabulary.ts';
import type { SynonymStore } from '../synonyms/store.ts';
import { readHits, readPage, readUnfilteredIds } from './page.ts';
import { createQueryCaches } from './query/word.ts';
import { createCodeLookup } from './ranking/codes.ts';
import { createScorableReader } from './ranking/known.ts';
import { type ReadyRequest, readResults, type SearchRequest, type Tools } from './results.ts';
import type { WordTest } from './snippet.ts';
import { createDocumentReader, type Hit, readOnce, toCountsByType } from './sources.ts';

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

export function createSearchStore(
  database: Database,
  columns: Columns,
  stems: Stems,
  synonyms: Pick<SynonymStore, 'current'>,
  reader: SearchReader,
): SearchStore {
  const documentsOf = createDocumentReader(database);
  const scorablesOf = createScorableReader(database, reader, stems);
  const sorted = createSortedReader(database);
  const rowsMeeting = createRowFinder(database, columns);
  const tools = {
    sorted,
    reader,
    stems,
    vocabulary: createVocabulary(database),
    documentsOf,
    scorablesOf,
    coded: createCodeLookup(database),
    ...createQueryCaches(),
  };
  return {
    async shown(found, marks) {
      const places = found.map(({ id, score }) => ({
        position: toPosition('product', id),
        score,
        missing: [],
      }));
      return (await readHits(tools, database.read, places, { marks })).map(({ hit }) => hit);
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
  const results = await readResults(tools, session, request);
  const unfiltered = request.ids === true ? await readUnfilteredIds(tools, session, results) : [];
  return {
    ...(await readPage(tools, session, results, request)),
    facets: toCountsByType(results.counts),
    relaxed: results.ranking.head[0]?.missing ?? [],
    unfiltered,
  };
}
