/**
 * Compares two large sets of entries without holding either. Entries of one side are added, entries of the other are
 * taken off, and owners with a remainder differ. Only the sum of the entries' hashes is kept for each owner.
 */
export function createLedger() {
  const sums = new Map<number, number>();
  const change = (owner: number, amount: number): void => {
    const sum = (sums.get(owner) ?? 0) + amount;
    if (sum === 0) sums.delete(owner);
    else sums.set(owner, sum);
  };
  // Never 0: that would count as no entry.
  const hash = (entry: string): number => Bun.hash.xxHash32(entry) + 1;
  return {
    add: (owner: number, entry: string) => change(owner, hash(entry)),
    takeOff: (owner: number, entry: string) => change(owner, -hash(entry)),
    /** The owners whose entries differ, ascending. Two differences cancel out once in 2^32 cases. */
    differing: () => [...sums.keys()].sort((a, b) => a - b),
  };
}
