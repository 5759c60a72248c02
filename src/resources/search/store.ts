/** Searches: which documents a query finds, best first, with the texts they are shown by. */

import { rowFinder } from '../../storage/columns/counted.ts';
import type { Columns } from '../../storage/columns/index.ts';
import type { Database } from '../../storage/database.ts';
import type { Condition, Listed, Order, PageRequest } from '../../storage/list/request.ts';
import type { Expression } from '../../storage/search/expression.ts';
import { type DocumentType, idAt, positionOf, type SearchType, typeAt } from '../../storage/search/index.ts';
import type { SearchSession } from '../../storage/search/reading/frequency.ts';
import { LongRead, type SearchReader } from '../../storage/search/reading/index.ts';
import { sortedReader } from '../../storage/search/sorted.ts';
import type { Stems } from '../../storage/search/text/stems.ts';
import { shownFields } from '../../storage/search/text/words.ts';
import { vocabulary } from '../../storage/search/vocabulary.ts';
import type { SynonymStore, Synonyms } from '../synonyms/store.ts';
import { candidatesFor } from './ranking/candidates.ts';
import { codedProducts, rankedAlike } from './ranking/codes.ts';
import { allHits, filteredReader, type HitReader, productsAt } from './ranking/filtered.ts';
import { scorableReader } from './ranking/known.ts';
import { inOrder, lastPlace, type Place, type Ranking, rankedHead, sliceOf } from './ranking/ranked.ts';
import { weighed } from './ranking/score.ts';
import { type QueryTools, queryCaches, understand } from './ranking/understand.ts';
import { snippetOf, testOf, type WordTest } from './snippet.ts';
import {
  countsByType,
  type DocumentReader,
  documentReader,
  type Hit,
  isProduct,
  readOnce,
  searchTypeOf,
} from './sources.ts';

interface SearchRequest {
  readonly query: string;
  /** The types the caller may read. */
  readonly visible: readonly SearchType[];
  /** The types requested: some of those. */
  readonly types: readonly SearchType[];
  readonly page: PageRequest;
  /** Of products: those that have this status, instead of the active ones. */
  readonly archived?: boolean;
  /** The filters that products have to meet. */
  readonly conditions?: readonly Condition[];
  /** Of products: the order, if not by how good they are. */
  readonly order?: Order | undefined;
  /** Whether to tell the ids of all products found. */
  readonly ids?: boolean;
  /** While somebody types: words that begin with the last one. Then some good hits will do, and nothing is counted. */
  readonly completions?: readonly string[];
}

interface ReadyRequest extends SearchRequest {
  /** Tells of a product's id whether it meets the filters; undefined without. */
  readonly meets: ((id: number) => boolean) | undefined;
  readonly synonyms: Synonyms;
}

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

interface Tools extends QueryTools {
  readonly documentsOf: DocumentReader;
  readonly scorablesOf: ReturnType<typeof scorableReader>;
  readonly sorted: ReturnType<typeof sortedReader>;
  readonly coded: ReturnType<typeof codedProducts>;
}

/** What a query finds, before it is put in pages. */
interface Results {
  readonly reader: HitReader;
  /** Those that have all words. */
  readonly expression: Expression;
  readonly ranking: Ranking;
  readonly counts: ReadonlyMap<DocumentType, number>;
  /** Which words of a text are to be marked. */
  readonly marks: WordTest;
}

