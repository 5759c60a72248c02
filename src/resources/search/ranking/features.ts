/** The features by which a document is scored: the words of each field, as a string that is quick to search. */

import { splitPath } from '../../../storage/categories/names.ts';
import { isPelt, purposes } from '../../../storage/search/text/fillers.ts';
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { collectWords, splitRuns } from '../../../storage/search/text/split.ts';
import { collectCode, type SearchText } from '../../../storage/search/text/words.ts';
import { takeTurn } from '../../../turns/index.ts';
import { isUnit } from '../query/units.ts';

/** Only this many characters of a text count: later ones say little. */
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
} as const;

/** The words in order, then the joined words, so that words that are adjacent in the text are adjacent here. */
async function toField(weight: number, texts: readonly string[]): Promise<Field> {
  const words: string[] = [];
  const together: string[] = [];
  for (const text of texts) {
    const due = takeTurn();
    if (due !== undefined) await due;
    collectWords(text, words, together);
    words.push('·');
  }
  return { weight, words: ` ${words.join(' ')} ${together.join(' ')} ` };
}

/** Yields to the event loop when due: a product has up to a megabyte of text. */
export async function toFeatures(
  { title, body, fields }: SearchText,
  isFiller: (word: string) => boolean,
): Promise<Features> {
  const titleField = await toField(weights.title, [title]);
  const all = [titleField];
  const add = async (weight: number, texts: readonly string[]) => {
    if (texts.length > 0) all.push(await toField(weight, texts));
  };
  const kinds = await findKinds(fields?.categories ?? [], isFiller);
  const named = fields?.brand ?? null;
  const brand = named === null ? undefined : await toField(weights.brand, [named]);
  if (fields !== undefined) {
    const codes: string[] = [];
    for (const code of fields.codes) collectCode(code, codes);
    if (codes.length > 0) all.push({ weight: weights.code, words: ` ${codes.join(' ')} ` });
    if (brand !== undefined) all.push(brand);
    await add(weights.category, fields.categories);
    await add(weights.attribute, fields.attributes);
    await add(weights.tag, fields.tags);
  }
  if (body !== '') await add(weights.body, [body.slice(0, maxTextLength)]);
  const { head, count, purpose } = findHead(title, isFiller);
  const own = purpose === undefined ? titleField : await toField(weights.title, [title.slice(0, purpose)]);
  return { title: titleField, own, titleLength: Math.max(1, count), head, kinds, brand, fields: all };
}

/** The features of a product that is also found by these codes, each a single word. */
export const addCodes = (features: Features, codes: Iterable<string>): Features => ({
  ...features,
  fields: [...features.fields, { weight: weights.code, words: ` ${[...codes].join(' ')} ` }],
});

/** Separators in the name of a category that lists several things: `Desks & Tables`. */
const listed = /[&,/+]|\s(?:and|und)\s/i;

/** The things that the last names of category paths list. */
async function findKinds(
  paths: readonly string[],
  isFiller: (word: string) => boolean,
): Promise<readonly Kind[]> {
  const kinds: Kind[] = [];
  for (const name of paths.flatMap(path => (splitPath(path).at(-1) ?? '').split(listed))) {
    const { head } = findHead(name, isFiller);
    if (head !== undefined) kinds.push({ ...(await toField(weights.kind, [name])), head });
  }
  return kinds;
}

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
    isEnded = head !== undefined && (isLink || separators.test(title.slice(last, start)));
    if (isEnded) continue;
    if (!isLink && !isMeasure) head = word;
    [last, before] = [end, word];
  }
  return { head, count, purpose };
}
