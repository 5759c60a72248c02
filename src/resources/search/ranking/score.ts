/** How good a hit is: how much of the query it has, in which fields and how exactly, and how rare those words are. */
import type { Term } from '../../../storage/search/expression.ts';
import { negligible, type QueryWord } from '../query/word.ts';
import type { Features, Field, Kind } from './features.ts';

/** What else is known of a document. */
export interface Facts {
  /** From 0 to 1. */
  readonly rating: number;
  readonly available: boolean;
}

export interface Score {
  /** From 0 to 1, with four digits. */
  readonly value: number;
  /** The words of the query that the document does not have. */
  readonly missing: readonly string[];
}

/**
 * Parts of the whole: the words, how much of the title they are, whether they stand together there, whether the query's
 * last word is the head of the title or of a category's name, and the rest.
 */
const shares = {
  words: 0.78,
  title: 0.06,
  together: 0.08,
  head: 0.05,
  rating: 0.02,
  available: 0.01,
} as const;
/** What a word counts for that stands in other fields too. */
const again = 0.3;
/** Words of a choice that are not next to each other. */
const scattered = 0.5;
/** Forms of a word that are searched for next to those of another. */
const mostForms = 4;
/** All words of the query are before some of them: their scores are above this. */
const allWords = 0.5;
/** Of the weight of a query: words that nearly all documents have may be lacking. */
const negligibleWeight = 0.08;

/** A word in one of a thousand documents says about twice as much as one in every tenth. */
const steepness = 0.7;

/** @param documents how many there are; @returns how much a word says that so many of them have */
export const computeRarity = (frequency: number, documents: number): number =>
  Math.log(1 + (Math.max(documents, frequency) - frequency + 0.5) / (frequency + 0.5)) ** steepness;

/** A way to have a word: the texts that a field must have, all of them, and the one where they are together. */
interface Way {
  readonly texts: readonly string[];
  readonly together: string;
  readonly factor: number;
  readonly isGuess: boolean;
  readonly isCompound: boolean;
}

/** A word of a query, made ready to score many documents. */
export interface Weighed {
  readonly text: string;
  readonly weight: number;
  /** Whether a document that does not have it lacks nothing that was searched for. */
  readonly isFiller: boolean;
  /** The best first. */
  readonly ways: readonly Way[];
  /** Forms that are one word each, for neighbours in titles. */
  readonly forms: readonly string[];
}

const padWord = ({ word, prefix }: Term): string => (prefix === true ? ` ${word}` : ` ${word} `);

/** @param documents how many there are */
export function weighWord(
  { text, alternatives, frequency, importance }: QueryWord,
  documents: number,
): Weighed {
  const ways = alternatives.map(({ choice, factor, isGuess = false, isCompound = false }) => ({
    texts: choice.map(padWord),
    together: ` ${choice.map(({ word }) => word).join(' ')} `,
    factor,
    isGuess,
    isCompound,
  }));
  const forms = alternatives.flatMap(({ choice }) =>
    choice.length === 1 ? choice.map(({ word }) => word) : [],
  );
  return {
    text,
    isFiller: importance <= negligible,
    weight: importance * computeRarity(frequency, documents),
    ways: ways.sort((one, other) => other.factor - one.factor),
    forms: forms.slice(0, mostForms),
  };
}

