/** How good a hit is: how much of the query it has, in which fields and how exactly, and how rare those words are. */
import type { Term } from '../../../storage/search/expression.ts';
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { factors, negligible, type QueryWord } from '../query/word.ts';
import type { Features, Field, Kind } from './features.ts';

/** Facts about a document other than its words. */
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
 * Shares of the score: the words, how much of the title they cover, whether they are adjacent there, whether the last
 * word of the query is the head of the title or of a category's name, the rating and the availability.
 */
const shares = {
  words: 0.78,
  title: 0.06,
  together: 0.08,
  head: 0.05,
  rating: 0.02,
  available: 0.01,
} as const;
/** How much a word counts in further fields. */
const again = 0.3;
/** The factor for words of a choice that are not adjacent. */
const scattered = 0.5;
/** How many forms of a word are compared with those of its neighbour. */
const maxForms = 4;
/** Hits with all words of the query score above this, all others below. */
const allWords = 0.5;
/** The share of a query's weight that a hit may lack: that of words that nearly all documents have. */
const negligibleWeight = 0.08;

/** A word in one of a thousand documents says about twice as much as one in every tenth. */
const steepness = 0.7;

/** @param documents how many there are; @returns how much a word counts that `frequency` of them have */
export const computeRarity = (frequency: number, documents: number): number =>
  Math.log(1 + (Math.max(documents, frequency) - frequency + 0.5) / (frequency + 0.5)) ** steepness;

/** A way to match a word: the texts that must all be in a field, and the text in which they are adjacent. */
interface Way {
  readonly texts: readonly string[];
  readonly together: string;
  readonly factor: number;
  readonly isGuess: boolean;
  readonly isCorrection: boolean;
  readonly isCompound: boolean;
}

/** A word of a query, prepared for scoring many documents. */
export interface Weighed {
  readonly text: string;
  readonly weight: number;
  /** Whether a document without it still has everything that was searched for. */
  readonly isFiller: boolean;
  /** Best first. */
  readonly ways: readonly Way[];
  /** Single-word forms, best first. */
  readonly forms: readonly string[];
  /** For each word before it in the query: each form of that, and each of its own, as neighbours in a title. */
  readonly pairs: readonly (readonly string[])[];
}

const padWord = ({ word, prefix }: Term): string => (prefix === true ? ` ${word}` : ` ${word} `);

/** @param documents how many there are; @returns the words of a query in its order */
export function weighWords(words: readonly QueryWord[], documents: number): Weighed[] {
  const formsOf = new Map(words.map(word => [word.text, listForms(word)]));
  return words.map(word => weighWord(word, documents, formsOf));
}

/** The single-word forms of a word, best first. */
const listForms = ({ alternatives }: QueryWord): readonly string[] =>
  alternatives
    .flatMap(({ choice }) =>
      choice.length === 1 ? choice.flatMap(({ word, longer = [word] }) => longer) : [],
    )
    .slice(0, maxForms);

function weighWord(
  { text, alternatives, frequency, importance, before }: QueryWord,
  documents: number,
  formsOf: ReadonlyMap<string, readonly string[]>,
): Weighed {
  const ways = alternatives.map(
    ({ choice, factor, isGuess = false, isCorrection = false, isCompound = false }) => ({
      texts: choice.map(padWord),
      together: ` ${choice.map(({ word }) => word).join(' ')} `,
      factor,
      isGuess,
      isCorrection,
      isCompound,
    }),
  );
  const forms = formsOf.get(text) ?? [];
  return {
    text,
    isFiller: importance <= negligible,
    weight: importance * computeRarity(frequency, documents),
    ways: ways.sort((one, other) => other.factor - one.factor),
    forms,
    pairs: Array.from(before, first =>
      (formsOf.get(first) ?? []).flatMap(one => forms.map(other => ` ${one} ${other} `)),
    ),
  };
}

export function computeScore(features: Features, words: readonly Weighed[], facts: Facts): Score {
  let [sum, once, most, lacking] = [0, 0, 0, 0];
  let isExact = true;
  const inTitle: boolean[] = [];
  const missing: string[] = [];
  const { kind, isNamed } = findNoun(features, words);
  for (const { text, weight, ways: all, isFiller } of words) {
    const ways = removeNames(all, features);
    const { value, best, titled } = computeBest(features, kind, ways);
    if (value === 0 || isGuessed(features, ways)) {
      // Fillers are missing only if the query has no other words.
      if (!isFiller || words.every(word => word.isFiller)) missing.push(text);
      lacking += weight;
    }
    sum += weight * value;
    once += weight * best;
    most += weight;
    inTitle.push(titled);
    isExact &&= titled && best >= factors.stem;
  }
  if (most === 0) return { value: 0, missing };
  const titled = inTitle.filter(Boolean).length;
  // Nothing is more exact than a title of just these words, even if accessories also have them in other fields.
  const isWholeTitle = isExact && words.length === features.titleLength;
  // What fits other things often names them again in further fields, while they name themselves only in their title.
  const isMentioned = !isMeant(features, words);
  const found = isMentioned && kind === undefined ? once / (1 + again) : sum;
  const value =
    (shares.words * (isWholeTitle ? once : found)) / most +
    (isMentioned ? 0 : shares.title * Math.min(1, titled / features.titleLength)) +
    shares.together * Math.max(measureNeighbours(features.title, words), measureNeighbours(kind, words)) +
    (isNamed ? shares.head : 0) +
    shares.rating * facts.rating +
    (facts.available ? shares.available : 0);
  const tier = lacking <= most * negligibleWeight ? allWords : 0;
  return { value: Math.round((tier + Math.min(1, value) * (1 - allWords)) * 10_000) / 10_000, missing };
}

