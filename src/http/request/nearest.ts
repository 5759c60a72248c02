/** Finds the known name that was most likely meant. */

/**
 * The known name with the smallest edit distance (insertions, deletions, substitutions, transpositions), ignoring case;
 * the first of several.
 * @param prefixes names that begin with one of these are known, whatever follows
 * @returns undefined if none is near: more than a third of the longer name would have to change
 */
export function findNearest(
  name: string,
  known: Iterable<string>,
  prefixes: readonly string[] = [],
): string | undefined {
  let nearest: { readonly name: string; readonly edits: number } | undefined;
  const compareWith = (given: string, candidate: string, proposal = candidate) => {
    const edits = countEdits(given, candidate);
    if (edits !== undefined && (nearest === undefined || edits < nearest.edits))
      nearest = { name: proposal, edits };
  };
  for (const candidate of known) compareWith(name, candidate);
  for (const prefix of prefixes) {
    const [given = ''] = /^[a-z\d]+[^a-z\d]?/i.exec(name) ?? [];
    const rest = name.slice(given.length);
    compareWith(given, prefix, `${prefix}${/^[\w.-]+$/.test(rest) ? rest : '{name}'}`);
  }
  return nearest?.name;
}

/** The distance of two texts (optimal string alignment); undefined if it exceeds a third of the longer one. */
function countEdits(given: string, candidate: string): number | undefined {
  const most = Math.floor(Math.max(given.length, candidate.length) / 3);
  // Bounds the work by the length of the known name, regardless of the length of the caller's.
  if (Math.abs(given.length - candidate.length) > most) return undefined;
  const [a, b] = [given.toLowerCase(), candidate.toLowerCase()];
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const replaced = (last[column - 1] ?? 0) + (isSame ? 0 : 1);
      const inserted = (current[column - 1] ?? 0) + 1;
      const removed = (last[column] ?? 0) + 1;
      const isExchanged =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const exchanged = isExchanged ? (beforeLast[column - 2] ?? 0) + 1 : removed;
      current.push(Math.min(replaced, inserted, removed, exchanged));
    }
    [beforeLast, last] = [last, current];
  }
  const edits = last[b.length] ?? 0;
  return edits <= most ? edits : undefined;
}
