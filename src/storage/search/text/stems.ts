/** Which words are forms of the same word: by Snowball stemmers for a catalog's languages, and a few exceptions. */

import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { toWordMap } from '../../../arrays/words.ts';
import { createBoundedMap } from '../../../bounded-map.ts';
import { getMemberNames } from '../../../json-object.ts';
import { getFillers } from './fillers.ts';
import { findOtherSpelling, toAmerican } from './spellings.ts';

const stemmers = {
  da: danish,
  de: german,
  en: english,
  es: spanish,
  fi: finnish,
  fr: french,
  it: italian,
  nl: dutch,
  no: norwegian,
  pt: portuguese,
  sv: swedish,
} as const;

export type Language = keyof typeof stemmers;
export const languages = getMemberNames(stemmers);

/** English plurals that follow no rule. */
const irregular = toWordMap(
  `men:man women:woman children:child feet:foot teeth:tooth mice:mouse geese:goose people:person knives:knife
  shelves:shelf bookshelves:bookshelf scarves:scarf leaves:leaf halves:half loaves:loaf wolves:wolf wives:wife`,
);
const forms: ReadonlyMap<string, string[]> = Map.groupBy(
  irregular.keys(),
  plural => irregular.get(plural) ?? '',
);

const parseEnds = (text: string): readonly (readonly [string, string])[] =>
  text.split(/\s+/).map(pair => {
    const [singular = '', plural = ''] = pair.split(':');
    return [singular, plural];
  });

/**
 * The ends of singulars and plurals, without accents, that the stemmers take for different words: `luz` and `luces`,
 * `jeu` and `jeux`, `laars` and `laarzen`, `colchão` and `colchões`.
 */
const plurals: Readonly<Partial<Record<Language, ReturnType<typeof parseEnds>>>> = {
  es: parseEnds('z:ces'),
  fr: parseEnds('u:ux ail:aux'),
  da: parseEnds('el:ler'),
  it: parseEnds('go:ghi'),
  nl: parseEnds(
    `s:zen f:ven s:sen aas:azen ees:ezen oos:ozen aaf:aven eef:even oof:oven
    b:bben f:ffen g:ggen l:llen m:mmen n:nnen p:ppen r:rren s:ssen`,
  ),
  no: parseEnds('el:ler'),
  pt: parseEnds('ao:oes ao:aes ao:aos al:ais el:eis il:is il:eis ol:ois ul:uis m:ns'),
  sv: parseEnds('el:lar el:ler'),
};

/** Languages, except German, that write compounds as one word, with endings that forms of their last word have. */
const compounding: Readonly<Partial<Record<Language, readonly string[]>>> = {
  da: ['e', 'er'],
  fi: [],
  nl: ['en'],
  no: ['e', 'er'],
  sv: ['a', 'ar', 'or', 'er'],
};

export type Stems = ReturnType<typeof createStems>;

/** Words whose stems are cached: computing one costs as much as a lookup. */
const knownWords = 20_000;
/** Shorter words have no forms. */
const minLength = 3;

export function createStems(chosen: readonly Language[]) {
  const active = chosen.map(language => ({ language, stem: stemmers[language] }));
  const stemWord = (stem: (word: string) => string, language: Language, word: string): string => {
    // The stemmer keeps the n of `Nudeln`.
    if (language === 'de') return stem(word.endsWith('eln') ? word.slice(0, -1) : word);
    if (language !== 'en') return stem(word);
    const stemmed = stem(toAmerican(irregular.get(word) ?? word));
    return irregular.get(stemmed) ?? stemmed;
  };
  const fillers = getFillers(chosen);
  const known = createBoundedMap<string, readonly string[]>(knownWords);
  const makeStems = (word: string): readonly string[] =>
    active.map(({ language, stem }) => stemWord(stem, language, word));
  const getStems = (word: string): readonly string[] => known.getOrCreate(word, makeStems);
  return {
    /** Whether a chosen language writes any words together as one; German is a default, and says nothing of a shop. */
    isCompounding: chosen.some(language => compounding[language] !== undefined),
    /** Endings of nouns that another form may have in place of its own. */
    endings: [...new Set(chosen.flatMap(language => compounding[language] ?? []))],
    /** The beginning that all forms of the word share, except those of `others`. */
    beginning(word: string): string {
      const lengths = active.map(({ stem }) => countSharedLetters(word, stem(word)));
      const least = Math.min(word.length, ...lengths);
      // The last letter of a stem may stand for another: battery, batteries.
      return word.slice(0, Math.max(Math.min(word.length, minLength), least - 1));
    },
    /** Forms of the word with another beginning. */
    others(word: string): readonly string[] {
      const all = chosen
        .flatMap(language => listOtherEnds(word, plurals[language] ?? []))
        .filter(form => !fillers.has(form));
      const others = [...all, ...listAbbreviations(word)];
      return chosen.includes('en')
        ? [...listIrregular(word), ...listOtherSpellings(word), ...others]
        : others;
    },
    isSame(one: string, other: string): boolean {
      if (one === other) return true;
      if (one.length < minLength || other.length < minLength) return false;
      const mine = getStems(one);
      return getStems(other).some((stem, index) => stem === mine[index]);
    },
    /** Keys of a list of words, one for each language: lists that share a key are forms of each other. */
    keysOf(words: readonly string[]): readonly string[] {
      const stems = words.map(word => (word.length < minLength ? undefined : getStems(word)));
      const keys = active.map((_, index) =>
        stems.map((own, place) => own?.[index] ?? words[place]).join(' '),
      );
      return [...new Set(keys.map((key, index) => `${active[index]?.language} ${key}`))];
    },
    /** Whether the word is a function word, which does not describe what is searched for. */
    isFiller: (word: string) => fillers.has(word),
  };
}

/** Two consonants, and an ending of their plural. */
const abbreviation = /^([b-df-hj-np-tv-xz][b-df-hj-np-rtv-xz])(s?)$/;

/** The plural of an abbreviation, or its singular: `tv` and `tvs`. */
function listAbbreviations(word: string): string[] {
  const [, singular, plural] = abbreviation.exec(word) ?? [];
  if (singular === undefined) return [];
  return [plural === '' ? `${singular}s` : singular];
}

/** English forms of the word that follow no rule. */
function listIrregular(word: string): string[] {
  const singular = irregular.get(word) ?? irregular.get(english(word)) ?? word;
  const others = forms.get(singular) ?? forms.get(english(singular)) ?? [];
  if (others.length === 0) return [];
  const all = [singular, ...others, `${singular}s`, ...others.map(plural => `${plural}s`)];
  return all.filter(form => form !== word);
}

/** The word with another end, in either direction. Shorter words are no nouns: the Dutch `of` is no `oven`. */
function listOtherEnds(word: string, pairs: ReturnType<typeof parseEnds>): string[] {
  const replaceEnd = (end: string, other: string) =>
    word.endsWith(end) ? [word.slice(0, word.length - end.length) + other] : [];
  return pairs
    .flatMap(([singular, plural]) => [...replaceEnd(singular, plural), ...replaceEnd(plural, singular)])
    .filter(form => form.length >= minLength);
}

/** The word in the other spelling, singular and plural. */
function listOtherSpellings(word: string): string[] {
  const other = findOtherSpelling(word);
  if (other === undefined) return [];
  return [other, other.endsWith('s') ? other.slice(0, -1) : `${other}s`];
}

export function countSharedLetters(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
