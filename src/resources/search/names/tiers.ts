/** What matches the words of a query in names, in order of preference: the words themselves, then their forms. */

import { hasDigit } from '../../../storage/search/text/joined.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import { findWordPlace, type NameArrays } from './arrays.ts';
import { findSpans, getWord, type Span, walkWords } from './merged.ts';

/** The weights of the word itself, of a form of it, and of a word that it is a prefix of. */
const factors = { exact: 1, form: 0.92, beginning: 0.6 } as const;

/** Consecutive words, and the weight of having one of them. */
interface WordRange extends Span {
  readonly factor: number;
  /** Whether the word of the query is a single letter. */
  readonly isLetter?: boolean;
}

/** What matches a word of a query, best first. */
export type NameGroup = readonly WordRange[];

/** Products, and what matches the words of a query in them. All layers have the same ranges; some may be empty. */
export interface Layer {
  readonly arrays: NameArrays;
  readonly groups: readonly NameGroup[];
}

/** All words as they are, then the last word as a prefix, then forms of the other words. */
export function* generateTiers(layers: readonly Layer[]): Generator<readonly Layer[]> {
  // Without a single letter at the end as a word: it is more likely a prefix.
  yield filterRanges(
    layers,
    ({ factor, isLetter }, isLast) => factor === factors.exact && !(isLast && isLetter),
  );
  const isForm = ({ factor }: WordRange, isLast: boolean) => factor === factors.form && !isLast;
  yield filterRanges(layers, (range, isLast) => !isForm(range, isLast));
  const hasForms = layers.some(({ groups }) =>
    groups.some((group, index) => group.some(range => isForm(range, index === groups.length - 1))),
  );
  if (hasForms) yield layers;
}

/** The same layers with only some of the ranges for each word. */
const filterRanges = (
  layers: readonly Layer[],
  keeps: (range: WordRange, isLast: boolean) => boolean,
): Layer[] =>
  layers.map(({ arrays, groups }) => ({
    arrays,
    groups: groups.map((group, index) => group.filter(range => keeps(range, index === groups.length - 1))),
  }));

/** The same layers without forms of the words. */
export const removeForms = (layers: readonly Layer[]): Layer[] =>
  filterRanges(layers, ({ factor }) => factor !== factors.form);

const formsLookedAt = 300;
const maxForms = 8;

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
