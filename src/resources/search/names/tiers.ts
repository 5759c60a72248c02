/** What may stand for the words of a query in names, and in which order: the words themselves, and their forms. */
import type { NameArrays, WordRange } from './arrays.ts';

/** What having a word counts for, a form of it, and a word that begins so. */
export const factors = { exact: 1, form: 0.92, beginning: 0.6 } as const;
const shortestWord = 2;

/** A word of a query: what may stand for it, the best first. */
export type NameGroup = readonly WordRange[];

/** Products, and what the words of a query are among theirs. */
export interface Layer {
  readonly arrays: NameArrays;
  readonly groups: readonly NameGroup[];
}

/** With all words as they are, then with the last one as a beginning, then with forms of the others. */
export function* generateTiers(layers: readonly Layer[]): Generator<readonly Layer[]> {
  yield filterRanges(layers, ({ factor, low }, isLast, { words }) => {
    // A letter is the beginning of a word before it is a word.
    const isShort = isLast && (words[low] ?? '').length < shortestWord;
    return factor === factors.exact && !isShort;
  });
  const isForm = ({ factor }: WordRange, isLast: boolean) => factor === factors.form && !isLast;
  yield filterRanges(layers, (range, isLast) => !isForm(range, isLast));
  const hasForms = layers.some(({ groups }) =>
    groups.some((group, index) => group.some(range => isForm(range, index === groups.length - 1))),
  );
  if (hasForms) yield layers;
}

/** The same, with only some of what may stand for each word. */
const filterRanges = (
  layers: readonly Layer[],
  keeps: (range: WordRange, isLast: boolean, arrays: NameArrays) => boolean,
): Layer[] =>
  layers.map(({ arrays, groups }) => ({
    arrays,
    groups: groups.map((group, index) =>
      group.filter(range => keeps(range, index === groups.length - 1, arrays)),
    ),
  }));

/** Of names that have the words themselves. */
export const removeForms = (layers: readonly Layer[]): Layer[] =>
  filterRanges(layers, ({ factor }) => factor !== factors.form);
