/**
 * Compares two large sets of entries without holding either: what one side has is added, what the other side has is
 * taken off, and where something is left they differ. By owner it holds the sum of the entries' hashes alone.
 */
export function createLedger() {
  const sums = new Map<number, number>();
  const change = (owner: number, amount: number): void => {
    const sum = (sums.get(owner) ?? 0) + amount;
    if (sum === 0) sums.delete(owner);
    else sums.set(owner, sum);
  };
  // Never 0, which would be no entry.
  const hash = (entry: string): number => Bun.hash.xxHash32(entry) + 1;
  return {
    add: (owner: number, entry: string) => change(owner, hash(entry)),
    takeOff: (owner: number, entry: string) => change(owner, -hash(entry)),
    /** Whose entries differ, ascending. Two differences hide each other once in four thousand million. */
    differing: () => [...sums.keys()].sort((a, b) => a - b),
  };
}
