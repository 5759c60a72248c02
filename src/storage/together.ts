/**
 * Single rows that are asked for in one turn of the event loop, read by one statement where a statement is a round trip:
 * it costs server and driver more than the row. The embedded database reads each at once.
 */
import type { CompiledQuery } from 'kysely';
import type { Database } from './database.ts';

/** Ids per statement; a shorter list is filled up, so that there are few statements to prepare. */
const sizes = [1, 4, 16, 64, 101] as const;
/** So many ids one statement takes: those of the largest page, and one more. */
export const mostById = 101;

interface Waiting<Row> {
  readonly id: number;
  resolve(row: Row | undefined): void;
  reject(error: unknown): void;
}

/** @param query the statement that reads the rows of so many ids, which are its only parameters; @returns that of some */
export function statementById<Row>(
  query: (size: number) => CompiledQuery<Row>,
): (ids: readonly number[]) => CompiledQuery<Row> {
  const made = new Map<number, CompiledQuery<Row>>();
  return ids => {
    const size = sizes.find(one => one >= ids.length) ?? mostById;
    const compiled = made.get(size) ?? query(size);
    made.set(size, compiled);
    return { ...compiled, parameters: [...ids, ...new Array<number>(size - ids.length).fill(ids[0] ?? 0)] };
  };
}

/**
 * @param statement that of some ids, from `statementById`
 * @returns what reads one row, as it is at some time after the call; undefined when there is none
 */
export function readerById<Row extends { readonly id: number }>(
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
    for (let start = 0; start < all.length; start += mostById)
      void readAll(all.slice(start, start + mostById));
  }

  return id => {
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>();
    if (waiting.push({ id, resolve, reject }) === 1) setImmediate(flush);
    return promise;
  };
}
