/** The known name that was most likely meant. */

/** Longer names are compared by their beginning: what a caller sends has any length. */
const compared = 64;

/**
 * The name with the fewest edits between (Levenshtein's distance, without regard to case); the first of several.
 * @returns undefined when there are no names
 */
export function findNearest(name: string, known: Iterable<string>): string | undefined {
  let best: { readonly name: string; readonly edits: number } | undefined;
  const wanted = name.slice(0, compared).toLowerCase();
  for (const candidate of known) {
    const edits = computeDistance(wanted, candidate.slice(0, compared).toLowerCase());
    if (best === undefined || edits < best.edits) best = { name: candidate, edits };
  }
  return best?.name;
}

function computeDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const inserted = (current[column - 1] ?? 0) + 1;
      const removed = (above[column] ?? 0) + 1;
      current.push(Math.min(replaced, inserted, removed));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
