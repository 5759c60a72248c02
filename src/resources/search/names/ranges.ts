/** The words of names that match a word of a query. */
import { hasDigit } from '../../../storage/search/text/joined.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import { findWordPlace, type NameArrays } from './arrays.ts';
import { findSpans, getWord, type Span, walkWords } from './merged.ts';
import { factors, type NameGroup, type WordRange } from './tiers.ts';

const formsLookedAt = 300;
const maxForms = 8;

/** A range in each of the arrays. */
interface MergedRange extends Pick<WordRange, 'factor' | 'isLetter'> {
  readonly spans: readonly Span[];
}

const findExact = (all: readonly NameArrays[], word: string): Span[] =>
  all.map(({ words }) => {
    const low = findWordPlace(words, word);
    return { low, high: words[low] === word ? low + 1 : low };
  });

/** In each of the arrays: the word itself, its forms and, if it is the last of the query, words that begin with it. */
export function readRanges(
  all: readonly NameArrays[],
  word: string,
  isLast: boolean,
  stems: Pick<Stems, 'beginning' | 'isSame'>,
): NameGroup[] {
  const isLetter = word.length === 1;
  const ranges: MergedRange[] = [{ spans: findExact(all, word), factor: factors.exact, isLetter }];
  if (!hasDigit(word)) {
    let looked = 0;
    walkWords(all, findSpans(all, stems.beginning(word)), (_, ...numbers) => {
      const form = getWord(all, numbers);
      if (form !== word && stems.isSame(word, form))
        ranges.push({ spans: findExact(all, form), factor: factors.form, isLetter });
      return ++looked < formsLookedAt && ranges.length <= maxForms;
    });
  }
  if (isLast) ranges.push({ spans: findSpans(all, word), factor: factors.beginning, isLetter });
  return all.map((_, index) =>
    ranges.map(({ spans, ...range }) => ({ ...range, ...(spans[index] ?? { low: 0, high: 0 }) })),
  );
}
