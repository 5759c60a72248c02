/** The synonyms of a query's words. */
import { maxSynonyms, type Synonyms } from '../../synonyms/store.ts';
import type { Piece } from './pieces.ts';
import { type Alternative, factors, findForms, type QueryContext, toSeveralWords } from './word.ts';

/** The most adjacent words that have synonyms together. */
const maxTogether = 4;
/** How many forms of a synonym of several words are looked up. */
const maxPhrases = 12;

/** The synonyms of the word at an index, or of adjacent words that include it; failing that, of other forms of them. */
export function findSynonyms(
  pieces: readonly Piece[],
  at: number,
  synonyms: Synonyms,
): readonly (readonly string[])[] {
  if (synonyms.size === 0) return [];
  const windows: (readonly string[])[] = [];
  for (let first = Math.max(0, at - maxTogether + 1); first <= at; first++) {
    for (let end = at + 1; end <= Math.min(pieces.length, first + maxTogether); end++)
      windows.push(pieces.slice(first, end).map(({ word }) => word));
  }
  const found = windows.flatMap(words => synonyms.get(words));
  const all = found.length > 0 ? found : windows.flatMap(words => synonyms.getByForms(words));
  return all.slice(0, maxSynonyms);
}

/** Synonyms of several words, in all forms of these. */
export async function findPhrases(
  context: QueryContext,
  others: readonly (readonly string[])[],
): Promise<readonly Alternative[]> {
  const phrases: Alternative[] = [];
  for (const words of others.filter(({ length }) => length > 1)) {
    let all: (readonly string[])[] = [[]];
    for (const word of words) {
      const forms = [word, ...(await findForms(context, word))];
      all = all.flatMap(start => forms.map(form => [...start, form])).slice(0, maxPhrases);
    }
    phrases.push(...all.map(phrase => toSeveralWords(phrase, factors.synonym)));
  }
  return phrases;
}
