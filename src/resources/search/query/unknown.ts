/**
 * Alternatives for a word that no document has, not even with a typo: other ways to write it, its parts, and words of
 * documents with the same end or beginning. A shopper who searches for `olivenöl` finds olive oil.
 */
import type { Session } from '../../../storage/database.ts';
import { countSharedLetters, type Stems } from '../../../storage/search/text/stems.ts';
import { beginsOtherwise, type Vocabulary } from '../../../storage/search/vocabulary.ts';
import { factors } from './word.ts';

/** The fewest letters of a part that stands for the whole word, and of the rest. */
const minPartLength = 4;
const minRestLength = 2;
/** The fewest letters of a beginning that stands for the whole word; it also has at least half of its letters. */
const minStartLength = 5;
/** A shorter word may be the end of others by chance. */
const minHeadLength = 4;
/** The fewest letters of a compound before the word that it ends with: a `visage` is not a `säge`. */
const minFirstLength = 3;
/** The fewest letters of a word before another that has a typo. */
const minBeginningLength = 3;
/** The fewest letters of a word that finds longer ones by their end: `zange` finds a `wasserpumpenzange`. */
const minEndingLength = 3;
/** The fewest letters that words share at their end or beginning; also at least half of the word. */
const minSharedLength = 5;
/** The most letters that follow the word in a German compound: `erdbeeren` finds an `erdbeerkonfiture`. */
const maxHeadLength = 20;
const maxWords = 12;
/** How many words that begin like a compound are looked up. */
const maxFirstParts = 40;
/** Endings that one form of a word has and another lacks. */
const inflections = ['s', 'es', 'n', 'en', 'e'] as const;

/** The word with an ending added or removed: forms that can be looked up together. */
export function inflect(word: string, stems: Stems): string[] {
  const removeEnding = (ending: string) =>
    word.endsWith(ending) && word.length - ending.length >= minEndingLength
      ? [word.slice(0, -ending.length)]
      : [];
  const others = inflections.flatMap(ending => [word + ending, ...removeEnding(ending)]);
  // `jackor` is the plural of `jacka`, in whose place it has another ending.
  const replaced = [word, ...stems.endings.flatMap(removeEnding)].flatMap(start =>
    [start, ...stems.endings.map(ending => start + ending)].filter(other => other !== word),
  );
  return [...new Set([...others, ...(stems.endings.length > 0 ? replaced : [])])].filter(other =>
    stems.isSame(word, other),
  );
}

/** The same, and forms with another beginning: `tas` of `tassen`. */
export const inflectEnd = (word: string, stems: Stems): string[] => [
  ...new Set([...inflect(word, stems), ...stems.others(word)]),
];

/** Converts umlauts typed as two letters to the form in which umlauts are indexed: `handtuecher` to `handtucher`. */
export const removeUmlauts = (word: string): string => word.replace(/(?<=[aou])e/g, '');

/** Words that documents write with umlauts and the query writes without them. */
export async function findUmlauts({ vocabulary, stems }: Tools, session: Session, word: string) {
  const plain = removeUmlauts(word);
  if (plain === word) return [];
  return [...(await vocabulary.known(session, [plain, ...inflect(plain, stems)]))].sort();
}

/**
 * Compounds with a word that documents write with umlauts: `buero` finds a `Bürostuhl`.
 * @param isCompounding whether the catalog's language compounds words: elsewhere, `coeur` is not a word with an umlaut
 */
export async function findUmlautCompounds(
  { vocabulary, stems }: Tools,
  session: Session,
  word: string,
  isCompounding: () => Promise<boolean>,
): Promise<Likeness> {
  const plain = removeUmlauts(word);
  // German hardly has words that end with these umlauts; English has `blue` and `shoe`.
  if (plain.length === word.length || /[aou]e$/.test(word) || !(await isCompounding())) return toLikeness([]);
  const words = await vocabulary.beginning(session, plain, plain.length + maxHeadLength, maxWords);
  if (plain.length < minHeadLength) return toLikeness(words, true);
  for (const form of [plain, ...inflect(plain, stems)]) {
    for (const compound of await vocabulary.ending(session, form, maxWords))
      if (compound.length >= form.length + minFirstLength) words.push(compound);
  }
  return toLikeness([...new Set(words)]);
}

export interface Likeness {
  /** Each is one word, or several that a document must have together. */
  readonly choices: readonly (readonly string[])[];
  readonly factor: number;
  /** Whether they share only a part with the word. */
  readonly isGuess: boolean;
}

const toLikeness = (words: readonly string[], isGuess = false): Likeness => ({
  choices: words.map(one => [one]),
  factor: factors.alike,
  isGuess,
});

interface Tools {
  readonly vocabulary: Vocabulary;
  readonly stems: Stems;
}

/**
 * Generates alternatives, the best kind first. Of each kind, words may be in no document that is searched.
 * @param isCompounding whether the catalog's language compounds words: in English, `organ` is unrelated to an `organizer`
 */
