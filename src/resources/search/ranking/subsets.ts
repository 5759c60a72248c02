/** Which words of a query hits may have that lack others. */
import type { QueryWord } from '../query/word.ts';

/** Of long queries hits may lack all but some of so many words. */
const rarestWords = 5;

/** Which words hits may have: of the rarest all, all but one, all but two …, then any. @param words the rarest first */
export function* generateWithFewer(words: readonly QueryWord[]): Generator<readonly QueryWord[]> {
  const rarest = words.slice(0, rarestWords);
  const most = Math.min(rarest.length, words.length - 1);
  for (let size = most; size >= 2; size--) yield* generateSubsets(rarest, rarest.length - size);
  if (words.length > 1) for (const word of words) yield [word];
}

/** The words without so many of them, the last of the list left out first. */
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
