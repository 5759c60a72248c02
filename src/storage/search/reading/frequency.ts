/** Counts the documents that have a word; for common words, it estimates the number from the first documents. */
import type { Database, Session } from '../../database.ts';
import { prepareQuery } from '../../prepared.ts';
import { createCachedWords } from '../cached.ts';
import { type Expression, isOneWord, type Range } from '../expression.ts';
import {
  type DocumentType,
  getDialectWords,
  getDocumentId,
  getDocumentType,
  toPosition,
  toTypeNumbers,
  typeSpan,
} from '../index.ts';
import type { createReadStatements } from './statements.ts';

/** The most documents of a word that are read. */
export const reachLimit = 500;
const cachedFrequencies = 10_000;
/** There are fewer types than this. */
const cachedTypes = 20;
/** Documents that may be read while other requests wait: SQLite reads a million in 20 to 100 ms. */
export const shortReads = 20_000;

/**
 * The session of one search: a new object for each search, by which its results are cached. `failOnLongRead`: reads
 * that might take long are refused with LongRead, so that other requests do not wait for them.
 */
export interface SearchSession extends Session {
  readonly failOnLongRead?: boolean;
  /** `SearchReader.seen` before the first read: results are no older, and are cached while it stays the same. */
  readonly seen?: number | undefined;
}

export type FrequencyReader = ReturnType<typeof createFrequencyReader>;

interface Reading {
  isRare(session: SearchSession, expression: Expression): Promise<boolean>;
  refuseIfLong(
    session: SearchSession,
    types: readonly DocumentType[],
    expression?: Expression,
  ): Promise<void>;
}

export function createFrequencyReader(
  database: Pick<Database, 'build' | 'dialect'>,
  { reachQuery }: Pick<ReturnType<typeof createReadStatements>, 'reachQuery'>,
  { isRare, refuseIfLong }: Reading,
) {
  const { build } = database;
  const words = getDialectWords(database);
  const lastQuery = prepareQuery<{ below: number }, { position: number }>(build, ({ below }) =>
    words.lastPosition(below),
  );
  const keepFrequency = createCachedWords<number>(cachedFrequencies);
  const keepLast = createCachedWords<number>(cachedTypes);

  /** The most documents of these types that there can be: how many there have ever been, as far as ids show it. */
  async function countAtMost(session: SearchSession, types: readonly DocumentType[]): Promise<number> {
    let total = 0;
    for (const type of types) {
      const { low, high } = toSpan([type]);
      const readLast = async () => (await session.first(lastQuery({ below: high })))?.position ?? 0;
      total += Math.max(0, (await keepLast(session.seen, type, readLast)) - low);
    }
    return total;
  }

  async function read(session: SearchSession, expression: Expression, types: readonly DocumentType[]) {
    const query = words.text(expression);
    const frequency = (await isRare(session, expression)) ? 'rare' : 'common';
    const shape = `${frequency} ${toTypeNumbers(types).join(' ')}`;
    const values = { query, ...toSpan(types), limit: reachLimit };
    const { total, last } = (await session.first(reachQuery(shape, values))) ?? { total: 0, last: null };
    if (total < reachLimit || last === null || getDocumentType(last) !== 'product') return total;
    return estimate(total, getDocumentId(last), await countAtMost(session, ['product']));
  }

  return {
    /** About how many documents there are: how many products there have ever been. */
    documents: (session: SearchSession) => countAtMost(session, ['product']),
    countAtMost,
    /**
     * About how many documents of these types match; if they are few, exactly how many.
     * @param smallest how many documents have the rarest of several words, if known
     */
    async frequency(
      session: SearchSession,
      expression: Expression,
      types: readonly DocumentType[],
      smallest: number = Number.POSITIVE_INFINITY,
    ): Promise<number> {
      const query = words.text(expression);
      return keepFrequency(session.seen, `${types.join()} ${query}`, async () => {
        if (!isOneWord(expression) && smallest > shortReads) await refuseIfLong(session, types, expression);
        return read(session, expression, types);
      });
    },
  };
}

/** About how many documents match, given that `total` of those up to an id do. */
export const estimate = (total: number, id: number, documents: number): number =>
  Math.max(total, Math.round((total / Math.max(1, id)) * documents));

/** The range from the first position of these types to just after their last. */
export function toSpan(types: readonly DocumentType[]): Range {
  const positions = types.map(type => toPosition(type, 0));
  return { low: Math.min(...positions), high: Math.max(...positions) + typeSpan };
}
