/** Searches: which documents a query finds, best first, with the texts they are shown by. */
import type { Database } from '../../storage/database.ts';
import type { Key, Listed, PageRequest } from '../../storage/list/request.ts';
import { isMet } from '../../storage/search/expression.ts';
import { type SearchDocument, type SearchType, spellingOf, typeAt } from '../../storage/search/index.ts';
import { LongRead, type SearchSession, searchReader } from '../../storage/search/read.ts';
import { documentWords } from '../../storage/search/words.ts';
import { allHits, type QueryWord, queryWords, type RankClass, rankClasses } from './ranking.ts';
import { snippetOf, type WordTest } from './snippet.ts';
import { type Documents, documentReader } from './sources.ts';

/** Up to so many hits are read at once and told apart by their own words. */
const veryFewHits = 20;
/** Up to so many hits are put in order here, which takes fewer look-ups than asking for each class by itself. */
const fewHits = 100;

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
  /** Another number whenever an answer may have changed. */
  version(): Promise<number>;
}

/** A hit's place: its class, and its position in the index. */
interface Place {
  readonly rank: number;
  readonly position: number;
}

/** What a query has been taken to ask for. */
interface Understood {
  readonly words: readonly QueryWord[];
  readonly counts: ReadonlyMap<SearchType, number>;
  /** All positions of the hits, when there are no more than `fewHits`. */
  readonly few: readonly number[] | undefined;
}

interface Walk {
  readonly few: readonly number[] | undefined;
  readonly classes: readonly RankClass[];
  readonly types: readonly SearchType[];
  readonly limit: number;
  readonly skip?: number;
  readonly start?: Key | undefined;
  readonly backwards?: boolean;
  readonly known: Documents;
}

