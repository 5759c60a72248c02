/**
 * Reads the search index: pages of positions, and how many there are. What a word of very many documents costs
 * is to count them; so counts are cached, and only what has been added since is counted again.
 */
import { type CompiledQuery, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Database, Session } from '../../database.ts';
import type { Mark } from '../dialect.ts';
import { type Expression, isOneWord, type Range } from '../expression.ts';
import { type DocumentType, documentTypes, searchCollection, wordsOfDialect } from '../index.ts';
import {
  type FrequencyReader,
  frequencyReader,
  reachLimit,
  type SearchSession,
  shortReads,
  spanOf,
} from './frequency.ts';
import { rarityTest } from './rare.ts';
import { readStatements } from './statements.ts';

interface SearchPage extends Partial<Range> {
  /** No more hits than this, as far as is known. */
  readonly smallest?: number | undefined;
  readonly limit: number;
  readonly offset?: number;
  readonly descending?: boolean;
}

/** To be asked again in a session that is not brief. */
export class LongRead extends Error {}

export interface SearchReader extends FrequencyReader {
  /** Whether a statement holds up everybody else, so that sessions had better be brief. */
  readonly holdsUp: boolean;
  /** Positions of documents of these types, in their order. */
  page(
    session: SearchSession,
    expression: Expression,
    types: readonly DocumentType[],
    page: SearchPage,
  ): Promise<number[]>;
  /**
   * Those of some positions, ascending, at which a group is met.
   * @param within what all of them meet, by few documents
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
  /** Another number whenever changes have been looked at that concern what is in memory. */
  seen(): number | undefined;
  /** Whether documents have a word that begins so; where it says so, they need not. */
  begins(session: SearchSession, word: string): Promise<boolean>;
  /** What is the same as long as documents have the words that they had, and there are no new ones. */
  mark(session: SearchSession): Promise<Mark>;
  /** Another number whenever what a search answers may have changed. */
  version(session: Session): Promise<number>;
}

const cachedCounts = 5000;
/** Longer words than these are looked up as a prefix. */
const fewLonger = 16;
/** Documents that a brief session may put together. */
const fewInstances = 2000;
/** Hits that a brief session may pass over. */
const briefOffset = 1000;
/** Hits that a brief session may read. */
const briefRows = 5000;

