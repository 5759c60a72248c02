/** Words made of words: where they may be parted, and the letters between their parts. */

const shortestPart = 3;
/** Shorter words are made of no others. */
const shortestCompound = 6;
const longestCompound = 40;
/** What German puts between the parts of a compound, and takes away. */
const links = ['s', 'es', 'n', 'en', 'er', 'e'] as const;

/** A first part as it stands, and without the letters that link it to the next. */
export function withoutLink(part: string): string[] {
  const parts = [part];
  for (const link of links) {
    if (part.endsWith(link) && part.length - link.length >= shortestPart)
      parts.push(part.slice(0, -link.length));
  }
  return parts.filter(candidate => candidate.length >= shortestPart);
}

/** All ways to part a word in two. */
export function splitsOf(word: string): [string, string][] {
  const points = [...word];
  if (points.length < shortestCompound || points.length > longestCompound) return [];
  const splits: [string, string][] = [];
  for (let at = shortestPart; at <= points.length - shortestPart; at++) {
    const second = points.slice(at).join('');
    for (const first of withoutLink(points.slice(0, at).join(''))) splits.push([first, second]);
  }
  return splits;
}
