/** Searches: the documents that a query finds, best first, with the texts that hits show. */

import type { Columns } from '../../storage/columns/index.ts';
import { createRowFinder } from '../../storage/columns/matching.ts';
import type { Database } from '../../storage/database.ts';
import type { Listed } from '../../storage/list/request.ts';
import { type SearchType, toPosition } from '../../storage/search/index.ts';
import type { SearchSession } from '../../storage/search/reading/frequency.ts';
import { LongRead, type SearchReader } from '../../storage/search/reading/index.ts';
import { createSortedReader } from '../../storage/search/sorted.ts';
import type { Stems } from '../../storage/search/text/stems.ts';
import { createVocabulary } from '../../storage/search/vocabulary.ts';
import { wrapInSlices } from '../../turns/session.ts';
import type { DefinitionStore } from '../attributes/store.ts';
import type { SynonymStore } from '../synonyms/store.ts';
import { readHits, readPage, readUnfilteredIds } from './page.ts';
import { createNameFinder } from './query/named.ts';
import { createQueryCaches } from './query/word.ts';
import { createScorableReader } from './ranking/scorable-cache.ts';
import { addCodesToReader, addCodesToScorables } from './ranking/variant-code-reader.ts';
import { createCodeLookup } from './ranking/variant-codes.ts';
import {
  type Correction,
  type ReadyRequest,
  readResults,
  type SearchRequest,
  type Tools,
  toDocumentTypes,
} from './results.ts';
import type { WordTest } from './snippet.ts';
import { createDocumentReader, type Hit, readOnce, toCountsByType } from './sources.ts';

export interface SearchResult extends Listed<{ readonly hit: Hit }> {
  /** Hits of each visible type. */
  readonly facets: ReadonlyMap<SearchType, number>;
  /** Words of the query that not even the best hit has; none if there are no hits. */
  readonly relaxed: readonly string[];
  /** Words of the query with typing errors, and how the best hit spells them. */
  readonly corrected: readonly Correction[];
  /** The ids of all products found, whether they match the filters or not; empty unless requested. */
  readonly unfiltered: readonly number[];
}

/** What administrators define for searches. */
interface Followed {
  readonly synonyms: Pick<SynonymStore, 'current'>;
  readonly definitions: Pick<DefinitionStore, 'current'>;
}

export type SearchStore = ReturnType<typeof createSearchStore>;

export function createSearchStore(
  database: Database,
  columns: Columns,
  stems: Stems,
  { synonyms, definitions }: Followed,
  reader: SearchReader,
) {
  const documentsOf = createDocumentReader(database);
  // One search has dozens of statements, and there are many searches at once.
  const read = wrapInSlices(database.read);
  const scorablesOf = createScorableReader(database, reader, stems);
  const sorted = createSortedReader(database);
  const findMatchingRows = createRowFinder(database, columns);
  const tools = {
    sorted,
    reader,
    stems,
    vocabulary: createVocabulary(database),
    documentsOf,
    scorablesOf,
    coded: createCodeLookup(database),
    named: createNameFinder(database, reader, stems),
    ...createQueryCaches(),
  };
  return {
    /** Hits for products that are already known to have all words of a query, each once. */
    async shown(found: readonly { readonly id: number; readonly score: number }[], marks: WordTest) {
      const places = found.map(({ id, score }) => ({
        position: toPosition('product', id),
        score,
        missing: [],
      }));
      return (await readHits(tools, read, places, { marks })).map(({ hit }) => hit);
    },

    /** Whether a query as a whole is the code of a variant of a product that is not archived. */
    async isCode(query: string): Promise<boolean> {
      const session = { ...read, seen: reader.seen() };
      return (await tools.coded(session, query, ['product'])).isWhole;
    },

    async search(given: SearchRequest): Promise<SearchResult> {
      const { conditions = [] } = given;
      // Before all other reads, since this may itself read in the background.
      const matches = given.matches ?? (await findMatchingRows(conditions));
      // Together, so that they share a check for changes.
      const [known, defined] = await Promise.all([synonyms.current(), definitions.current()]);
      const request = { ...given, matches, synonyms: known, definitions: defined };
      const seen = reader.seen();
      const failOnLongRead = reader.blocksEventLoop;
      try {
        // No snapshot: memory has another state anyway, and beginning and ending a snapshot takes as long as two reads.
        return await find(tools, { ...read, failOnLongRead, seen }, request);
      } catch (error) {
        if (!(error instanceof LongRead)) throw error;
        return database.snapshot(session => find(tools, { ...session, seen }, request), { background: true });
      }
    },
  };
}

async function find(all: Tools, session: SearchSession, request: ReadyRequest): Promise<SearchResult> {
  const documentsOf = readOnce(all.documentsOf);
  const codes = await all.coded(session, request.query, toDocumentTypes(request.visible, request));
  const tools = {
    ...all,
    documentsOf,
    reader: addCodesToReader(all.reader, codes, positions => documentsOf(session, positions)),
    scorablesOf: addCodesToScorables(all.scorablesOf, codes),
  };
  const results = await readResults(tools, session, request, codes);
  const reading = { tools, session, results };
  const unfiltered = request.ids === true ? await readUnfilteredIds(reading) : [];
  return {
    ...(await readPage(reading, request)),
    facets: toCountsByType(results.counts),
    relaxed: results.ranking.head[0]?.missing ?? [],
    corrected: results.corrected,
    unfiltered,
  };
}