/**
 * Whether the query names the document by its head, and by which of its kinds: with its last word, or with the one before
 * numbers and the brand (`tv 55`, `rice cooker tiger`).
 */
function findNoun(
  features: Features,
  words: readonly Weighed[],
): { kind: Kind | undefined; isNamed: boolean } {
  const isAll = words.every(({ isFiller }) => isFiller);
  for (const word of words.toReversed()) {
    if (word.isFiller && !isAll) continue;
    const kind = findKind(features, word);
    if (kind !== undefined || isHead(features, word)) return { kind, isNamed: true };
    if (!isBeside(features, word)) break;
  }
  return { kind: undefined, isNamed: false };
}

/** Whether a word may follow the one that says what is searched for. */
const isBeside = ({ brand }: Features, { text }: Weighed): boolean =>
  hasDigit(text) || brand?.words.includes(` ${text} `) === true;

/** The kind of the document whose head is the closest form of the word. */
function findKind({ kinds }: Features, { forms }: Weighed): Kind | undefined {
  if (kinds.length === 0) return undefined;
  for (const form of forms) {
    const kind = kinds.find(({ head }) => head === form);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** Removes compounds that are in the brand: they only happen to end with the word. */
function removeNames(ways: readonly Way[], { brand }: Features): readonly Way[] {
  if (brand === undefined || !ways.some(({ isCompound }) => isCompound)) return ways;
  return ways.filter(
    ({ texts, isCompound }) => !(isCompound && texts.every(text => brand.words.includes(text))),
  );
}

/** The value of a word, by its best way in each field, its value in the best one, and whether it is in the title. */
function computeBest(
  features: Features,
  kind: Kind | undefined,
  ways: readonly Way[],
): { value: number; best: number; titled: boolean } {
  let best = kind === undefined ? 0 : kind.weight * computeFactor(kind, ways);
  let sum = best;
  let titled = false;
  for (const field of features.fields) {
    const value = field.weight * computeFactor(field, ways);
    sum += value;
    if (value > best) best = value;
    if (value > 0 && field === features.title) titled = true;
  }
  if (best > 0)
    return {
      value: Math.min(1, (best + again * (sum - best)) / (1 + again)),
      best: Math.min(1, best),
      titled,
    };
  const isThere = ways.some(way => way.texts.length > 1 && isIn(features, way));
  const value = isThere ? scattered * scattered : 0;
  return { value, best: value, titled };
}

const isIn = ({ fields }: Features, { texts }: Way): boolean =>
  texts.every(text => fields.some(({ words }) => words.includes(text)));

/** Whether a document has a word only by a guess. */
const isGuessed = (features: Features, ways: readonly Way[]): boolean =>
  ways.some(({ isGuess }) => isGuess) && !ways.some(way => !way.isGuess && isIn(features, way));

/** How a document spells a word that it has only without a typing error. */
export function findCorrection(features: Features, { ways }: Weighed): string | undefined {
  if (!ways.some(({ isCorrection }) => isCorrection)) return undefined;
  const found = ways.filter(way => isIn(features, way));
  return found.every(({ isCorrection }) => isCorrection) ? found[0]?.together.trim() : undefined;
}

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
const isHead = ({ head }: Features, { forms }: Weighed): boolean =>
  head !== undefined && forms.includes(head);

/** Whether a word is in the title, other than in what the product is for: a case for phones is none of these. */
const isMeant = ({ own, title }: Features, words: readonly Weighed[]): boolean =>
  own === title || words.some(({ isFiller, ways }) => !isFiller && computeFactor(own, ways) > 0);

/** The share of neighbours in the query that are also neighbours in the title or kind, in any of their forms. */
function measureNeighbours(field: Field | undefined, wanted: readonly Weighed[]): number {
  if (field === undefined) return 0;
  let [found, all] = [0, 0];
  for (const { pairs } of wanted) {
    all += pairs.length;
    for (const pair of pairs) if (pair.some(words => field.words.includes(words))) found++;
  }
  return all === 0 ? 0 : found / all;
}