export async function* generateSimilarWords(
  { vocabulary, stems }: Tools,
  session: Session,
  word: string,
  isCompounding: () => Promise<boolean>,
): AsyncGenerator<Likeness> {
  if (word.length >= minEndingLength) {
    for (const form of [word, ...inflectEnd(word, stems)])
      yield toLikeness(await vocabulary.ending(session, form, maxWords), form.length < minHeadLength);
  }
  const starts = [word, ...inflect(word, stems)].filter(({ length }) => length >= minStartLength);
  if (starts.length > 0 && (await isCompounding())) {
    for (const form of starts.sort((one, other) => one.length - other.length))
      yield toLikeness(await vocabulary.beginning(session, form, form.length + maxHeadLength, maxWords));
  }
  const shorter = inflect(word, stems).filter(({ length }) => length < word.length);
  for (const form of shorter.filter(({ length }) => length >= minPartLength)) {
    const near = await vocabulary.near(session, form);
    yield toLikeness(near.filter(other => !beginsOtherwise(form, other)).slice(0, maxWords));
  }
  for (const form of [word, ...shorter]) yield toLikeness(await vocabulary.endingNear(session, form));
  const misspelt = await findMisspeltEnd(vocabulary, session, [...word]);
  yield { choices: misspelt, factor: factors.alike, isGuess: false };
  // German plurals (`fahrräder`), but also English agent nouns.
  const singular = word.endsWith('er') ? word.slice(0, -2) : '';
  if (singular.length >= minHeadLength)
    yield toLikeness(await vocabulary.ending(session, singular, maxWords), true);
  yield toLikeness(await findParts({ vocabulary, stems }, session, word), true);
  if (await isCompounding())
    yield toLikeness(await findFirstParts({ vocabulary, stems }, session, word), true);
}

/** Words that begin with its first part, which is a word too or begins other compounds. */
async function findFirstParts(
  { vocabulary, stems }: Tools,
  session: Session,
  word: string,
): Promise<readonly string[]> {
  const start = [...word].slice(0, minSharedLength).join('');
  const most = word.length - minPartLength;
  if (most < start.length) return [];
  const found = await vocabulary.beginning(session, start, start.length + maxHeadLength, maxFirstParts);
  const splits = found.flatMap(other => {
    const shared = Math.min(most, countSharedLetters(word, other));
    const lengths = Array.from({ length: shared - start.length + 1 }, (_, at) => start.length + at);
    return lengths.map(length => ({ other, length, rest: other.slice(length) }));
  });
  const known = await vocabulary.known(session, [...new Set(splits.map(({ rest }) => rest))]);
  const parts = splits.filter(
    ({ other, length, rest }) => known.has(rest) || stems.isSame(word.slice(0, length), other),
  );
  const longest = Math.max(...parts.map(({ length }) => length));
  return parts.flatMap(({ other, length }) => (length === longest ? [other] : [])).slice(0, maxWords);
}

/** The longest known word that ends it, which says what it is, or begins it; else words with the same end or start. */
async function findParts(
  { vocabulary, stems }: Tools,
  session: Session,
  word: string,
): Promise<readonly string[]> {
  const points = [...word];
  const ends: string[] = [];
  const beginnings: string[] = [];
  for (let length = points.length - minRestLength; length >= minPartLength; length--) {
    ends.push(points.slice(-length).join(''));
    if (length >= Math.max(minStartLength, points.length / 2))
      beginnings.push(points.slice(0, length).join(''));
  }
  const listForms = (part: string) => [part, ...inflect(part, stems)].filter(form => !stems.isFiller(form));
  const known = await vocabulary.known(session, [...ends, ...beginnings].flatMap(listForms));
  for (const part of [...ends, ...beginnings]) {
    const found = listForms(part).filter(form => known.has(form));
    if (found.length > 0) return found;
  }
  const shared = Math.max(minSharedLength, Math.ceil(points.length / 2));
  if (shared >= points.length) return [];
  const ended = await vocabulary.ending(session, points.slice(-shared).join(''), maxWords);
  if (ended.length > 0) return ended;
  const start = points.slice(0, shared).join('');
  return vocabulary.beginning(session, start, points.length + shared, maxWords);
}

/**
 * The longest known word that the word begins with, together with each word that the rest may be a typo of: `airfrier`
 * finds an air fryer.
 */
async function findMisspeltEnd(
  vocabulary: Vocabulary,
  session: Session,
  points: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const beginnings = new Map<string, string>();
  for (let length = points.length - minPartLength; length >= minBeginningLength; length--)
    beginnings.set(points.slice(0, length).join(''), points.slice(length).join(''));
  const known = await vocabulary.known(session, [...beginnings.keys()]);
  for (const [beginning, rest] of beginnings) {
    const near = known.has(beginning) ? await vocabulary.near(session, rest) : [];
    const alike = near.filter(other => other[0] === rest[0]).slice(0, maxWords);
    if (alike.length > 0) return alike.map(other => [beginning, other]);
  }
  return [];
}
