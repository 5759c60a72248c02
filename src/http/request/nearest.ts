/** Finds the known name that was most likely meant. */
import { countTypos } from '../../storage/search/text/distance.ts';

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

/** The distance of two texts; undefined if it exceeds a third of the longer one. */
function countEdits(given: string, candidate: string): number | undefined {
  const most = Math.floor(Math.max(given.length, candidate.length) / 3);
  // Bounds the work by the length of the known name, regardless of the length of the caller's.
  if (Math.abs(given.length - candidate.length) > most) return undefined;
  const edits = countTypos(given.toLowerCase(), candidate.toLowerCase(), most);
  return edits <= most ? edits : undefined;
}
