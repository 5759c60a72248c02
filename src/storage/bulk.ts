/** Statements that take many rows at once: a statement for each row costs the database several times as much. */
import type { CompiledQuery } from 'kysely';

export interface Bulk {
  /** The one table that is written: rows of different tables may be written in any order. */
  readonly table: string;
  /** The statements that write these rows, in their order. Each row has the same parameters. */
  statements(rows: readonly (readonly unknown[])[]): Generator<CompiledQuery<unknown>>;
}

/**
 * @param table the one table that is written
 * @param sizes how many rows one statement may take: largest first, the last is 1
 * @param compiled the statement for so many rows; made once for each size that is used
 */
export function bulk(
  table: string,
  sizes: readonly number[],
  compiled: (size: number) => CompiledQuery<unknown>,
): Bulk {
  const made = new Map<number, CompiledQuery<unknown>>();
  const statementOf = (size: number) => {
    const statement = made.get(size) ?? compiled(size);
    made.set(size, statement);
    return statement;
  };
  return {
    table,
    *statements(rows) {
      let start = 0;
      for (const size of sizes) {
        for (; rows.length - start >= size; start += size) {
          yield { ...statementOf(size), parameters: rows.slice(start, start + size).flat() };
        }
      }
    },
  };
}
