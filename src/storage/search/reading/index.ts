/**
 * Reads the search index: pages of positions, and how many there are. The documents of a frequent word take long to
 * count; so counts are cached, and only documents that were added since are counted.
 */
import type { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Database, Session } from '../../database.ts';
import { createCachedWords } from '../cached.ts';
import { type Expression, isOneWord, type Range, type Term } from '../expression.ts';
import { type DocumentType, documentTypes, getDialectWords, searchTypes } from '../index.ts';
import {
  createFrequencyReader,
  type FrequencyReader,
  reachLimit,
  type SearchSession,
  shortReads,
  toSpan,
} from './frequency.ts';
import { createRarityTest } from './rare.ts';
import { createReadStatements } from './statements.ts';

interface SearchPage extends Partial<Range> {
  /** No more hits than this, as far as is known. */
  readonly smallest?: number | undefined;
  readonly limit: number;
  readonly offset?: number;
  readonly descending?: boolean;
}

/** The search has to be run again in a session that does not fail on long reads. */
export class LongRead extends Error {}

export interface SearchReader extends FrequencyReader {
  /** Whether a statement stops all other requests, so that sessions have to fail on long reads. */
  readonly blocksEventLoop: boolean;
  /** Positions of documents of these types, in their order. */
  page(
    session: SearchSession,
    expression: Expression,
    types: readonly DocumentType[],
    page: SearchPage,
  ): Promise<number[]>;
  /**
   * Those of some positions, ascending, at which a group matches.
   * @param within what all of them match, by few documents
   */
  among(
    session: SearchSession,
    group: Expression[number],
    positions: readonly number[],
    types: readonly DocumentType[],
    within: Expression[number],
  ): Promise<number[]>;
  /** How many there are of each of these types: exact. */
  counts(
    session: SearchSession,
    expression: Expression,
    types: readonly DocumentType[],
    smallest?: number,
  ): Promise<Map<DocumentType, number>>;
  /** The same where it is cached, and so costs little even for very many; else undefined. */
  cached(
    session: SearchSession,
    expression: Expression,
    types: readonly DocumentType[],
    smallest?: number,
  ): Promise<Map<DocumentType, number> | undefined>;
  /** The words that begin with this one and are longer; undefined when they are many, or not worth knowing. */
  longerWords(session: SearchSession, word: string): Promise<string[] | undefined>;
  /**
   * All documents with each of the words, by few statements. @returns undefined where that is not worth while; for a word
   * that would take long undefined, too
   */
  documentsOf(
    session: Session,
    terms: readonly Term[],
  ): Promise<readonly (readonly number[] | undefined)[] | undefined>;
  /** Changes with every check that has found changes of what searches find; undefined where no check is made. */
  seen(): number | undefined;
  /**
   * About how many documents have words that begin so, where they are few; else undefined.
   * @param most fewer are few
   */
  beginning(session: SearchSession, word: string, most?: number): Promise<number | undefined>;
  /** Reads what will be needed of some terms, as far as one statement is cheaper than several. */
  fetch(session: SearchSession, terms: readonly Term[]): Promise<void>;
}

const cachedCounts = 5000;
/** Beginnings of words whose number of documents is kept. */
const cachedBeginnings = 5000;
/** Longer words than these are searched for as a prefix. */
const fewLonger = 16;
/** Documents that may be put together by a session that fails on long reads. */
const fewInstances = 2000;
/** Of each word, where documents of several are read together. */
export const mostDocuments = 2001;
/** Hits that such a session may pass over. */
const shortReadOffset = 1000;
/** Hits that such a session may read. */
const shortReadRows = 5000;

