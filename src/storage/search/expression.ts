/** Search expressions: a small language that is translated to the query language of each database. */

/** A word, or the beginning of one; anywhere, or only with a mark: see words.ts. */
export interface Term {
  readonly word: string;
  readonly mark?: string | undefined;
  readonly prefix?: boolean;
  /** For a prefix: all longer words, if they are few enough to be known. */
  readonly longer?: readonly string[] | undefined;
}

/** Terms that must all match. */
export type Choice = readonly Term[];

/** Documents in which each group has a choice that matches. */
export type Expression = readonly (readonly Choice[])[];

/** Where in the index to look: positions from `low` up to but not including `high`. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Writes an expression in the words of one dialect. `term` returns the text of a term. */
export function toExpressionText(
  expression: Expression,
  words: { readonly and: string; readonly or: string },
  term: (term: Term) => string,
): string {
  const toChoiceText = (terms: Choice) =>
    terms.length === 1 ? terms.map(term).join('') : `(${terms.map(term).join(words.and)})`;
  return expression.map(group => `(${group.map(toChoiceText).join(words.or)})`).join(words.and);
}

/** Whether the index returns the documents of an expression one after another, without collecting them first. */
export function isOneWord(expression: Expression): boolean {
  const [first] = expression;
  const isStreamed = ({ prefix, longer }: Term) => prefix !== true || longer !== undefined;
  return (
    expression.length === 1 &&
    first?.every(([term, other]) => other === undefined && term !== undefined && isStreamed(term)) === true
  );
}
