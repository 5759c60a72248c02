/**
 * Batches lookups where each statement is a round trip, which costs server and driver more than the row: rows that are
 * requested one by one in a turn of the event loop are read by one statement.
 */
import type { CompiledQuery } from 'kysely';
import type { Database, Lookup, Session } from './database.ts';

/** Possible numbers of keys in a statement. A shorter list of keys is padded, so that few statements are prepared. */
const sizes = [1, 4, 20, 64, 101] as const;
/** Maximum number of keys in a statement: the ids of the largest page, and one more. */
export const maxAtOnce = 101;

/** A caller that waits for its share of a batch. */
export interface Waiting<Wanted, Given> {
  readonly wanted: Wanted;
  resolve(given: Given): void;
  reject(error: unknown): void;
}

/** Serves all waiting callers with one call of `work`; if that fails, all of them fail. */
export async function settleAll<Wanted, Given>(
  all: readonly Waiting<Wanted, Given>[],
  work: (wanted: readonly Wanted[]) => Promise<(wanted: Wanted) => Given>,
): Promise<void> {
  try {
    const givenOf = await work(all.map(({ wanted }) => wanted));
    for (const { wanted, resolve } of all) resolve(givenOf(wanted));
  } catch (error) {
    for (const { reject } of all) reject(error);
  }
}

/**
 * @param query builds the statement that reads the rows of `size` keys, which are its only parameters
 * @returns a function from keys to the statement that reads their rows
 */
export function prepareByKeys<Row, Key extends string | number = number>(
  query: (size: number) => CompiledQuery<Row>,
): (keys: readonly Key[]) => CompiledQuery<Row> {
  const made = new Map<number, CompiledQuery<Row>>();
  return keys => {
    const size = sizes.find(one => one >= keys.length) ?? maxAtOnce;
    const compiled = made.getOrInsertComputed(size, query);
    return { ...compiled, parameters: [...keys, ...new Array(size - keys.length).fill(keys[0])] };
  };
}

/** @returns a function that reads the row with a key, as it is after the call; undefined when there is none */
export function createReaderByKey<Key extends string | number, Row>(
  { all: readRows }: Pick<Session, 'all'>,
  { statement, keyOf }: Lookup<Key, Row>,
): (key: Key) => Promise<Row | undefined> {
  let waiting: Waiting<Key, Row | undefined>[] = [];

  /** Reads rows in the order of their keys, so that locking them causes no deadlock. */
  async function readAll(keys: readonly Key[]) {
    const all = [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1));
    const parts: Promise<Row[]>[] = [];
    for (let start = 0; start < all.length; start += maxAtOnce)
      parts.push(readRows(statement(all.slice(start, start + maxAtOnce))));
    const rows = new Map((await Promise.all(parts)).flat().map(row => [keyOf(row), row]));
    return (key: Key) => rows.get(key);
  }
  function flush(): void {
    const all = waiting;
    waiting = [];
    void settleAll(all, readAll);
  }
  return wanted => {
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>();
    if (waiting.push({ wanted, resolve, reject }) === 1) setImmediate(flush);
    return promise;
  };
}

/** As createReaderByKey, for committed rows; the embedded database reads each row immediately. */
export function createRowReader<Key extends string | number, Row>(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  lookup: Lookup<Key, Row>,
): (key: Key) => Promise<Row | undefined> {
  if (dialect.name === 'sqlite') return key => read.first(lookup.statement([key]));
  return createReaderByKey(read, lookup);
}