export function searchStore(
  database: Database,
  columns: Columns,
  stems: Stems,
  synonyms: Pick<SynonymStore, 'current'>,
  reader: SearchReader,
): SearchStore {
  const documentsOf = documentReader(database);
  const scorablesOf = scorableReader(database, reader);
  const sorted = sortedReader(database);
  const rowsMeeting = rowFinder(database, columns);
  const tools = {
    sorted,
    rowsMeeting,
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

    async search(asked) {
      const { conditions = [] } = asked;
      // Before anything is read: it may be read in the background itself.
      const request = { ...asked, meets: await rowsMeeting(conditions), synonyms: await synonyms.current() };
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
  const { page, order } = request;
  const ids = order === undefined ? [] : await idsOf(session, results);
  const unfiltered = request.ids === true ? await unfilteredIds(tools, session, results) : [];
  const found =
    order !== undefined
      ? await pageInOrder(tools, session, results, { ids, order, page })
      : page.kind === 'offset'
        ? await pageByOffset(session, results, page, tools)
        : await pageByKey(session, results, page, tools);
  return {
    ...found,
    facets: countsByType(results.counts),
    relaxed: results.ranking.head[0]?.missing ?? [],
    unfiltered,
  };
}

async function resultsOf(
  tools: Tools,
  session: SearchSession,
  {
    query,
    visible: readable,
    types: wanted,
    archived = false,
    meets,
    synonyms,
    completions,
    page,
    order,
  }: ReadyRequest,
): Promise<Results> {
  const placesOf = (types: readonly SearchType[]): readonly DocumentType[] =>
    archived ? types.map(type => (type === 'product' ? 'archived' : type)) : types;
  const [visible, types] = [placesOf(readable), placesOf(wanted)];
  const reader = meets === undefined ? tools.reader : filteredReader(tools.reader, meets);
  const coded = await tools.coded(session, query, types);
  if (coded.length > 0) {
    const found = coded.filter(at => meets?.(idAt(at)) ?? true);
    return { reader, expression: [], ...rankedAlike(found, visible, types), marks: testOf([]) };
  }
  const words = await understand(tools, session, { query, types: visible, synonyms, completions });
  const documents = await tools.reader.documents(session);
  const few = completions !== undefined;
  const asked = { reader, session, words, visible, types, documents, few };
  const { positions, likely, all, expression, counts } = await candidatesFor(asked);
  const weights = words.map(word => weighed(word, documents));
  const scored = async (some: readonly number[]) =>
    inOrder(await tools.scorablesOf(session, some, tools.documentsOf), weights);
  const head = await rankedHead(positions, scored, likely, order === undefined ? lastPlace(page) : undefined);
  const total = types.reduce((sum, type) => sum + (counts.get(type) ?? 0), 0);
  return { reader, expression, ranking: { head, all, types, total }, counts, marks: testOf(words) };
}

type Page = Omit<Found, 'facets' | 'relaxed' | 'unfiltered'>;

/** The ids of all products found. */
async function idsOf(session: SearchSession, { reader, ranking }: Results): Promise<number[]> {
  const { all, head, types } = ranking;
  if (all === undefined) return productsAt(head.map(({ position }) => position));
  return productsAt(await allHits(reader, { session, expression: all, types }));
}

/** The same, whether they meet the filters or not. */
async function unfilteredIds(
  { reader }: Tools,
  session: SearchSession,
  { expression, ranking }: Results,
): Promise<number[]> {
  const { head, types } = ranking;
  const others = new Set(head.map(({ position }) => position));
  const isOther = (position: number) => !others.has(position);
  const found = expression.length === 0 ? [] : await allHits(reader, { session, expression, types }, isOther);
  for (const position of others) found.push(position);
  return productsAt(found);
}

interface Sorting {
  readonly ids: readonly number[];
  readonly order: Order;
  readonly page: PageRequest;
}

async function pageInOrder(
  tools: Tools,
  session: SearchSession,
  results: Results,
  { ids, order, page }: Sorting,
): Promise<Page> {
  const { head, types } = results.ranking;
  const type = types.find(isProduct) ?? 'product';
  const listed = await tools.sorted(session, ids, order, page);
  const ranked = new Map(head.map(place => [place.position, place]));
  const places = listed.rows.map(({ id }) => {
    const position = positionOf(type, id);
    return ranked.get(position) ?? { position, score: 0, missing: [] };
  });
  const hits = new Map((await hitsAt(tools, session, places, results)).map(row => [row.id, row.hit]));
  const rows = listed.rows.flatMap(({ id, sort_value }) => {
    const hit = hits.get(positionOf(type, id));
    return hit === undefined ? [] : [{ id, sort_value, hit }];
  });
  return { ...listed, rows };
}

async function pageByOffset(
  session: SearchSession,
  results: Results,
  page: PageRequest & { kind: 'offset' },
  tools: Tools,
): Promise<Page> {
  const { ranking } = results;
  const skip = (page.page - 1) * page.perPage;
  const limit = Math.max(0, Math.min(page.perPage, ranking.total - skip));
  const places = await sliceOf({ reader: results.reader, session, ranking }, { limit, skip });
  const rows = await hitsAt(tools, session, places, results);
  return { rows, total: ranking.total, hasPrevious: skip > 0, hasNext: skip + places.length < ranking.total };
}

async function pageByKey(
  session: SearchSession,
  results: Results,
  page: PageRequest & { kind: 'key' },
  tools: Tools,
): Promise<Page> {
  const { ranking } = results;
  const backwards = page.before !== undefined;
  const start = page.before ?? page.after;
  const slice = { limit: page.limit + 1, start, backwards };
  const places = await sliceOf({ reader: results.reader, session, ranking }, slice);
  const more = places.length > page.limit;
  if (more) places.length = page.limit;
  if (backwards) places.reverse();
  return {
    rows: await hitsAt(tools, session, places, results),
    total: page.count ? ranking.total : undefined,
    hasPrevious: backwards ? more : start !== undefined,
    hasNext: backwards || more,
  };
}

async function hitsAt(
  { documentsOf }: Pick<Tools, 'documentsOf'>,
  session: SearchSession,
  places: readonly Place[],
  { marks }: Pick<Results, 'marks'>,
) {
  const documents = await documentsOf(
    session,
    places.map(({ position }) => position),
  );
  return places.flatMap(({ score, position, missing }) => {
    const document = documents.get(position);
    if (document === undefined) return [];
    const type = searchTypeOf(typeAt(position));
    const snippet = snippetOf({ ...document, fields: shownFields(document) }, marks);
    const hit = { type, document, snippet, score: Math.max(0, score), missing };
    return [{ id: position, sort_value: score, hit }];
  });
}
