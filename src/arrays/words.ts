/** Tables of words, written as one text. */

/** `'men:man feet:foot'` → a map of `men` to `man` and of `feet` to `foot`. */
export function toWordMap(pairs: string): ReadonlyMap<string, string> {
  return new Map(
    pairs.split(/\s+/).map((pair): [string, string] => {
      const [word = '', other = ''] = pair.split(':');
      return [word, other];
    }),
  );
}
