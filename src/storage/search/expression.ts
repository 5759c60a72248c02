/** What documents are asked for: a small language that both databases' own are written from. */

import { titleMark } from './words.ts';

/** A word, or the beginning of one; anywhere, or in the title. */
export interface Term {
  readonly word: string;
  readonly title: boolean;
  readonly prefix: boolean;
  /** Of a prefix: all longer words that there are, when they are known because they are few. */
  readonly longer?: readonly string[] | undefined;
}

/** Documents in which each group has a term that is met, and that none of `not` describes. */
export interface Expression {
  readonly groups: readonly (readonly Term[])[];
  readonly not: readonly Expression[];
}

/** Where in the index to look: positions from `low` up to but not including `high`. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** The words of one dialect for an expression. `term` gives a term's text. */
export function expressionText(
  expression: Expression,
  words: { readonly and: string; readonly or: string; readonly not: string },
  term: (term: Term) => string,
): string {
  const groups = expression.groups.map(group => `(${group.map(term).join(words.or)})`).join(words.and);
  const excluded = expression.not.map(other => expressionText(other, words, term));
  return excluded.reduce((text, other) => `(${text})${words.not}(${other})`, groups);
}

/** Whether a document is a hit, as the index would say. @param entries its words, as `documentWords` gives them */
export function isMet({ groups, not }: Expression, entries: ReadonlySet<string>): boolean {
  const isTermMet = ({ word, title, prefix }: Term): boolean => {
    const entry = title ? titleMark + word : word;
    if (entries.has(entry)) return true;
    return prefix && entries.values().some(candidate => candidate.startsWith(entry));
  };
  return groups.every(group => group.some(isTermMet)) && !not.some(other => isMet(other, entries));
}
