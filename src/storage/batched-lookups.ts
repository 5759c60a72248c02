/**
 * Reads single rows that are requested in one turn of the event loop with one statement, where each statement is a
 * round trip: it costs server and driver more than the row. The embedded database reads each row at once.
 */
import type { CompiledQuery } from 'kysely';
import type { Database } from './database.ts';

/** Keys per statement; a shorter list is filled up, so that there are few statements to prepare. */
const sizes = [1, 4, 20, 64, 101] as const;
/** So many ids one statement takes: those of the largest page, and one more. */
export const mostAtOnce = 101;

interface Waiting<Row> {
  readonly id: number;
  resolve(row: Row | undefined): void;
  reject(error: unknown): void;
}

/**
 * @param query the statement that reads the rows of so many keys, which are its only parameters; @returns that of some
 */
export function prepareByKeys<Row, Key extends string | number = number>(
  query: (size: number) => CompiledQuery<Row>,
): (keys: readonly Key[]) => CompiledQuery<Row> {
  const made = new Map<number, CompiledQuery<Row>>();
  return keys => {
    const size = sizes.find(one => one >= keys.length) ?? mostAtOnce;
    const compiled = made.get(size) ?? query(size);
    made.set(size, compiled);
    return { ...compiled, parameters: [...keys, ...new Array(size - keys.length).fill(keys[0])] };
  };
}

/**
 * @param statement that of some ids, from `prepareByKeys`
 * @returns what reads one row, as it is at some time after the call; undefined when there is none
 */
export function createReaderById<Row extends { readonly id: number }>(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  statement: (ids: readonly number[]) => CompiledQuery<Row>,
): (id: number) => Promise<Row | undefined> {
  if (dialect.name === 'sqlite') return id => read.first(statement([id]));
  let waiting: Waiting<Row>[] = [];

  async function readAll(all: readonly Waiting<Row>[]): Promise<void> {
    const ids = [...new Set(all.map(({ id }) => id))];
    try {
      const rows = new Map((await read.all(statement(ids))).map(row => [row.id, row]));
      for (const { id, resolve } of all) resolve(rows.get(id));
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  function flush(): void {
    const all = waiting;
    waiting = [];
    for (let start = 0; start < all.length; start += mostAtOnce)
      void readAll(all.slice(start, start + mostAtOnce));
  }

  return id => {
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>();
    if (waiting.push({ id, resolve, reject }) === 1) setImmediate(flush);
    return promise;
  };
}
