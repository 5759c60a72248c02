/** Searches: which documents a query finds, best first, with the texts they are shown by. */
import type { Database } from '../../storage/database.ts';
import type { Listed, PageRequest } from '../../storage/list/request.ts';
import { type SearchDocument, type SearchType, spellingOf, typeAt } from '../../storage/search/index.ts';
import { LongRead, type SearchSession, searchReader } from '../../storage/search/read.ts';
import { type QueryTools, understand } from './query.ts';
import { type QueryWord, type RankClass, rankClasses } from './ranking.ts';
import { snippetOf, type WordTest } from './snippet.ts';
import { type Documents, documentReader } from './sources.ts';
import { type Place, walk } from './walk.ts';

/** Up to so many hits are read at once and told apart by their own words. */
const veryFewHits = 20;

interface SearchRequest {
  readonly query: string;
  /** The types the caller may read. */
  readonly visible: readonly SearchType[];
  /** The types asked for: some of those. */
  readonly types: readonly SearchType[];
  readonly page: PageRequest;
}

export interface Hit {
  readonly type: SearchType;
  readonly document: SearchDocument;
  /** HTML. */
  readonly snippet: string;
  readonly score: number;
}

interface Found extends Listed<{ readonly hit: Hit }> {
  /** Hits of each visible type. */
  readonly facets: ReadonlyMap<SearchType, number>;
}

export interface SearchStore {
  search(request: SearchRequest): Promise<Found>;
  /** Another number whenever a result may have changed. */
  version(): Promise<number>;
}

interface Tools extends QueryTools {
  readonly documentsOf: ReturnType<typeof documentReader>;
}

/** What a query finds, before it is put in pages. */
interface Results {
  readonly few: readonly number[] | undefined;
  readonly classes: readonly RankClass[];
  readonly types: readonly SearchType[];
  /** Documents that have been read already. */
  readonly known: Documents;
  readonly total: number;
  /** Which words of a text are to be marked. */
  readonly marks: WordTest;
}

export function searchStore(database: Database): SearchStore {
  const reader = searchReader(database);
  const tools = { reader, spelling: spellingOf(database), documentsOf: documentReader(database) };
  return {
    version: () => reader.version(database.read),

    async search(request) {
      if (!reader.holdsUp) return database.snapshot(session => find(tools, session, request));
      try {
        return await database.snapshot(session => find(tools, { ...session, brief: true }, request));
      } catch (error) {
        if (!(error instanceof LongRead)) throw error;
        return database.snapshot(session => find(tools, session, request), { background: true });
      }
    },
  };
}

async function find(tools: Tools, session: SearchSession, request: SearchRequest): Promise<Found> {
  const { query, visible, types, page } = request;
  const { words, counts, few } = await understand(tools, session, query, visible);
  const isVeryFew = few !== undefined && few.length <= veryFewHits;
  const results: Results = {
    classes: words.length === 0 ? [] : rankClasses(words),
    types,
    few,
    known: isVeryFew ? await tools.documentsOf(session, few) : new Map(),
    total: types.reduce((all, type) => all + (counts.get(type) ?? 0), 0),
    marks: testOf(words),
  };
  const found =
    page.kind === 'offset'
      ? await pageByOffset(tools, session, results, page)
      : await pageByKey(tools, session, results, page);
  return { ...found, facets: counts };
}

type Page = Omit<Found, 'facets'>;

async function pageByOffset(
  tools: Tools,
  session: SearchSession,
  results: Results,
  page: PageRequest & { kind: 'offset' },
): Promise<Page> {
  const { total } = results;
  const skip = (page.page - 1) * page.perPage;
  // What is known to be all need not be looked for in classes that are left.
  const limit = Math.max(0, Math.min(page.perPage, total - skip));
  const places = await walk(tools.reader, session, { ...results, limit, skip });
  const rows = await hitsAt(tools, session, places, results);
  return { rows, total, hasPrevious: skip > 0, hasNext: skip + places.length < total };
}

async function pageByKey(
  tools: Tools,
  session: SearchSession,
  results: Results,
  page: PageRequest & { kind: 'key' },
): Promise<Page> {
  const { total } = results;
  const backwards = page.before !== undefined;
  const start = page.before ?? page.after;
  const limit = start === undefined ? Math.min(page.limit + 1, total) : page.limit + 1;
  const places = await walk(tools.reader, session, { ...results, limit, start, backwards });
  const more = places.length > page.limit;
  if (more) places.length = page.limit;
  if (backwards) places.reverse();
  return {
    rows: await hitsAt(tools, session, places, results),
    total: page.count ? total : undefined,
    hasPrevious: backwards ? more : start !== undefined,
    hasNext: backwards || more,
  };
}

async function hitsAt(
  { documentsOf }: Tools,
  session: SearchSession,
  places: readonly Place[],
  { classes, marks, known }: Results,
) {
  const missing = places.map(({ position }) => position).filter(position => !known.has(position));
  const documents = new Map([...known, ...(await documentsOf(session, missing))]);
  return places.flatMap(({ rank, position }) => {
    const document = documents.get(position);
    if (document === undefined) return [];
    const score = classes[rank]?.score ?? 0;
    const hit = { type: typeAt(position), document, snippet: snippetOf(document, marks), score };
    return [{ id: position, sort_value: rank, hit }];
  });
}

/** Tells which words of a text are to be marked. */
function testOf(words: readonly QueryWord[]): WordTest {
  const whole = new Set(words.flatMap(({ alternatives }) => alternatives));
  const beginnings = words.filter(({ prefix }) => prefix).flatMap(({ alternatives }) => alternatives);
  return word => whole.has(word) || beginnings.some(beginning => word.startsWith(beginning));
}
