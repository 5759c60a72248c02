/** Measures the quality of a list of hits for a judged query. */

const depth = 10;
const recallDepth = 50;

export interface Measured {
  readonly ndcg: number;
  readonly recall: number;
  readonly reciprocalRank: number;
  readonly isEmpty: boolean;
}

const gain = (grade: number, at: number) => (2 ** grade - 1) / Math.log2(at + 2);
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

/** @param found the grades of the hits, in order; @param all the grades of all products, in any order */
export function measure(found: readonly number[], all: readonly number[]): Measured {
  const ideal = all.toSorted((a, b) => b - a).slice(0, depth);
  const best = sumOf(ideal.map(gain));
  const good = all.filter(grade => grade >= 2).length;
  const first = found.findIndex(grade => grade >= 2);
  const got = found.slice(0, recallDepth).filter(grade => grade >= 2).length;
  return {
    ndcg: best === 0 ? 1 : sumOf(found.slice(0, depth).map(gain)) / best,
    recall: good === 0 ? 1 : got / Math.min(good, recallDepth),
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
    isEmpty: found.length === 0,
  };
}

export interface Summary {
  readonly ndcg: number;
  readonly recall: number;
  readonly reciprocalRank: number;
  readonly empty: number;
}

export function summaryOf(measured: readonly Measured[]): Summary {
  const mean = (of: (one: Measured) => number) => sumOf(measured.map(of)) / Math.max(1, measured.length);
  return {
    ndcg: mean(({ ndcg }) => ndcg),
    recall: mean(({ recall }) => recall),
    reciprocalRank: mean(({ reciprocalRank }) => reciprocalRank),
    empty: mean(({ isEmpty }) => (isEmpty ? 1 : 0)),
  };
}
