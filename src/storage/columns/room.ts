/** The room for columns in memory: which of them can be there, alone or together, and which are dropped for others. */
import { type Column, maxCombinations } from './column.ts';
import type { ColumnSource } from './source.ts';

interface Limits {
  /** Maximum size of all columns, in bytes. */
  readonly maxBytes: number;
  /** Maximum number of combinations of values in a column. */
  readonly maxCombinations: number;
  /**
   * Maximum number of columns, however small: each change of a row is compared with all of them, and clients may filter
   * by any number of attributes that no product has.
   */
  readonly maxColumns: number;
}

export const usualLimits: Limits = { maxBytes: 160 * 1024 * 1024, maxCombinations, maxColumns: 500 };

export interface Loaded {
  readonly source: ColumnSource;
  readonly column: Column;
}

/** @param loaded the columns by their names; the most recently used column is last */
export function createRoom(loaded: Map<string, Loaded>, limits: Limits) {
  /** Those with too many combinations of values. */
  const refused = new Set<string>();
  /** The sizes of columns with values when they were read. */
  const sizes = new Map<string, number>();
  return {
    clear(): void {
      refused.clear();
      sizes.clear();
    },
    refuse({ name }: ColumnSource): void {
      refused.add(name);
    },
    keep(entry: Loaded): void {
      const { column, source } = entry;
      loaded.set(source.name, entry);
      if (column.values.length > 0) sizes.set(source.name, column.bytes());
    },
    /** Counts columns as used now: those that a request needs are not dropped for others that it needs, too. */
    touch(sources: readonly ColumnSource[]): void {
      for (const { name } of sources) {
        const entry = loaded.get(name);
        if (entry === undefined) continue;
        loaded.delete(name);
        loaded.set(name, entry);
      }
    },
    /** Drops the least recently used columns until the others keep the limits. */
    make(): void {
      const sumBytes = () => [...loaded.values()].reduce((sum, { column }) => sum + column.bytes(), 0);
      while (loaded.size > limits.maxColumns || (loaded.size > 1 && sumBytes() > limits.maxBytes)) {
        const [oldest] = loaded.keys();
        if (oldest !== undefined) loaded.delete(oldest);
      }
    },
    /**
     * The columns that can be in memory together: the first ones if not all can. Otherwise each request for all of them
     * would read them again, in the place of those that others need.
     */
    selectUsable(sources: readonly ColumnSource[]): readonly ColumnSource[] {
      let sum = 0;
      return sources.filter(({ name }) => {
        const bytes = loaded.get(name)?.column.bytes() ?? sizes.get(name) ?? 0;
        if (refused.has(name) || (sum > 0 && sum + bytes > limits.maxBytes)) return false;
        sum += bytes;
        return true;
      });
    },
  };
}
