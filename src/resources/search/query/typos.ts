/** Words that a word of the query may be a typo of. */
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { countSharedLetters } from '../../../storage/search/text/stems.ts';
import { beginsOtherwise } from '../../../storage/search/vocabulary.ts';
import { findCompounds } from './compounds.ts';
import { findUmlautCompounds, findUmlauts, generateSimilarWords, type Likeness } from './unknown.ts';
import { type Alternative, factors, findForms, type QueryContext, readFrequency, toChoice } from './word.ts';

/** A word of at most this many documents may be a typo of one that `timesAsCommon` times as many documents have. */
export const rareDocuments = 6;
const timesAsCommon = 3;
/** The fewest letters of a word that is short for others, the most that these have more, and how many are looked up. */
const minShortened = 4;
const maxLeftOut = 8;
const maxLonger = 12;

/**
 * What documents have in place of a word that few or none have. If some have the word, all alternatives are guesses; so
 * are words with two typos, and words that share only a part with it.
 * @param frequency how many documents have the word as it is
 * @param isBeginning whether it is a prefix of words in documents: then alternatives are guesses with only one typo
 * @returns also about how many documents have the commonest alternative, and the commonest that is not a guess
 */
export async function findCorrections(
  context: QueryContext,
  word: string,
  frequency: number,
  isBeginning: boolean,
) {
  const { tools, session, types, isCompounding } = context;
  const { reader, stems, vocabulary } = tools;
  const alternatives: Alternative[] = [];
  let [most, certain] = [0, 0];
  const addChoices = async ({ choices, factor, isGuess }: Likeness, isCorrection: boolean) => {
    for (const words of choices) {
      if (words.some(stems.isFiller)) continue;
      const choice = words.map(one => ({ word: one }));
      const total = await reader.frequency(session, [[choice]], types);
      if (total < timesAsCommon * frequency || total === 0) continue;
      alternatives.push({ choice, factor, isGuess, isCorrection });
      most = Math.max(most, total);
      if (!isGuess) certain = Math.max(certain, total);
    }
  };
  const addTypos = (words: readonly string[], factor: number, isGuess: boolean) =>
    addChoices({ choices: words.map(one => [one]), factor, isGuess }, true);
  const isUnknown = frequency === 0 && !isBeginning && !hasDigit(word);
  if (isUnknown) {
    const same = await findSameWords(tools, session, word);
    await addChoices({ choices: same.map(one => [one]), factor: factors.stem, isGuess: false }, false);
    for (const compound of same.length > 0 ? await findCompounds(context, same, most) : [])
      if ((await reader.frequency(session, [[compound.choice]], types)) > 0) alternatives.push(compound);
  }
  if (isUnknown && alternatives.length === 0)
    await addChoices(await findUmlautCompounds(tools, session, word, isCompounding), false);
  if (alternatives.length === 0) {
    const near = await vocabulary.near(session, word);
    const alike = near.filter(other => !beginsOtherwise(word, other));
    const longer = isUnknown ? await findLonger(context, word, alike) : [];
    await addChoices({ choices: longer.map(one => [one]), factor: factors.beginning, isGuess: true }, false);
    // `mayo` is short for `mayonnaise`, rather than `may` with a letter too many.
    const hasLonger = alternatives.length > 0;
    const added = new Set(alike);
    for (const other of alike) {
      const isDoubtful = frequency > 0 || isBeginning || (hasLonger && word.startsWith(other));
      const before: number = alternatives.length;
      await addTypos([other], factors.typo, isDoubtful);
      if (alternatives.length === before) continue;
      const forms = (await findForms(context, other)).filter(form => !added.has(form));
      for (const form of forms) added.add(form);
      await addTypos(forms, factors.typo * factors.stem, isDoubtful);
    }
    if (alternatives.length === 0) await addTypos(near, factors.typo, true);
  }
  if (isUnknown && alternatives.length === 0)
    await addTypos(await vocabulary.further(session, word), factors.typos, true);
  if (isUnknown && alternatives.length === 0) {
    for await (const likeness of generateSimilarWords(tools, session, word, isCompounding)) {
      await addChoices(likeness, false);
      if (alternatives.length > 0) break;
    }
  }
  return { alternatives, frequency: most, certain };
}

/**
 * Words that the word is short for. In German, whose compounds begin with whole words, only if it may be a typo instead;
 * otherwise they are among the similar words.
 */
async function findLonger(
  { tools: { vocabulary }, session, isCompounding }: QueryContext,
  word: string,
  alike: readonly string[],
): Promise<readonly string[]> {
  const isCutOff = alike.some(other => other.startsWith(word));
  if (word.length < minShortened || isCutOff || (alike.length === 0 && (await isCompounding()))) return [];
  return vocabulary.beginning(session, word, word.length + maxLeftOut, maxLonger);
}

/**
 * Whether no document has a word, its forms differ from it by more than an ending or a known plural, and a commoner word
 * only by a typo: `extenal` is `external`, though it has the stem of `extension`.
 */
export async function isRatherTypo(
  context: QueryContext,
  word: string,
  forms: readonly string[],
): Promise<boolean> {
  const plurals = context.tools.stems.others(word);
  const isFar = (form: string) =>
    !plurals.includes(form) && countSharedLetters(word, form) < Math.min(word.length, form.length) - 1;
  if (forms.length === 0 || !forms.every(isFar)) return false;
  if ((await readFrequency(context, toChoice(word))) > 0) return false;
  const near = await context.tools.vocabulary.near(context.session, word);
  const alike = near.filter(other => !beginsOtherwise(word, other));
  return (await countMost(context, alike)) >= timesAsCommon * (await countMost(context, forms));
}

/** How many documents have the commonest of the words. */
async function countMost(context: QueryContext, words: readonly string[]): Promise<number> {
  let most = 0;
  for (const word of words) most = Math.max(most, await readFrequency(context, toChoice(word)));
  return most;
}

/** The same word spelt differently: with umlauts, or the singular of a plural like `tvs`, which has no other forms. */
function findSameWords(
  tools: QueryContext['tools'],
  session: QueryContext['session'],
  word: string,
): Promise<readonly string[]> | readonly string[] {
  return /^[a-z]{2}s$/.test(word) ? [word.slice(0, -1)] : findUmlauts(tools, session, word);
}
