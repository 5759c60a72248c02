/**
 * Reads the search index: pages of positions, and how many there are. Counting the documents of a frequent word takes
 * long, so counts are cached until `seen` changes.
 */
import type { Database, Session } from '../../database.ts';
import { createCachedWords } from '../cached.ts';
import { type Choice, type Expression, isOneWord, type Range } from '../expression.ts';
import { type DocumentType, getDialectWords, searchTypes, toTypeNumber, toTypeNumbers } from '../index.ts';
import {
  createFrequencyReader,
  type FrequencyReader,
  reachLimit,
  type SearchSession,
  shortReads,
  toSpan,
} from './frequency.ts';
import { createPrefixReader } from './prefixes.ts';
import { createRarityTest } from './rare.ts';
import { createReadStatements } from './statements.ts';

interface SearchPage extends Partial<Range> {
  /** The most hits that there can be, if known. */
  readonly smallest?: number | undefined;
  readonly limit: number;
  readonly offset?: number;
  readonly descending?: boolean;
}

/** Thrown if a search must be run again in a session that does not fail on long reads. */
export class LongRead extends Error {}

export interface SearchReader extends FrequencyReader {
  /** Whether a statement blocks all other requests, so that sessions must fail on long reads. */
  readonly blocksEventLoop: boolean;
  /** Positions of matching documents of these types, in order. */
  page(
    session: SearchSession,
    expression: Expression,
    types: readonly DocumentType[],
    page: SearchPage,
  ): Promise<number[]>;
  /**
   * Those of some positions, ascending, at which a group matches.
   * @param within a group that all of them match, and few documents
   */
  among(
    session: SearchSession,
    group: Expression[number],
    positions: readonly number[],
    types: readonly DocumentType[],
    within: Expression[number],
  ): Promise<number[]>;
  /** The exact number of matching documents of each of these types. */
  counts(
    session: SearchSession,
    expression: Expression,
    types: readonly DocumentType[],
    smallest?: number,
  ): Promise<ReadonlyMap<DocumentType, number>>;
  /** The longer words that begin with this one; undefined if they are many, or not worth knowing. */
  longerWords(session: SearchSession, word: string): Promise<string[] | undefined>;
  /**
   * All documents of each of the choices, by few statements.
   * @returns undefined if that is not worthwhile; undefined for each choice that would take long
   */
  documentsOf(
    session: Session,
    choices: readonly Choice[],
  ): Promise<readonly (readonly number[] | undefined)[] | undefined>;
  /** Changes with every check that finds a change of what searches find; undefined if there are no checks. */
  seen(): number | undefined;
  /**
   * About how many documents have words that begin with this one, if they are few; else undefined.
   * @param most fewer than this are few
   */
  beginning(session: SearchSession, word: string, most?: number): Promise<number | undefined>;
  /** Reads in advance what some choices will need, if one statement is cheaper than several. */
  fetch(session: SearchSession, choices: readonly Choice[]): Promise<void>;
}

const cachedCounts = 5000;
/** Beginnings of words whose number of documents is cached. */
const cachedBeginnings = 5000;
/** If more words are longer, they are searched for by prefix. */
const fewLonger = 16;
/** The most documents that a session that fails on long reads may collect for a prefix. */
const fewInstances = 2000;
/** Documents that are tested one by one in about a millisecond. */
const fewTested = 1000;
/** The most documents of each word when several are read together. */
export const maxDocuments = 2001;
/** The most hits that a session that fails on long reads may skip. */
const shortReadOffset = 1000;
/** The most hits that such a session may read. */
const shortReadRows = 5000;