export function createSearchReader(database: Pick<Database, 'build' | 'dialect'>): SearchReader {
  const { build } = database;
  const words = getDialectWords(database);
  const cached = new LRUCache<string, { readonly seen: number; readonly total: number }>({
    max: cachedCounts,
  });
  const documentsQueries = new Map<string, CompiledQuery<{ total: number }>>();
  const statements = createReadStatements(build, words);
  const countInstances = createInstanceCounter(statements);

  const isRare = createRarityTest(words, build, statements);
  const frequencies = createFrequencyReader(database, { isRare, refuseIfLong });

  async function countBetween(session: SearchSession, query: string, range: Range): Promise<number> {
    if (session.failOnLongRead !== true)
      return (await session.first(statements.countQuery({ query, ...range })))?.total ?? 0;
    const limit = shortReads + 1;
    const total = (await session.first(statements.countUpToQuery({ query, ...range, limit })))?.total ?? 0;
    if (total >= limit) throw new LongRead();
    return total;
  }

  const findCount = ({ seen }: SearchSession, query: string, type: DocumentType): number | undefined => {
    const known = cached.get(toKey(type, query));
    return known !== undefined && known.seen === seen ? known.total : undefined;
  };
  const keepCount = ({ seen }: SearchSession, query: string, type: DocumentType, total: number): number => {
    if (seen !== undefined) cached.set(toKey(type, query), { seen, total });
    return total;
  };

  /** Counts all types at once and caches that. */
  async function countTogether(session: SearchSession, query: string, types: readonly DocumentType[]) {
    const rows = await session.all(statements.countTypesQuery({ query, ...toSpan(types) }));
    const getTotal = (type: DocumentType) => rows.find(row => row.type === toTypeNumber(type))?.total ?? 0;
    return new Map(types.map(type => [type, keepCount(session, query, type, getTotal(type))]));
  }

  async function countApart(session: SearchSession, query: string, types: readonly DocumentType[]) {
    const counts = new Map<DocumentType, number>();
    for (const type of types) {
      const known = findCount(session, query, type);
      const total = known ?? (await countBetween(session, query, toSpan([type])));
      counts.set(type, keepCount(session, query, type, total));
    }
    return counts;
  }

  async function refuseIfLong(
    session: SearchSession,
    types: readonly DocumentType[],
    expression?: Expression,
  ): Promise<void> {
    if (session.failOnLongRead !== true || words.documents === undefined) return;
    if (expression !== undefined && (await hasFew(session, expression, countInstances))) return;
    const query = documentsQueries.get(types.join()) ?? words.documents(types).compile(build);
    documentsQueries.set(types.join(), query);
    if (((await session.first(query))?.total ?? 0) > shortReads) throw new LongRead();
  }

  const reader: SearchReader = {
    blocksEventLoop: words.documents !== undefined,

    among(session, group, positions, types, within) {
      const range = { low: positions[0] ?? 0, high: (positions.at(-1) ?? 0) + 1 };
      const { length } = positions;
      return reader.page(session, [within, group], types, { ...range, limit: length, smallest: length });
    },

    async page(session, expression, types, options) {
      const { limit, offset = 0, descending = false, ...range } = options;
      // What has to be read is then what is shown, or the documents of a rare word.
      const { smallest } = options;
      if (offset > shortReadOffset || limit > shortReadRows) await refuseIfLong(session, types);
      else if (!(isShort(smallest) || isOneWord(expression))) await refuseIfLong(session, types, expression);
      const span = toSpan(types);
      const low = Math.max(span.low, range.low ?? 0);
      const high = Math.min(span.high, range.high ?? span.high);
      if (low >= high) return [];
      const query = words.text(expression);
      const isFew = smallest !== undefined && smallest <= reachLimit;
      const isWalked = low >= toSpan(['product']).high && (await frequencies.areFew(session, types));
      const frequency = !isWalked && (isFew || (await isRare(session, expression))) ? 'rare' : 'common';
      const shape = `${descending ? 'down' : 'up'} ${frequency} ${toTypeNumbers(types).join(' ')}`;
      const values = { query, low, high, limit, offset };
      return (await session.all(statements.pageQuery(shape, values))).map(({ position }) => position);
    },

    async counts(session, expression, types, smallest) {
      if (!isOneWord(expression) && !isShort(smallest)) await refuseIfLong(session, types, expression);
      const query = words.text(expression);
      const isTogether = words.countTypes !== undefined && !(words.countsWordsApart && isOneWord(expression));
      const isKnown = types.every(type => findCount(session, query, type) !== undefined);
      return isTogether && !isKnown
        ? countTogether(session, query, types)
        : countApart(session, query, types);
    },

    async cached(session, expression, types, smallest) {
      const query = words.text(expression);
      if (!types.every(type => findCount(session, query, type) !== undefined)) return undefined;
      if (!isOneWord(expression) && !isShort(smallest)) await refuseIfLong(session, types);
      return countApart(session, query, types);
    },

    seen: () => undefined,

    async documentsOf(session, terms) {
      if (words.documentsOf === undefined) return undefined;
      const wanted: { readonly at: number; readonly query: string }[] = [];
      for (const [at, term] of terms.entries()) {
        const expression = [[[term]]];
        if (await isRare(session, expression)) wanted.push({ at, query: words.text(expression) });
      }
      const found: number[][] = [];
      for (const { at } of wanted) found[at] = [];
      const queries = wanted.map(({ query }) => query).join('\n');
      const limit = mostDocuments;
      const rows =
        wanted.length === 0
          ? []
          : await session.all(statements.documentsQuery({ query: queries, ...toSpan(searchTypes), limit }));
      for (const { place, position } of rows) found[wanted[place - 1]?.at ?? 0]?.push(position);
      return terms.map((_, at) => found[at]);
    },

    fetch: async () => undefined,

    async beginning(session, word, most = fewInstances) {
      if (words.instances === undefined) return undefined;
      const total = await countInstances(session, word, most);
      return total < most ? total : undefined;
    },

    ...frequencies,

    async longerWords(session, word) {
      if (words.longerWords === undefined) return undefined;
      const rows = await session.all(statements.longerQuery({ word, limit: fewLonger + 1 }));
      return rows.length > fewLonger ? undefined : rows.map(row => row.word);
    },
  };
  return reader;
}

/** How many times words that begin so are in documents, as far as a limit. */
type InstanceCounter = (session: SearchSession, word: string, limit: number) => Promise<number>;

/** Counts again only when documents may have other words. */
function createInstanceCounter({
  instancesQuery,
}: Pick<ReturnType<typeof createReadStatements>, 'instancesQuery'>): InstanceCounter {
  const keep = createCachedWords<number>(cachedBeginnings);
  return (session, word, limit) =>
    keep(
      session.seen,
      `${word} ${limit}`,
      async () => (await session.first(instancesQuery({ word, limit })))?.total ?? 0,
    );
}

/** Whether an expression of one group begins words of few documents only, so that putting them together takes no time. */
async function hasFew(
  session: SearchSession,
  [group = [], ...others]: Expression,
  countInstances: InstanceCounter,
): Promise<boolean> {
  if (others.length > 0 || group.some(choice => choice.length > 1)) return false;
  for (const { word, mark = '', prefix, longer } of group.flat()) {
    if (prefix !== true || longer !== undefined) continue;
    if ((await countInstances(session, mark + word, fewInstances)) >= fewInstances) return false;
  }
  return true;
}

/** Whether looking for all of several words takes no longer than for the rarest of them. */
const isShort = (smallest: number | undefined): boolean => smallest !== undefined && smallest <= shortReads;

const toKey = (type: string, query: string) => `${type} ${query}`;

const toTypeNumber = (type: DocumentType) => documentTypes.indexOf(type) + 1;
const toTypeNumbers = (types: readonly DocumentType[]) => types.map(toTypeNumber).sort((a, b) => a - b);
