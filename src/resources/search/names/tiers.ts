/** What may stand for the words of a query in names, and in which order: the words themselves, and their forms. */
import type { NameArrays } from './arrays.ts';
import type { Span } from './merged.ts';

/** What having a word counts for, a form of it, and a word that begins so. */
export const factors = { exact: 1, form: 0.92, beginning: 0.6 } as const;

/** Words that follow each other, and what having one of them counts for. */
export interface WordRange extends Span {
  readonly factor: number;
  /** Whether it is one letter. */
  readonly isLetter?: boolean;
}

/** A word of a query: what may stand for it, the best first. */
export type NameGroup = readonly WordRange[];

/** Products, and what the words of a query are among theirs: in each layer the same ranges, of which some may be empty. */
export interface Layer {
  readonly arrays: NameArrays;
  readonly groups: readonly NameGroup[];
}

/** With all words as they are, then with the last one as a beginning, then with forms of the others. */
export function* generateTiers(layers: readonly Layer[]): Generator<readonly Layer[]> {
  // A letter is the beginning of a word before it is a word.
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

/** The same, with only some of what may stand for each word. */
const filterRanges = (
  layers: readonly Layer[],
  keeps: (range: WordRange, isLast: boolean) => boolean,
): Layer[] =>
  layers.map(({ arrays, groups }) => ({
    arrays,
    groups: groups.map((group, index) => group.filter(range => keeps(range, index === groups.length - 1))),
  }));

/** Of names that have the words themselves. */
export const removeForms = (layers: readonly Layer[]): Layer[] =>
  filterRanges(layers, ({ factor }) => factor !== factors.form);
