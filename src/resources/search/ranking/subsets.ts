/** Subsets of a query's words, for hits that lack the others. */
import type { QueryWord } from '../query/word.ts';

/** For long queries, only subsets of this many of the rarest words are tried, and each word alone. */
const rarestWords = 5;

/** Yields all of the rarest words, all except one, all except two …, then each word alone. @param words rarest first */
export function* generateWithFewer(words: readonly QueryWord[]): Generator<readonly QueryWord[]> {
  const rarest = words.slice(0, rarestWords);
  const most = Math.min(rarest.length, words.length - 1);
  for (let size = most; size >= 2; size--) yield* generateSubsets(rarest, rarest.length - size);
  if (words.length > 1) for (const word of words) yield [word];
}

/** All ways to omit `without` of the items; the last ones are omitted first. */
function* generateSubsets<Item>(items: readonly Item[], without: number): Generator<Item[]> {
  if (without < 0) return;
  if (without === 0) {
    yield [...items];
    return;
  }
  for (let index = items.length - 1; index >= without - 1; index--) {
    const after = items.slice(index + 1);
    for (const rest of generateSubsets(items.slice(0, index), without - 1)) yield [...rest, ...after];
  }
}
