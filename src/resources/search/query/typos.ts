/** Words that one of a query may be a typo of. */
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { beginsOtherwise } from '../../../storage/search/vocabulary.ts';
import { findSimilarWords, findUmlauts, type Likeness } from './unknown.ts';
import { type Alternative, factors, type QueryContext } from './word.ts';

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
 * @param isBeginning whether documents have words that begin so: then others are guesses as well, with one typo only
 */
export async function findCorrections(
  { tools, session, types, isGerman }: QueryContext,
  word: string,
  frequency: number,
  isBeginning: boolean,
): Promise<Corrections> {
  const { reader, stems, vocabulary } = tools;
  const alternatives: Alternative[] = [];
  let [most, certain] = [0, 0];
  const addChoices = async (choices: Likeness['choices'], factor: number, isGuess: boolean) => {
    for (const words of choices) {
      if (words.some(stems.isFiller)) continue;
      const choice = words.map(one => ({ word: one }));
      const total = await reader.frequency(session, [[choice]], types);
      if (total < timesAsCommon * frequency || total === 0) continue;
      alternatives.push({ choice, factor, ...(isGuess ? { isGuess } : {}) });
      most = Math.max(most, total);
      if (!isGuess) certain = Math.max(certain, total);
    }
  };
  const addWords = (words: readonly string[], factor: number, isGuess: boolean) =>
    addChoices(
      Array.from(words, one => [one]),
      factor,
      isGuess,
    );
  const isUnknown = frequency === 0 && !isBeginning && !hasDigit(word);
  if (isUnknown) await addWords(await findSameWords(tools, session, word), factors.stem, false);
  if (alternatives.length === 0) {
    const near = await vocabulary.near(session, word);
    const alike = near.filter(other => !beginsOtherwise(word, other));
    await addWords(alike, factors.typo, frequency > 0 || isBeginning);
    if (alternatives.length === 0) await addWords(near, factors.typo, true);
  }
  if (isUnknown && alternatives.length === 0)
    await addWords(await vocabulary.further(session, word), factors.typos, true);
  if (isUnknown && alternatives.length === 0) {
    const { choices, factor, isGuess } = await findSimilarWords(tools, session, word, isGerman);
    await addChoices(choices, factor, isGuess);
  }
  return { alternatives, frequency: most, certain };
}

/** The same word, written in another way: without umlauts, or the plural of two letters (`tvs`), which has no forms. */
function findSameWords(
  tools: QueryContext['tools'],
  session: QueryContext['session'],
  word: string,
): Promise<readonly string[]> | readonly string[] {
  return /^[a-z]{2}s$/.test(word) ? [word.slice(0, -1)] : findUmlauts(tools, session, word);
}