export function createSearchReader(database: Pick<Database, 'build' | 'dialect'>): SearchReader {
  const { build } = database;
  const words = getDialectWords(database);
  const keepCounts = createCachedWords<ReadonlyMap<DocumentType, number>>(cachedCounts);
  const statements = createReadStatements(build, words);
  const countInstances = createInstanceCounter(statements);

  const readPrefixes = createPrefixReader(build, words);
  const isRare = createRarityTest(words, build, statements);
  const frequencies = createFrequencyReader(database, statements, { isRare, refuseIfLong });

  async function countBetween(session: SearchSession, query: string, range: Range): Promise<number> {
    if (session.failOnLongRead !== true)
      return (await session.first(statements.countQuery({ query, ...range })))?.total ?? 0;
    const limit = shortReads + 1;
    const reached = await session.first(statements.reachQuery('common', { query, ...range, limit }));
    if (reached !== undefined && reached.total >= limit) throw new LongRead();
    return reached?.total ?? 0;
  }

  /** Counts all types by one statement, where that is faster than counting each alone. */
  async function countTogether(session: SearchSession, query: string, types: readonly DocumentType[]) {
    const rows = await session.all(statements.countTypesQuery({ query, ...toSpan(types) }));
    const getTotal = (type: DocumentType) => rows.find(row => row.type === toTypeNumber(type))?.total ?? 0;
    return new Map(types.map(type => [type, getTotal(type)]));
  }

  async function countApart(session: SearchSession, query: string, types: readonly DocumentType[]) {
    const counts = new Map<DocumentType, number>();
    for (const type of types) {
      const isAny = (await frequencies.countAtMost(session, [type])) > 0;
      counts.set(type, isAny ? await countBetween(session, query, toSpan([type])) : 0);
    }
    return counts;
  }

  async function refuseIfLong(
    session: SearchSession,
    types: readonly DocumentType[],
    expression?: Expression,
  ): Promise<void> {
    if (session.failOnLongRead !== true) return;
    if (expression !== undefined && (await hasFew(session, expression, countInstances))) return;
    if ((await frequencies.countAtMost(session, types)) > shortReads) throw new LongRead();
  }

  const reader: SearchReader = {
    blocksEventLoop: words.blocksEventLoop,

    among(session, group, positions, types, within) {
      const range = { low: positions[0] ?? 0, high: (positions.at(-1) ?? 0) + 1 };
      const { length } = positions;
      return reader.page(session, [within, group], types, { ...range, limit: length, smallest: length });
    },

    async page(session, expression, types, options) {
      const { limit, offset = 0, descending = false, ...range } = options;
      // A read that is not refused is only of the page itself, or of the documents of a rare word.
      const { smallest } = options;
      if (offset > shortReadOffset || limit > shortReadRows) await refuseIfLong(session, types);
      else if (!(isShort(smallest) || isOneWord(expression))) await refuseIfLong(session, types, expression);
      const span = toSpan(types);
      const low = Math.max(span.low, range.low ?? 0);
      const high = Math.min(span.high, range.high ?? span.high);
      if (low >= high) return [];
      const query = words.text(expression);
      const isFew = smallest !== undefined && smallest <= reachLimit;
      const isWalked =
        low >= toSpan(['product']).high && (await frequencies.countAtMost(session, types)) <= fewTested;
      const frequency = !isWalked && (isFew || (await isRare(session, expression))) ? 'rare' : 'common';
      const shape = `${descending ? 'down' : 'up'} ${frequency} ${toTypeNumbers(types).join(' ')}`;
      const values = { query, low, high, limit, offset };
      return (await session.all(statements.pageQuery(shape, values))).map(({ position }) => position);
    },

    async counts(session, expression, types, smallest) {
      const query = words.text(expression);
      return keepCounts(session.seen, `${types.join()} ${query}`, async () => {
        if (!isOneWord(expression) && !isShort(smallest)) await refuseIfLong(session, types, expression);
        const count = words.countTypes === undefined ? countApart : countTogether;
        return count(session, query, types);
      });
    },

    seen: () => undefined,

    async documentsOf(session, choices) {
      if (readPrefixes !== undefined) return readPrefixes(session, choices);
      if (words.documentsOf === undefined) return undefined;
      const wanted: number[] = [];
      const values: Record<string, string | number> = { ...toSpan(searchTypes), limit: maxDocuments };
      for (const [at, choice] of choices.entries()) {
        const expression = [[choice]];
        if (!(await isRare(session, expression))) continue;
        values[`query${wanted.length}`] = words.text(expression);
        wanted.push(at);
      }
      const found: number[][] = [];
      for (const at of wanted) found[at] = [];
      const rows =
        wanted.length === 0
          ? []
          : await session.all(statements.documentsQuery(String(wanted.length), values));
      for (const { place, position } of rows) found[wanted[place - 1] ?? 0]?.push(position);
      return choices.map((_, at) => found[at]);
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

/** How often documents have words with a beginning, up to a limit. */
type InstanceCounter = (session: SearchSession, word: string, limit: number) => Promise<number>;

/** Counts again only if the words of documents may have changed. */
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

/** Whether the prefixes in an expression of one group have so few documents that collecting these is quick. */
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

/** Whether the rarest of several words has so few documents that searching for all words is quick. */
const isShort = (smallest: number | undefined): boolean => smallest !== undefined && smallest <= shortReads;
