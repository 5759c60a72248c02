/** Words that one of a query may be a typo of. */
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { findSimilarWords } from './unknown.ts';
import { type Alternative, factors, type QueryContext, toChoice } from './word.ts';

/** A word of so few documents may be a typo of one that has so many times as many. */
export const rareDocuments = 6;
const timesAsCommon = 3;

interface Corrections {
  readonly alternatives: Alternative[];
  /** About how many documents have the commonest of them. */
  readonly frequency: number;
}

/** @param frequency how many documents have the word as it is */
export async function findCorrections(
  { tools, session, types }: QueryContext,
  word: string,
  frequency: number,
): Promise<Corrections> {
  const alternatives: Alternative[] = [];
  let most = 0;
  const add = async (candidates: readonly string[], factor: number) => {
    for (const candidate of candidates) {
      const total = await tools.reader.frequency(session, [[toChoice(candidate)]], types);
      if (total < timesAsCommon * frequency || total === 0) continue;
      alternatives.push({ choice: toChoice(candidate), factor });
      most = Math.max(most, total);
    }
  };
  await add(await tools.vocabulary.near(session, word), factors.typo);
  if (frequency > 0 || hasDigit(word)) return { alternatives, frequency: most };
  if (alternatives.length === 0) await add(await tools.vocabulary.further(session, word), factors.typos);
  if (alternatives.length === 0) {
    const { words, isSame } = await findSimilarWords(tools, session, word);
    await add(words, isSame ? factors.stem : factors.alike);
  }
  return { alternatives, frequency: most };
}
