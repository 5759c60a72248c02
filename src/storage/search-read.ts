/**
 * Reads the search index: pages of positions, and how many there are. What a word of very many documents costs
 * is to count them; so counts are remembered, and only what has been added since is counted again.
 */
import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Database, Session } from './database.ts';
import { type Arguments, prepared, preparedByShape } from './prepared.ts';
import type { Expression, Range, Term } from './search-expression.ts';
import {
  positionOf,
  type SearchType,
  searchCollection,
  searchTypes,
  typeSpan,
  wordsOfDialect,
} from './search-index.ts';
import type { Mark, PageArguments } from './search-postgres.ts';

export interface SearchPage extends Partial<Range> {
  readonly limit: number;
  readonly offset?: number;
  readonly descending?: boolean;
}

export interface SearchReader {
  /** Positions of documents of these types, in their order. */
  page(
    session: Session,
    expression: Expression,
    types: readonly SearchType[],
    page: SearchPage,
  ): Promise<number[]>;
  /** How many there are of each of these types: exact. */
  counts(
    session: Session,
    expression: Expression,
    types: readonly SearchType[],
  ): Promise<Map<SearchType, number>>;
  /** The same where it is remembered, and so costs little even for very many; else undefined. */
  remembered(
    session: Session,
    expression: Expression,
    types: readonly SearchType[],
  ): Promise<Map<SearchType, number> | undefined>;
  /** Whether words may exist that begin with this one and are longer. */
  hasLonger(session: Session, word: string): Promise<boolean>;
  /** Another number whenever what a search answers may have changed. */
  version(session: Session): Promise<number>;
}

const rememberedCounts = 5000;

export function searchReader(database: Pick<Database, 'build' | 'dialect'>): SearchReader {
  const { build, dialect } = database;
  const words = wordsOfDialect(database);
  const remembered = new LRUCache<string, Mark & { readonly total: number }>({ max: rememberedCounts });

  const compilable = <R>(query: RawBuilder<R>) => ({ compile: () => query.compile(build) });
  const versionOf = (collections: readonly string[]) =>
    sql`cast((select coalesce(sum(version), 0) from collection_versions
      where collection in (${sql.join(collections.map(name => sql.lit(name)))})) as ${dialect.types.real})`;
  const changed = versionOf([searchCollection]);
  // Products advance the version of their own collection whenever one is added.
  const all = versionOf([searchCollection, 'products']);
  const versionQuery = compilable(sql<{ version: number }>`select ${all} as version`).compile();
  const markQuery = compilable(words.mark(changed, all)).compile();
  const longerQuery = prepared<{ word: string }, { word: string }>(argument =>
    compilable(words.longerWord(argument)),
  );
  const countQuery = prepared<{ query: string; low: number; high: number }, { total: number }>(argument =>
    compilable(words.count(argument)),
  );
  const pageQuery = preparedByShape<Arguments & PageArguments<unknown>, { position: number }>(
    (shape, argument) => {
      const [direction, ...types] = shape.split(' ');
      return compilable(words.page(argument, types.map(Number), direction === 'down'));
    },
  );

  async function countBetween(session: Session, query: string, range: Range): Promise<number> {
    return (await session.first(countQuery({ query, ...range })))?.total ?? 0;
  }

  /** Products can be very many: theirs is remembered together with the last product there was. */
  async function countOf(session: Session, query: string, type: SearchType, mark: Mark): Promise<number> {
    const key = keyOf(type, query);
    const known = remembered.get(key);
    const holds = known !== undefined && known.version === mark.version;
    if (holds && (type !== 'product' || known.last === mark.last)) return known.total;
    const { low, high } = spanOf([type]);
    const total =
      holds && known.last < mark.last
        ? known.total + (await countBetween(session, query, { low: low + known.last + 1, high }))
        : await countBetween(session, query, { low, high });
    remembered.set(key, { ...mark, total });
    return total;
  }

  async function marked(session: Session): Promise<Mark> {
    return (await session.first(markQuery)) ?? { version: 0, last: 0 };
  }

  async function countAll(session: Session, query: string, types: readonly SearchType[], mark: Mark) {
    const counts = new Map<SearchType, number>();
    for (const type of types) counts.set(type, await countOf(session, query, type, mark));
    return counts;
  }

  return {
    async page(session, expression, types, { limit, offset = 0, descending = false, ...range }) {
      const span = spanOf(types);
      const low = Math.max(span.low, range.low ?? 0);
      const high = Math.min(span.high, range.high ?? span.high);
      if (low >= high) return [];
      const shape = `${descending ? 'down' : 'up'} ${numbersOf(types).join(' ')}`;
      const values = { query: words.text(expression), low, high, limit, offset };
      return (await session.all(pageQuery(shape, values))).map(({ position }) => position);
    },

    async counts(session, expression, types) {
      return countAll(session, words.text(expression), types, await marked(session));
    },

    async remembered(session, expression, types) {
      const query = words.text(expression);
      if (!types.every(type => remembered.has(keyOf(type, query)))) return undefined;
      const mark = await marked(session);
      const hold = types.every(type => remembered.get(keyOf(type, query))?.version === mark.version);
      return hold ? countAll(session, query, types, mark) : undefined;
    },

    async hasLonger(session, word) {
      return (await session.first(longerQuery({ word }))) !== undefined;
    },

    async version(session) {
      return (await session.first(versionQuery))?.version ?? 0;
    },
  };
}

const keyOf = (type: SearchType, query: string) => `${type} ${query}`;

const numbersOf = (types: readonly SearchType[]) =>
  types.map(type => searchTypes.indexOf(type) + 1).sort((a, b) => a - b);

/** From the first position of these types to behind their last. */
function spanOf(types: readonly SearchType[]): Range {
  const positions = types.map(type => positionOf(type, 0));
  return { low: Math.min(...positions), high: Math.max(...positions) + typeSpan };
}

/** A term that is met anywhere in a document. */
export const anywhere = (word: string, prefix = false): Term => ({ word, title: false, prefix });
