/** Words that one of a query may be a typo of. */
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { findCompoundsOf, findSimilarWords } from './unknown.ts';
import { type Alternative, factors, type QueryContext, toChoice } from './word.ts';

/** A word of so few documents may be a typo of one that has so many times as many. */
export const rareDocuments = 6;
const timesAsCommon = 3;

interface Corrections {
  readonly alternatives: Alternative[];
  /** About how many documents have the commonest of them. */
  readonly frequency: number;
  /** The same of those that are no guesses. */
  readonly certain: number;
}

/**
 * What documents have in place of a word that few have, or none. Of a word that they have, other words are guesses, and so
 * are words with two typos, or with only a part in common.
 * @param frequency how many documents have the word as it is
 */
export async function findCorrections(
  { tools, session, types }: QueryContext,
  word: string,
  frequency: number,
): Promise<Corrections> {
  const alternatives: Alternative[] = [];
  let [most, certain] = [0, 0];
  const add = async (candidates: readonly string[], factor: number, isGuess: boolean) => {
    for (const candidate of candidates) {
      if (tools.stems.isFiller(candidate)) continue;
      const total = await tools.reader.frequency(session, [[toChoice(candidate)]], types);
      if (total < timesAsCommon * frequency || total === 0) continue;
      alternatives.push({ choice: toChoice(candidate), factor, ...(isGuess ? { isGuess } : {}) });
      most = Math.max(most, total);
      if (!isGuess) certain = Math.max(certain, total);
    }
  };
  const isUnknown = frequency === 0 && !hasDigit(word);
  // What it is the end of has it, which is more than to be spelt like it: `pfanne` is in a `bratpfanne`, and is no `penne`.
  if (isUnknown) await add(await findCompoundsOf(tools, session, word), factors.compound, false);
  if (alternatives.length === 0)
    await add(await tools.vocabulary.near(session, word), factors.typo, frequency > 0);
  if (isUnknown && alternatives.length === 0)
    await add(await tools.vocabulary.further(session, word), factors.typos, true);
  if (isUnknown && alternatives.length === 0) {
    const { words, factor, isGuess } = await findSimilarWords(tools, session, word);
    await add(words, factor, isGuess);
  }
  return { alternatives, frequency: most, certain };
}
