/** The features by which a document is scored: the words of each field, as a string that is quick to search. */

import { createBoundedMap } from '../../../bounded-map.ts';
import { splitPath } from '../../../storage/categories/names.ts';
import { isPelt, purposes } from '../../../storage/search/text/fillers.ts';
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { collectWords, collectWordsInSteps, finish, splitRuns } from '../../../storage/search/text/split.ts';
import { collectCode, type SearchText } from '../../../storage/search/text/words.ts';
import { finishInSlices } from '../../../turns/slices.ts';
import { isUnit } from '../query/units.ts';

/** Only this many characters of a text count as the body: later ones say little. */
const maxTextLength = 3000;

/** Separators between a title and an addition: `Desk Lamp, Black`, `Desk Lamp - Black`. */
const separators = /[,;:|([]|\s[-–—]\s/;

/** The words of a field, with spaces around each. */
export interface Field {
  readonly weight: number;
  readonly words: string;
}

/** One of the things that a category's name lists. */
export interface Kind extends Field {
  /** The word that says what it is. */
  readonly head: string;
}

export interface Features {
  readonly title: Field;
  /** The title without what the product is for: `Case` of `Case for Phones`. */
  readonly own: Field;
  /** How many words the title has. */
  readonly titleLength: number;
  /** The word of the title that says what it is: `gown` of `Silk Evening Gown in Black, Size 8`. */
  readonly head: string | undefined;
  /** What its categories say it is: `laptops` of `Computers > Laptops`, even if its title is only a name. */
  readonly kinds: readonly Kind[];
  readonly brand: Field | undefined;
  /** The fields that have words, title first. */
  readonly fields: readonly Field[];
}

const weights = {
  /** Category names are plurals: a form of a word in one counts as much as the word itself in a title. */
  kind: 1.1,
  title: 1,
  code: 1,
  brand: 0.9,
  category: 0.7,
  attribute: 0.65,
  tag: 0.65,
  body: 0.4,
  rest: 0.2,
} as const;

/** The words in order, then the joined words, so that words that are adjacent in the text are adjacent here. */
function* toField(weight: number, texts: readonly string[]): Generator<undefined, Field> {
  const words: string[] = [];
  const together: string[] = [];
  for (const text of texts) {
    yield;
    collectWords(text, words, together);
    words.push('·');
  }
  return { weight, words: ` ${words.join(' ')} ${together.join(' ')} ` };
}

/** The words of a very long text that its beginning lacks, each once. */
function* toRest(text: string, beginning: string): Generator<undefined, Field> {
  const known: string[] = [];
  collectWords(beginning, known);
  const words: string[] = [];
  yield* collectWordsInSteps(text, words);
  const rest = new Set(words).difference(new Set(known));
  return { weight: weights.rest, words: ` ${[...rest].join(' ')} ` };
}

/** What the categories of a product say, which very many other products have too. */
interface CategoryFeatures {
  readonly field: Field;
  readonly kinds: readonly Kind[];
}

/** Maximum size of the cached features of lists of categories, in bytes. */
const categoriesSize = 4 * 1024 * 1024;
/** The words of the field are about as long as the paths, which are the key, and as the words of the kinds. */
const computeCategoriesSize = ({ field }: CategoryFeatures): number => 500 + 6 * field.words.length;

export function createFeatureReader(isFiller: (word: string) => boolean) {
  const known = createBoundedMap<string, CategoryFeatures>(categoriesSize, computeCategoriesSize);
  const readCategories = (paths: readonly string[]): CategoryFeatures =>
    known.getOrCreate(paths.join('\n'), () => ({
      field: finish(toField(weights.category, paths)),
      kinds: findKinds(paths, isFiller),
    }));

  /** With a `yield` before each text. */
  function* collectFeatures({ title, body, fields }: SearchText): Generator<undefined, Features> {
    const titleField = yield* toField(weights.title, [title]);
    const all = [titleField];
    const categories = fields?.categories ?? [];
    const { field, kinds } = categories.length === 0 ? { kinds: [] } : readCategories(categories);
    const named = fields?.brand ?? null;
    const brand = named === null ? undefined : yield* toField(weights.brand, [named]);
    if (fields !== undefined) {
      const codes: string[] = [];
      for (const code of fields.codes) collectCode(code, codes);
      if (codes.length > 0) all.push({ weight: weights.code, words: ` ${codes.join(' ')} ` });
      if (brand !== undefined) all.push(brand);
      if (field !== undefined) all.push(field);
      const { attributes, tags } = fields;
      if (attributes.length > 0) all.push(yield* toField(weights.attribute, attributes));
      if (tags.length > 0) all.push(yield* toField(weights.tag, tags));
    }
    const beginning = body.slice(0, maxTextLength);
    if (body !== '') all.push(yield* toField(weights.body, [beginning]));
    if (body.length > maxTextLength) all.push(yield* toRest(body, beginning));
    const { head, count, purpose } = findHead(title, isFiller);
    const own = purpose === undefined ? titleField : yield* toField(weights.title, [title.slice(0, purpose)]);
    return { title: titleField, own, titleLength: Math.max(1, count), head, kinds, brand, fields: all };
  }
  /** Yields to the event loop when due: a product has up to a megabyte of text. */
  return (text: SearchText): Promise<Features> => finishInSlices(collectFeatures(text));
}

/** The features of a product that is also found by these codes, each a single word. */
export const addCodes = (features: Features, codes: Iterable<string>): Features => ({
  ...features,
  fields: [...features.fields, { weight: weights.code, words: ` ${[...codes].join(' ')} ` }],
});

/** Separators in the name of a category that lists several things: `Desks & Tables`. */
const listed = /[&,/+]|\s(?:and|und)\s/i;

/** The things that the last names of category paths list. */
function findKinds(paths: readonly string[], isFiller: (word: string) => boolean): readonly Kind[] {
  const kinds: Kind[] = [];
  for (const name of paths.flatMap(path => (splitPath(path).at(-1) ?? '').split(listed))) {
    const { head } = findHead(name, isFiller);
    if (head !== undefined) kinds.push({ ...finish(toField(weights.kind, [name])), head });
  }
  return kinds;
}

/** Whether a separator is between two words; nearly all words are separated by a space. */
const isSeparated = (title: string, last: number, start: number): boolean =>
  !(start - last === 1 && title[last] === ' ') && separators.test(title.slice(last, start));

/**
 * Finds the last word, other than numbers and their units, before an addition that begins with a comma, a bracket or a
 * word like `with`.
 * @returns that word, how many words the title has, and where a word like `for` begins after the head
 */
function findHead(
  title: string,
  isFiller: (word: string) => boolean,
): { head: string | undefined; count: number; purpose: number | undefined } {
  let head: string | undefined;
  let purpose: number | undefined;
  let isEnded = false;
  let [count, last, before] = [0, 0, ''];
  for (const { start, end, words } of splitRuns(title)) {
    count += words.length;
    const [word = ''] = words.slice(-1);
    const isLinking = words.some(isFiller) && !isPelt(title.slice(start, end));
    if (head !== undefined && isLinking && purposes.has(word)) purpose ??= start;
    if (isEnded) continue;
    const isMeasure = hasDigit(word) || (hasDigit(before) && isUnit(word));
    const isLink = !isMeasure && isLinking;
    isEnded = head !== undefined && (isLink || isSeparated(title, last, start));
    if (isEnded) continue;
    if (!isLink && !isMeasure) head = word;
    [last, before] = [end, word];
  }
  return { head, count, purpose };
}