export function searchStore(database: Database): SearchStore {
  const reader = searchReader(database);
  const words = spellingOf(database);
  const documentsOf = documentReader(database);

  /** What the query is taken to ask for: its words as they are, or else as they may have been meant. */
  async function understood(session: SearchSession, query: string, visible: readonly SearchType[]) {
    const asked = await withLongerWords(session, queryWords(query));
    const found = await lookedUp(session, asked, visible);
    if (found.words.length > 0 || asked.length === 0) return found;
    return lookedUp(session, (await corrected(session, asked, visible)) ?? [], visible);
  }

  /** Counts the hits of these words; keeps them when they are few. No words when there are no hits. */
  async function lookedUp(
    session: SearchSession,
    asked: readonly QueryWord[],
    visible: readonly SearchType[],
  ): Promise<Understood> {
    const none = new Map(visible.map(type => [type, 0]));
    if (asked.length === 0 || visible.length === 0) return { words: [], counts: none, few: [] };
    const all = allHits(asked);
    // Only counts of many hits are remembered.
    const known = await reader.remembered(session, all, visible);
    if (known !== undefined) return { words: asked, counts: known, few: undefined };
    const first = await reader.page(session, all, visible, { limit: fewHits + 1 });
    if (first.length > fewHits) {
      return { words: asked, counts: await reader.counts(session, all, visible), few: undefined };
    }
    for (const position of first) none.set(typeAt(position), (none.get(typeAt(position)) ?? 0) + 1);
    return { words: first.length === 0 ? [] : asked, counts: none, few: first };
  }

  /** The same, with the longer words that the last one may be the beginning of, if they are few or none. */
  async function withLongerWords(session: SearchSession, asked: QueryWord[]): Promise<QueryWord[]> {
    const last = asked.at(-1);
    if (last?.prefix !== true) return asked;
    const longer = await reader.longerWords(session, last.alternatives[0] ?? '');
    return [...asked.slice(0, -1), { ...last, prefix: longer?.length !== 0, longer }];
  }

  /** The query with words that are nowhere replaced by those they may be typos of; undefined when that is none. */
  async function corrected(
    session: SearchSession,
    asked: readonly QueryWord[],
    visible: readonly SearchType[],
  ) {
    const meant: QueryWord[] = [];
    for (const word of asked) {
      const [position] = await reader.page(session, allHits([word]), visible, { limit: 1 });
      if (position !== undefined) {
        meant.push(word);
        continue;
      }
      const alternatives = await words.candidates(session, word.alternatives[0] ?? '');
      if (alternatives.length === 0) return undefined;
      meant.push({ alternatives, prefix: false, misspelt: true });
    }
    return meant.some(({ misspelt }) => misspelt) ? meant : undefined;
  }

  /** Which class each of few hits belongs to; those that are left out belong to the last. */
  async function ranksOf(
    session: SearchSession,
    few: readonly number[],
    classes: readonly RankClass[],
    types: readonly SearchType[],
    known: Documents,
  ): Promise<ReadonlyMap<number, number>> {
    const ranks = new Map<number, number>();
    if (few.every(position => known.has(position))) {
      for (const [position, document] of known) {
        const entries = new Set(documentWords(document));
        ranks.set(
          position,
          classes.findIndex(({ upTo }) => isMet(upTo, entries)),
        );
      }
      return ranks;
    }
    for (const [rank, { upTo }] of classes.slice(0, -1).entries()) {
      if (ranks.size === few.length) break;
      const positions = await reader.page(session, upTo, types, { limit: fewHits, rare: true });
      for (const position of positions) if (!ranks.has(position)) ranks.set(position, rank);
    }
    return ranks;
  }

  /** All of few hits in their order. */
  async function ranked(
    session: SearchSession,
    few: readonly number[],
    { classes, types, known }: Pick<Walk, 'classes' | 'types' | 'known'>,
  ): Promise<Place[]> {
    const ranks = await ranksOf(session, few, classes, types, known);
    return few
      .filter(position => types.includes(typeAt(position)))
      .map(position => ({ rank: ranks.get(position) ?? classes.length - 1, position }))
      .sort((a, b) => a.rank - b.rank || a.position - b.position);
  }

  /** Goes through the classes, best first or backwards, until it has what it was asked for. */
  async function walk(session: SearchSession, request: Walk): Promise<Place[]> {
    const { classes, types, limit, start, few, backwards = false } = request;
    const places: Place[] = [];
    let skip = request.skip ?? 0;
    if (few !== undefined) {
      const all = await ranked(session, few, request);
      if (start === undefined) return all.slice(skip, skip + limit);
      const beyond = ({ rank, position }: Place) => rank - Number(start.value) || position - start.id;
      if (!backwards) return all.filter(place => beyond(place) > 0).slice(0, limit);
      return all
        .filter(place => beyond(place) < 0)
        .reverse()
        .slice(0, limit);
    }
    const last = classes.length - 1;
    let rank = start === undefined ? 0 : Number(start.value);
    if (backwards) rank = Math.min(rank, last);
    for (; rank >= 0 && rank <= last && places.length < limit; rank += backwards ? -1 : 1) {
      const hits = classes[rank]?.hits;
      if (hits === undefined) break;
      if (skip > 0) {
        const count = sum(await reader.counts(session, hits, types));
        if (count <= skip) {
          skip -= count;
          continue;
        }
      }
      const at = start !== undefined && rank === start.value ? start.id : undefined;
      const positions = await reader.page(session, hits, types, {
        limit: limit - places.length,
        offset: skip,
        descending: backwards,
        ...(at === undefined ? {} : backwards ? { high: at } : { low: at + 1 }),
      });
      skip = 0;
      for (const position of positions) places.push({ rank, position });
    }
    return places;
  }

  async function shown(
    session: SearchSession,
    places: readonly Place[],
    classes: readonly RankClass[],
    found: WordTest,
    known: Documents,
  ) {
    const missing = places.map(({ position }) => position).filter(position => !known.has(position));
    const documents = new Map([...known, ...(await documentsOf(session, missing))]);
    return places.flatMap(({ rank, position }) => {
      const document = documents.get(position);
      if (document === undefined) return [];
      const score = classes[rank]?.score ?? 0;
      const hit = { type: typeAt(position), document, snippet: snippetOf(document, found), score };
      return [{ id: position, sort_value: rank, hit }];
    });
  }

  async function answer(session: SearchSession, request: SearchRequest): Promise<Found> {
    const { query, visible, types, page } = request;
    const { words: meant, counts, few } = await understood(session, query, visible);
    const classes = meant.length === 0 ? [] : rankClasses(meant);
    const total = types.reduce((all, type) => all + (counts.get(type) ?? 0), 0);
    const found = testOf(meant);
    const isVeryFew = few !== undefined && few.length <= veryFewHits;
    const known: Documents = isVeryFew ? await documentsOf(session, few) : new Map();
    if (page.kind === 'offset') {
      const skip = (page.page - 1) * page.perPage;
      // What is known to be all need not be looked for in classes that are left.
      const limit = Math.max(0, Math.min(page.perPage, total - skip));
      const places = await walk(session, { classes, types, few, limit, skip, known });
      const rows = await shown(session, places, classes, found, known);
      const hasNext = skip + places.length < total;
      return { rows, total, facets: counts, hasPrevious: skip > 0, hasNext };
    }
    const backwards = page.before !== undefined;
    const start = page.before ?? page.after;
    const limit = start === undefined ? Math.min(page.limit + 1, total) : page.limit + 1;
    const places = await walk(session, { classes, types, few, limit, start, backwards, known });
    const more = places.length > page.limit;
    if (more) places.length = page.limit;
    if (backwards) places.reverse();
    return {
      rows: await shown(session, places, classes, found, known),
      total: page.count ? total : undefined,
      facets: counts,
      hasPrevious: backwards ? more : start !== undefined,
      hasNext: backwards || more,
    };
  }

  return {
    version: () => reader.version(database.read),

    async search(request) {
      if (!reader.holdsUp) return database.snapshot(session => answer(session, request));
      try {
        return await database.snapshot(session => answer({ ...session, brief: true }, request));
      } catch (error) {
        if (!(error instanceof LongRead)) throw error;
        return database.snapshot(session => answer(session, request), { aside: true });
      }
    },
  };
}

/** Tells which words of a text are to be marked. */
function testOf(words: readonly QueryWord[]): WordTest {
  const whole = new Set(words.flatMap(({ alternatives }) => alternatives));
  const beginnings = words.filter(({ prefix }) => prefix).flatMap(({ alternatives }) => alternatives);
  return word => whole.has(word) || beginnings.some(beginning => word.startsWith(beginning));
}

function sum(counts: ReadonlyMap<SearchType, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}
