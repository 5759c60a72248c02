/**
 * What a query asks for, as classes of hits, best first: words in the title before words elsewhere, whole words
 * before beginnings of words. Within a class all hits are alike, and the index gives them in its own order: so a
 * page costs what its hits cost, however many there are (docs/decisions/0014).
 */
import type { Expression, Term } from '../../storage/search/expression.ts';
import { wordsOf } from '../../storage/search/words.ts';

/** Words of a query that count; more are left out. */
const mostWords = 20;
/** Shorter beginnings would be those of nearly every document. */
const shortestPrefix = 2;
/** A hit by words that are only similar, as part of what it would score otherwise. */
const typoFactor = 0.5;

/** One word of a query: what a document must have for it. */
export interface QueryWord {
  /** The word itself, or the words it may have been meant as. */
  readonly alternatives: readonly string[];
  /** Longer words count too. */
  readonly prefix: boolean;
  /** All of those, when they are few. */
  readonly longer?: readonly string[] | undefined;
  readonly misspelt: boolean;
}

export interface RankClass {
  /** Only those of this class. */
  readonly hits: Expression;
  /** Those of better classes too: cheaper to look up. */
  readonly upTo: Expression;
  /** From 1, the best, down to 0. */
  readonly score: number;
}

/** The distinct words of a query; the last may be the beginning of one, since it is still being typed. */
export function queryWords(query: string): QueryWord[] {
  const words = [...new Set(wordsOf(query))].slice(0, mostWords);
  return words.map((word, index) => ({
    alternatives: [word],
    prefix: index === words.length - 1 && [...word].length >= shortestPrefix,
    misspelt: false,
  }));
}

/** Every document that is a hit. */
export function allHits(words: readonly QueryWord[]): Expression {
  return expressionOf(words, { title: false, prefix: true });
}

/** The classes of the hits, best first; none has a hit of another. */
export function rankClasses(words: readonly QueryWord[]): RankClass[] {
  const factor = words.some(({ misspelt }) => misspelt) ? typoFactor : 1;
  const prefix = words.some(word => word.prefix);
  const kinds = [
    { title: true, prefix: false, score: 1 },
    ...(prefix ? [{ title: true, prefix: true, score: 0.8 }] : []),
    { title: false, prefix: false, score: 0.6 },
    ...(prefix ? [{ title: false, prefix: true, score: 0.4 }] : []),
  ];
  const better: Expression[] = [];
  return kinds.map(({ score, ...kind }) => {
    const hits = expressionOf(words, kind);
    const rest = { ...hits, not: [...better] };
    better.push(hits);
    return { hits: rest, upTo: hits, score: score * factor };
  });
}

function expressionOf(
  words: readonly QueryWord[],
  kind: { readonly title: boolean; readonly prefix: boolean },
): Expression {
  const groups = words.map(({ alternatives, prefix, longer }) =>
    alternatives.map((word): Term => ({ word, title: kind.title, prefix: prefix && kind.prefix, longer })),
  );
  return { groups, not: [] };
}