export function searchReader(database: Pick<Database, 'build' | 'dialect'>): SearchReader {
  const { build, dialect } = database;
  const words = wordsOfDialect(database);
  const cached = new LRUCache<string, Mark & { readonly total: number }>({ max: cachedCounts });

  const versionOf = (collections: readonly string[]) =>
    sql`cast((select coalesce(sum(version), 0) from collection_versions
      where collection in (${sql.join(collections.map(name => sql.lit(name)))})) as ${dialect.types.real})`;
  const changed = versionOf([searchCollection]);
  // Products advance the version of their own collection whenever one is added.
  const all = versionOf([searchCollection, 'products']);
  const versionQuery = sql<{ version: number }>`select ${all} as version`.compile(build);
  const documentsQueries = new Map<string, CompiledQuery<{ total: number }>>();
  const markQuery = words.mark(changed, all).compile(build);
  const statements = readStatements(build, words);

  const marks = new WeakMap<SearchSession, Mark>();

  const isRare = rarityTest(words, build, statements);

  async function countBetween(session: SearchSession, query: string, range: Range): Promise<number> {
    if (session.brief !== true)
      return (await session.first(statements.countQuery({ query, ...range })))?.total ?? 0;
    const limit = shortReads + 1;
    const total = (await session.first(statements.countUpToQuery({ query, ...range, limit })))?.total ?? 0;
    if (total >= limit) throw new LongRead();
    return total;
  }

  /** Products can be very many: theirs is cached together with the last product there was. */
  async function countOf(
    session: SearchSession,
    query: string,
    type: DocumentType,
    mark: Mark,
  ): Promise<number> {
    const key = keyOf(type, query);
    const known = cached.get(key);
    const holds = known !== undefined && known.version === mark.version;
    const grows = type === 'product' || type === 'archived';
    if (holds && (!grows || known.last === mark.last)) return known.total;
    const { low, high } = spanOf([type]);
    const total =
      holds && known.last < mark.last
        ? known.total + (await countBetween(session, query, { low: low + known.last + 1, high }))
        : await countBetween(session, query, { low, high });
    cached.set(key, { ...mark, total });
    return total;
  }

  /** Counts all types at once and caches that. */
  async function countTogether(
    session: SearchSession,
    query: string,
    types: readonly DocumentType[],
    mark: Mark,
  ) {
    if (types.every(type => cached.get(keyOf(type, query))?.version === mark.version)) return;
    const rows = await session.all(statements.countTypesQuery({ query, ...spanOf(types) }));
    for (const type of types) {
      const total = rows.find(row => row.type === numberOf(type))?.total ?? 0;
      cached.set(keyOf(type, query), { ...mark, total });
    }
  }

  async function refuseIfBrief(
    session: SearchSession,
    types: readonly DocumentType[],
    expression?: Expression,
  ): Promise<void> {
    if (session.brief !== true || words.documents === undefined) return;
    if (expression !== undefined && (await hasFew(session, expression))) return;
    const query = documentsQueries.get(types.join()) ?? words.documents(types).compile(build);
    documentsQueries.set(types.join(), query);
    if (((await session.first(query))?.total ?? 0) > shortReads) throw new LongRead();
  }

  /** Whether an expression of one group begins words of few documents only, so that putting them together takes no time. */
  async function hasFew(session: SearchSession, [group = [], ...others]: Expression): Promise<boolean> {
    if (others.length > 0 || group.some(choice => choice.length > 1)) return false;
    for (const { word, mark = '', prefix, longer } of group.flat()) {
      if (prefix !== true || longer !== undefined) continue;
      const asked = { word: mark + word, limit: fewInstances };
      if (((await session.first(statements.instancesQuery(asked)))?.total ?? 0) >= fewInstances) return false;
    }
    return true;
  }

  /** Once for all reads of a search, which see one state. */
  async function readMark(session: SearchSession): Promise<Mark> {
    const known = marks.get(session);
    if (known !== undefined) return known;
    const mark = (await session.first(markQuery)) ?? { version: 0, last: 0 };
    marks.set(session, mark);
    return mark;
  }

  async function countAll(session: SearchSession, query: string, types: readonly DocumentType[], mark: Mark) {
    const counts = new Map<DocumentType, number>();
    for (const type of types) counts.set(type, await countOf(session, query, type, mark));
    return counts;
  }

  const reader: SearchReader = {
    holdsUp: words.documents !== undefined,

    among(session, group, positions, types, within) {
      const range = { low: positions[0] ?? 0, high: (positions.at(-1) ?? 0) + 1 };
      const { length } = positions;
      return reader.page(session, [within, group], types, { ...range, limit: length, smallest: length });
    },

    async page(session, expression, types, options) {
      const { limit, offset = 0, descending = false, ...range } = options;
      // What has to be read is then what is shown, or the documents of a rare word.
      const { smallest } = options;
      if (offset > briefOffset || limit > briefRows) await refuseIfBrief(session, types);
      else if (!(isShort(smallest) || isOneWord(expression))) await refuseIfBrief(session, types, expression);
      const span = spanOf(types);
      const low = Math.max(span.low, range.low ?? 0);
      const high = Math.min(span.high, range.high ?? span.high);
      if (low >= high) return [];
      const query = words.text(expression);
      const isFew = smallest !== undefined && smallest <= reachLimit;
      const frequency = isFew || (await isRare(session, expression)) ? 'rare' : 'common';
      const shape = `${descending ? 'down' : 'up'} ${frequency} ${numbersOf(types).join(' ')}`;
      const values = { query, low, high, limit, offset };
      return (await session.all(statements.pageQuery(shape, values))).map(({ position }) => position);
    },

    async counts(session, expression, types, smallest) {
      if (!isOneWord(expression) && !isShort(smallest)) await refuseIfBrief(session, types, expression);
      const query = words.text(expression);
      const mark = await readMark(session);
      if (words.countTypes !== undefined && !(words.countsWordsApart && isOneWord(expression)))
        await countTogether(session, query, types, mark);
      return countAll(session, query, types, mark);
    },

    async cached(session, expression, types, smallest) {
      const query = words.text(expression);
      if (!types.every(type => cached.has(keyOf(type, query)))) return undefined;
      if (!isOneWord(expression) && !isShort(smallest)) await refuseIfBrief(session, types);
      const mark = await readMark(session);
      const hold = types.every(type => cached.get(keyOf(type, query))?.version === mark.version);
      return hold ? countAll(session, query, types, mark) : undefined;
    },

    seen: () => undefined,
    mark: readMark,

    async begins(session, word) {
      if (words.begins !== undefined)
        return (await session.first(statements.beginsQuery({ word }))) !== undefined;
      const query = words.text([[[{ word, prefix: true }]]]);
      const page = { query, ...spanOf(documentTypes), limit: 1, offset: 0 };
      const shape = `up rare ${numbersOf(documentTypes).join(' ')}`;
      return (await session.first(statements.pageQuery(shape, page))) !== undefined;
    },

    ...frequencyReader(database, { isRare, readMark, refuseIfBrief }),

    async longerWords(session, word) {
      if (words.longerWords === undefined) return undefined;
      const rows = await session.all(statements.longerQuery({ word, limit: fewLonger + 1 }));
      return rows.length > fewLonger ? undefined : rows.map(row => row.word);
    },

    async version(session) {
      return (await session.first(versionQuery))?.version ?? 0;
    },
  };
  return reader;
}

/** Whether looking for all of several words takes no longer than for the rarest of them. */
const isShort = (smallest: number | undefined): boolean => smallest !== undefined && smallest <= shortReads;

const keyOf = (type: string, query: string) => `${type} ${query}`;

const numberOf = (type: DocumentType) => documentTypes.indexOf(type) + 1;
const numbersOf = (types: readonly DocumentType[]) => types.map(numberOf).sort((a, b) => a - b);
