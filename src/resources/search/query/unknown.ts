/**
 * A word that no document has, and nothing that is near it: what else it may be written as, what it is made of, and which
 * words of documents it ends or begins like. So a shopper who searches for `olivenöl` finds olive oil.
 */
import type { Session } from '../../../storage/database.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import type { Vocabulary } from '../../../storage/search/vocabulary.ts';
import { factors } from './word.ts';

/** Letters of a word that stands for the whole, and of what is left of it. */
const shortestPart = 4;
const shortestRest = 2;
/** Letters of a word that stands for the whole at its beginning: no less than half of them. */
const shortestStart = 5;
/** Of a word that ends others, if it does not do so by chance. */
const shortestHead = 4;
/** Of a word that stands before another, which has a typo. */
const shortestBeginning = 3;
/** Words that are this one's end, of at least so many letters: `zange` finds a `wasserpumpenzange`. */
const shortestEnding = 3;
/** Letters that words share at their end or beginning, at least, and no less than half of them. */
const shortestShared = 5;
/** Letters of what it stands before in a German compound: `erdbeeren` finds an `erdbeerkonfiture`. */
const longestHead = 20;
const mostWords = 12;
/** What a word ends with in one form and not in another. */
const inflections = ['s', 'es', 'n', 'en', 'e'] as const;

/** The word with an ending more or less: forms of it that can be requested at once. */
export function inflect(word: string, stems: Stems): string[] {
  const others = inflections.flatMap(ending => [
    word + ending,
    ...(word.endsWith(ending) && word.length - ending.length >= shortestEnding
      ? [word.slice(0, -ending.length)]
      : []),
  ]);
  return others.filter(other => stems.isSame(word, other));
}

/** What people write who have no umlauts, as documents that have them are indexed: `handtuecher`, `handtucher`. */
export const removeUmlauts = (word: string): string => word.replace(/(?<=[aou])e/g, '');

/** What a word without umlauts may be that documents have with them. */
export async function findUmlauts({ vocabulary, stems }: Tools, session: Session, word: string) {
  const plain = removeUmlauts(word);
  if (plain === word) return [];
  return [...(await vocabulary.known(session, [plain, ...inflect(plain, stems)]))].sort();
}

export interface Likeness {
  /** Each one or several words, which a document has to have together. */
  readonly choices: readonly (readonly string[])[];
  readonly factor: number;
  /** Whether they have only a part in common with the word. */
  readonly isGuess: boolean;
}

interface Tools {
  readonly vocabulary: Vocabulary;
  readonly stems: Stems;
}

/**
 * @param isGerman whether the catalog is: in English `organ` has little to do with an `organizer`
 * @returns the best there is of all this; no words where there is nothing
 */
export async function findSimilarWords(
  { vocabulary, stems }: Tools,
  session: Session,
  word: string,
  isGerman: () => Promise<boolean>,
): Promise<Likeness> {
  const toLikeness = (words: readonly string[], isGuess = false) => ({
    ...{ choices: words.map(one => [one]), factor: factors.alike, isGuess },
  });
  if (word.length >= shortestEnding) {
    for (const form of [word, ...inflect(word, stems)]) {
      const compounds = await vocabulary.ending(session, form, mostWords);
      if (compounds.length > 0) return toLikeness(compounds, form.length < shortestHead);
    }
  }
  const starts = [word, ...inflect(word, stems)].filter(({ length }) => length >= shortestStart);
  if (starts.length > 0 && (await isGerman())) {
    for (const form of starts.sort((one, other) => one.length - other.length)) {
      const compounds = await vocabulary.beginning(session, form, form.length + longestHead, mostWords);
      if (compounds.length > 0) return toLikeness(compounds);
    }
  }
  for (const form of inflect(word, stems).filter(({ length }) => length < word.length)) {
    const near = await vocabulary.near(session, form);
    if (near.length > 0) return toLikeness(near.slice(0, mostWords));
  }
  for (const form of [word, ...inflect(word, stems).filter(({ length }) => length < word.length)]) {
    const compounds = await vocabulary.endingNear(session, form);
    if (compounds.length > 0) return toLikeness(compounds);
  }
  const misspelt = await findMisspeltEnd(vocabulary, session, [...word]);
  if (misspelt.length > 0) return { choices: misspelt, factor: factors.alike, isGuess: false };
  return toLikeness(await findParts({ vocabulary, stems }, session, word), true);
}

/** The longest word that it ends with, which says what it is, or begins with; else words that end or begin alike. */
async function findParts(
  { vocabulary, stems }: Tools,
  session: Session,
  word: string,
): Promise<readonly string[]> {
  const points = [...word];
  const ends: string[] = [];
  const beginnings: string[] = [];
  for (let length = points.length - shortestRest; length >= shortestPart; length--) {
    ends.push(points.slice(-length).join(''));
    if (length >= Math.max(shortestStart, points.length / 2))
      beginnings.push(points.slice(0, length).join(''));
  }
  const listForms = (part: string) => [part, ...inflect(part, stems)].filter(form => !stems.isFiller(form));
  const known = await vocabulary.known(session, [...ends, ...beginnings].flatMap(listForms));
  for (const part of [...ends, ...beginnings]) {
    const found = listForms(part).filter(form => known.has(form));
    if (found.length > 0) return found;
  }
  const shared = Math.max(shortestShared, Math.ceil(points.length / 2));
  if (shared >= points.length) return [];
  const ended = await vocabulary.ending(session, points.slice(-shared).join(''), mostWords);
  if (ended.length > 0) return ended;
  const start = points.slice(0, shared).join('');
  return vocabulary.beginning(session, start, points.length + shared, mostWords);
}

/**
 * What the rest of the word may be a typo of, behind the longest word that it begins with, and with that word: `airfrier`
 * finds an air fryer.
 */
async function findMisspeltEnd(
  vocabulary: Vocabulary,
  session: Session,
  points: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const beginnings = new Map<string, string>();
  for (let length = points.length - shortestPart; length >= shortestBeginning; length--)
    beginnings.set(points.slice(0, length).join(''), points.slice(length).join(''));
  const known = await vocabulary.known(session, [...beginnings.keys()]);
  for (const [beginning, rest] of beginnings) {
    const near = known.has(beginning) ? await vocabulary.near(session, rest) : [];
    const alike = near.filter(other => other[0] === rest[0]).slice(0, mostWords);
    if (alike.length > 0) return alike.map(other => [beginning, other]);
  }
  return [];
}
