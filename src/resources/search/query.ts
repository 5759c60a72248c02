/** What a query is taken to mean: its words, the longer ones that they begin, or those that they misspell. */
import { type SearchType, typeAt } from '../../storage/search/index.ts';
import type { SearchReader, SearchSession } from '../../storage/search/read.ts';
import type { Spelling } from '../../storage/search/spelling.ts';
import { allHits, type QueryWord, queryWords } from './ranking.ts';

/** Up to so many hits are put in order here, which takes fewer look-ups than reading each class by itself. */
export const fewHits = 100;

export interface QueryTools {
  readonly reader: SearchReader;
  readonly spelling: Spelling;
}

/** What a query means, and how much it finds. */
export interface Understood {
  readonly words: readonly QueryWord[];
  readonly counts: ReadonlyMap<SearchType, number>;
  /** All positions of the hits, when there are no more than `fewHits`. */
  readonly few: readonly number[] | undefined;
}

/** What the query is taken to mean: its words as they are, or else as they may have been meant. */
export async function understand(
  tools: QueryTools,
  session: SearchSession,
  query: string,
  visible: readonly SearchType[],
): Promise<Understood> {
  const words = await withLongerWords(tools, session, queryWords(query));
  const found = await lookUp(tools, session, words, visible);
  if (found.words.length > 0 || words.length === 0) return found;
  return lookUp(tools, session, (await correct(tools, session, words, visible)) ?? [], visible);
}

/** Counts the hits of these words; keeps them when they are few. No words when there are no hits. */
async function lookUp(
  { reader }: QueryTools,
  session: SearchSession,
  words: readonly QueryWord[],
  visible: readonly SearchType[],
): Promise<Understood> {
  const none = new Map(visible.map(type => [type, 0]));
  if (words.length === 0 || visible.length === 0) return { words: [], counts: none, few: [] };
  const all = allHits(words);
  // Only counts of many hits are cached.
  const known = await reader.cached(session, all, visible);
  if (known !== undefined) return { words, counts: known, few: undefined };
  const first = await reader.page(session, all, visible, { limit: fewHits + 1 });
  if (first.length > fewHits) {
    return { words, counts: await reader.counts(session, all, visible), few: undefined };
  }
  for (const position of first) none.set(typeAt(position), (none.get(typeAt(position)) ?? 0) + 1);
  return { words: first.length === 0 ? [] : words, counts: none, few: first };
}

/** The same, with the longer words that the last one may be the beginning of, if they are few or none. */
async function withLongerWords(
  { reader }: QueryTools,
  session: SearchSession,
  words: QueryWord[],
): Promise<QueryWord[]> {
  const last = words.at(-1);
  if (last?.prefix !== true) return words;
  const longer = await reader.longerWords(session, last.alternatives[0] ?? '');
  return [...words.slice(0, -1), { ...last, prefix: longer?.length !== 0, longer }];
}

/** The query with words that are nowhere replaced by those they may be typos of; undefined when that is none. */
async function correct(
  { reader, spelling }: QueryTools,
  session: SearchSession,
  words: readonly QueryWord[],
  visible: readonly SearchType[],
) {
  const meant: QueryWord[] = [];
  for (const word of words) {
    const [position] = await reader.page(session, allHits([word]), visible, { limit: 1 });
    if (position !== undefined) {
      meant.push(word);
      continue;
    }
    const alternatives = await spelling.candidates(session, word.alternatives[0] ?? '');
    if (alternatives.length === 0) return undefined;
    meant.push({ alternatives, prefix: false, misspelt: true });
  }
  return meant.some(({ misspelt }) => misspelt) ? meant : undefined;
}
