/** Queries on the words that documents have: forms of a word, similar words, and words that it is made of. */
import { sql } from 'kysely';
import type { Database, Session } from '../database.ts';
import { prepareQuery } from '../prepared.ts';
import { getDialectWords } from './index.ts';
import { dropEachLetter, toBackwards } from './spelling.ts';
import { countTypos } from './text/distance.ts';
import { canBeMisspelt } from './text/words.ts';

/** In letters. Shorter words with one typo, or with two, are different words, except for swapped letters. */
const minLengthWithTypo = 4;
const minLengthWithTwoTypos = 6;
/** For longer words, two typos are searched for only by beginning and end: they have too many forms to look up. */
const maxLengthWithForms = 16;
const maxCandidates = 20;
/** Shorter words resemble the ends of others by chance: `marble` and `programmable`. */
const minMisspeltEndLength = 8;
/** The fewest letters of a compound before the word that it ends with. */
const minBeforeLength = 3;
/** How many letters must be right at the beginning or the end of a word with two typos. */
const sureLetters = [2, 3] as const;
/** Rows that are read for words with two typos: some milliseconds. */
const maxRows = 3000;
const lastCharacter = '\u{10ffff}';

export type Vocabulary = ReturnType<typeof createVocabulary>;

export function createVocabulary(database: Pick<Database, 'build' | 'dialect'>) {
  const { build } = database;
  const { spellings } = getDialectWords(database);
  const speltQuery = prepareQuery<{ spelt: string }, { word: string }>(build, ({ spelt }) =>
    spellings.spelt(spelt),
  );
  type Between = { low: string; high: string; length: number; limit: number };
  const betweenQuery = prepareQuery<Between, { word: string }>(
    build,
    ({ low, high, length, limit }) => sql`select word from search_spellings
        where spelling >= ${low} and spelling < ${high} and spelling = word and length(word) <= ${length}
        order by spelling limit ${limit}`,
  );
  const endingQuery = prepareQuery<Omit<Between, 'length'>, { word: string }>(
    build,
    ({ low, high, limit }) => sql`select word from search_spellings
        where spelling > ${low} and spelling < ${high} order by spelling limit ${limit}`,
  );

  const readWordsUnder = async (session: Session, spelt: readonly string[]): Promise<string[]> => {
    if (spelt.length === 0) return [];
    return (await session.all(speltQuery({ spelt: spelt.join(' ') }))).map(({ word }) => word);
  };
  async function readBeginning(session: Session, low: string, length: number, limit: number) {
    const rows = await session.all(betweenQuery({ low, high: low + lastCharacter, length, limit }));
    return rows.map(({ word }) => word);
  }
  async function readEnding(session: Session, end: string, limit: number) {
    const low = toBackwards(end);
    const rows = await session.all(endingQuery({ low, high: low + lastCharacter, limit }));
    return rows.map(({ word }) => word);
  }

  return {
    /** Those of the words that documents have, in the given order. */
    async known(session: Session, words: readonly string[]): Promise<Set<string>> {
      const wanted = [...new Set(words.filter(canBeMisspelt))];
      const found = new Set(await readWordsUnder(session, wanted));
      return new Set(wanted.filter(word => found.has(word)));
    },

    /** Words that begin with `low`, of at most `length` letters, in order. */
    beginning: readBeginning,
    /** Longer words that end with `end`. */
    ending: readEnding,

    /** Longer words that end with this one, with one typo that is neither in its first letter nor in its last two. */
    async endingNear(session: Session, word: string): Promise<string[]> {
      const points = [...word];
      if (!canBeMisspelt(word) || points.length < minMisspeltEndLength) return [];
      let ended: string[] = [];
      for (const sure of sureLetters) {
        ended = await readEnding(session, points.slice(-sure).join(''), maxRows);
        if (ended.length < maxRows) break;
      }
      return ended
        .filter(other => hasMisspeltEnd(points, [...other]))
        .sort()
        .slice(0, maxCandidates);
    },

    /**
     * Words with exactly one typo between them and this one, in order; none for words with digits. For words of three
     * letters, only swapped letters count: with any other typo, they are different words.
     */
    async near(session: Session, word: string): Promise<string[]> {
      if (!canBeMisspelt(word)) return [];
      const isShort = [...word].length < minLengthWithTypo;
      const found = await readWordsUnder(
        session,
        isShort ? swapLetters(word) : [word, ...dropEachLetter(word)],
      );
      return found
        .filter(other => countTypos(word, other, 1) === 1)
        .filter(other => !isShort || other.length === word.length)
        .sort()
        .slice(0, maxCandidates);
    },

    /** The same for two typos, neither of which is in the first letter. */
    async further(session: Session, word: string): Promise<string[]> {
      const points = [...word];
      if (!canBeMisspelt(word) || points.length < minLengthWithTwoTypos) return [];
      // If one typo is an extra letter or a swap, undoing it leaves a single typo, which is looked up.
      const forms = points.length > maxLengthWithForms ? [] : [...dropEachLetter(word), ...swapLetters(word)];
      const spelt = new Set(forms.flatMap(form => [form, ...dropEachLetter(form)]));
      const found = new Set(await readWordsUnder(session, [...spelt]));
      // If very many words share two letters, only some are read; fewer words share three.
      for (const sure of sureLetters) {
        const start = points.slice(0, sure).join('');
        const end = points.slice(-sure).join('');
        const alike = await readBeginning(session, start, points.length + 2, maxRows);
        const ended = await readEnding(session, end, maxRows);
        for (const other of [...alike, ...ended]) found.add(other);
        if (alike.length < maxRows && ended.length < maxRows) break;
      }
      return [...found]
        .filter(other => other[0] === word[0] && countTypos(word, other, 2) === 2)
        .sort()
        .slice(0, maxCandidates);
    },
  };
}

/** Whether two words differ only in their first letter: most often, these are different words. */
export const beginsOtherwise = (word: string, other: string): boolean =>
  word.slice(1) === other.slice(1) && word !== other;

/** Whether `other` ends with `word` with one typo, after at least three other letters. */
function hasMisspeltEnd(word: readonly string[], other: readonly string[]): boolean {
  const text = word.join('');
  return [-1, 0, 1].some(more => {
    const start = other.length - word.length - more;
    if (start < minBeforeLength || other[start] !== word[0]) return false;
    return countTypos(text, other.slice(start).join(''), 1) === 1;
  });
}

/** The word with two neighbouring letters swapped, for each pair of different letters. */
function swapLetters(word: string): string[] {
  const points = [...word];
  return points.flatMap((point, index) => {
    const next = points[index + 1];
    return next === undefined || next === point ? [] : [points.toSpliced(index, 2, next, point).join('')];
  });
}