export function computeScore(features: Features, words: readonly Weighed[], facts: Facts): Score {
  let [sum, most, lacking] = [0, 0, 0];
  const inTitle: boolean[] = [];
  const missing: string[] = [];
  const named = words.filter(({ isFiller }) => !isFiller);
  const last = words.at(-1);
  const kind = features.kinds.length === 0 ? undefined : findKind(features, last);
  for (const { text, weight, ways: all, isFiller } of words) {
    const ways = removeNames(all, features);
    const { value, titled } = computeBest(features, kind, ways);
    if (value === 0 || isGuessed(features, ways)) {
      // Unless there are only such words.
      if (!isFiller || named.length === 0) missing.push(text);
      lacking += weight;
    }
    sum += weight * value;
    most += weight;
    inTitle.push(titled);
  }
  if (most === 0) return { value: 0, missing };
  const titled = inTitle.filter(Boolean).length;
  const value =
    (shares.words * sum) / most +
    shares.title * Math.min(1, titled / features.titleLength) +
    shares.together * Math.max(measureNeighbours(features.title, words), measureNeighbours(kind, words)) +
    (kind !== undefined || isHead(features, last) ? shares.head : 0) +
    shares.rating * facts.rating +
    (facts.available ? shares.available : 0);
  const tier = lacking <= most * negligibleWeight ? allWords : 0;
  return { value: Math.round((tier + Math.min(1, value) * (1 - allWords)) * 10_000) / 10_000, missing };
}

/** What a document is that the word asks for, in the form that comes closest to it. */
function findKind({ kinds }: Features, word: Weighed | undefined): Kind | undefined {
  for (const form of word?.forms ?? []) {
    const kind = kinds.find(({ head }) => head === form);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** Without what only ends as a word does where it is the brand. */
function removeNames(ways: readonly Way[], { brand }: Features): readonly Way[] {
  if (brand === undefined || !ways.some(({ isCompound }) => isCompound)) return ways;
  return ways.filter(
    ({ texts, isCompound }) => !(isCompound && texts.every(text => brand.words.includes(text))),
  );
}

/** What a word is worth, field by field in the best of its ways, and whether it is in the title. */
function computeBest(
  features: Features,
  kind: Kind | undefined,
  ways: readonly Way[],
): { value: number; titled: boolean } {
  let best = kind === undefined ? 0 : kind.weight * computeFactor(kind, ways);
  let sum = best;
  let titled = false;
  for (const field of features.fields) {
    const value = field.weight * computeFactor(field, ways);
    sum += value;
    if (value > best) best = value;
    if (value > 0 && field === features.title) titled = true;
  }
  if (best > 0) return { value: Math.min(1, (best + again * (sum - best)) / (1 + again)), titled };
  const isThere = ways.some(
    ({ texts }) =>
      texts.length > 1 && texts.every(text => features.fields.some(({ words }) => words.includes(text))),
  );
  return { value: isThere ? scattered * scattered : 0, titled };
}

/** Whether what a document has of a word is only a guess at it. */
const isGuessed = ({ fields }: Features, ways: readonly Way[]): boolean =>
  ways.some(({ isGuess }) => isGuess) &&
  !ways.some(
    ({ texts, isGuess }) => !isGuess && texts.every(text => fields.some(({ words }) => words.includes(text))),
  );

function computeFactor({ words }: Field, ways: readonly Way[]): number {
  let best = 0;
  for (const { texts, together, factor } of ways) {
    if (factor <= best) break;
    const [only] = texts;
    if (texts.length === 1 && only !== undefined) {
      if (words.includes(only)) best = factor;
    } else if (words.includes(together)) best = factor;
    else if (texts.every(text => words.includes(text))) best = Math.max(best, factor * scattered);
  }
  return best;
}

/** Whether a form of a word is the head of the title: a dress watch is a watch. */
const isHead = ({ head }: Features, word: Weighed | undefined): boolean =>
  head !== undefined && word?.forms.includes(head) === true;

/** Of the neighbours in the query, how many are neighbours in the title or kind: a form of a word is as good as the word. */
function measureNeighbours(field: Field | undefined, wanted: readonly Weighed[]): number {
  if (field === undefined || wanted.length < 2) return 0;
  let pairs = 0;
  for (const [index, { forms }] of wanted.entries()) {
    const before = wanted[index - 1]?.forms ?? [];
    if (before.some(one => forms.some(other => field.words.includes(` ${one} ${other} `)))) pairs++;
  }
  return pairs / (wanted.length - 1);
}
