/**
 * Words of a query that only name an attribute or option: `size` of `jeans size 32`. Hardly any text has them, so hits
 * need not. They are such words only beside a value: `size charts` are charts of sizes.
 */
import { sql } from 'kysely';
import { decodeKey } from '../../../attribute-key.ts';
import { type BoundedMap, createBoundedMap } from '../../../bounded-map.ts';
import type { Database } from '../../../storage/database.ts';
import type { DocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import type { SearchReader } from '../../../storage/search/reading/index.ts';
import { hasDigit, isWholeNumber, splitLettersAndDigits } from '../../../storage/search/text/joined.ts';
import { splitRuns, splitWords } from '../../../storage/search/text/split.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import { titleMarks } from '../../../storage/search/text/words.ts';
import { splitIntoParts } from '../../../turns/slices.ts';
import type { Definitions } from '../../attributes/store.ts';
import { createUsedAttributes } from '../../attributes/used.ts';
import type { Piece } from './pieces.ts';
import { rareDocuments } from './typos.ts';
import { getShortName, isUnit, type Written } from './units.ts';
import { removeUmlauts } from './unknown.ts';

const maxWords = 3;
/** The most beginnings of values whose existence is cached, and the most words whose keys are. */
const maxCached = 5000;
/** The most attributes that one statement looks for a value of: a word may be the last one of hundreds of keys. */
const maxKeysAtOnce = 20;
/** A word that more titles have, as a number or a share, also says what things are. */
const maxTitleShare = 1000;
/** No character sorts after it. */
const lastCharacter = '\u{10ffff}';
/** It sorts after the digits, and no other character is between. */
const afterDigits = ':';

interface Named {
  readonly session: SearchSession;
  readonly query: string;
  readonly pieces: readonly Piece[];
  readonly types: readonly DocumentType[];
  readonly definitions: Definitions;
  /** Whether the query is being typed, so that its last word may be incomplete. */
  readonly isTyped: boolean;
}

interface Found {
  /** The indexes of the words that only name an attribute or option. */
  readonly places: ReadonlySet<number>;
  /** Measures beside them, as the number that attributes with this unit have. */
  readonly measures: readonly Written[];
}

export type NameFinder = (named: Named) => Promise<Found>;

/** The keys that some words name, in any form of them. */
type Names = (words: readonly string[]) => readonly string[];

/** What has been read, for as long as documents and definitions stay the same. */
interface Known {
  readonly seen: number | undefined;
  readonly definitions: Definitions;
  readonly names: Names;
  /** Whether values of some attributes begin with some texts. */
  readonly values: BoundedMap<string, boolean>;
}

export function createNameFinder(
  database: Pick<Database, 'build' | 'read'>,
  reader: Pick<SearchReader, 'frequency' | 'documents'>,
  stems: Pick<Stems, 'keysOf' | 'isFiller'>,
): NameFinder {
  const used = createUsedAttributes(database);
  let known: Known | undefined;

  async function readKnown({ seen }: SearchSession, definitions: Definitions): Promise<Known> {
    if (seen !== undefined && known?.seen === seen && known.definitions === definitions) return known;
    const names = indexNames(await used.readKeys(), definitions, stems);
    known = { seen, definitions, names, values: createBoundedMap(maxCached) };
    return known;
  }

  /** Whether a value of one of the attributes is in one of the ranges. */
  async function isValue(session: SearchSession, keys: readonly string[], ranges: readonly TextRange[]) {
    for (const some of splitIntoParts(keys, maxKeysAtOnce)) {
      const tests = ranges.map(
        ({ low, high }) => sql`exists (select 1 from product_attributes where key in (${sql.join(some)})
          and value >= ${low} and value < ${high})`,
      );
      const query = sql<{ found: number }>`select 1 as found where ${sql.join(tests, sql` or `)}`;
      if ((await session.first(query.compile(database.build))) !== undefined) return true;
    }
    return false;
  }

  /**
   * Whether the words from `first` to before `end` only name an attribute: they are seldom in titles, and in none of a
   * document with all the other words, since `frame oak` searches for a picture frame of oak.
   */
  async function isName({ session, types, pieces }: Named, first: number, end: number): Promise<boolean> {
    const words = pieces.slice(first, end);
    const choices = titleMarks.map(mark => words.map(({ word }) => ({ word, mark })));
    const documents = await reader.documents(session);
    const total = await reader.frequency(session, [choices], types);
    if (total > Math.max(rareDocuments, documents / maxTitleShare)) return false;
    const others = [...pieces.slice(0, first), ...pieces.slice(end)]
      .filter(({ word }) => !stems.isFiller(word))
      .map(({ word }) => [[{ word }]]);
    return total === 0 || (await reader.frequency(session, [choices, ...others], types)) === 0;
  }

  return async named => {
    const { session, query, pieces, definitions, isTyped } = named;
    const places = new Set<number>();
    const measures: Written[] = [];
    if (pieces.length < 2) return { places, measures };
    const { names, values } = await readKnown(session, definitions);
    const windows = [...generateWindows(pieces)].filter(({ words }) => names(words).length > 0);
    if (windows.length === 0) return { places, measures };
    const written = new Map(
      splitRuns(query).map(({ start, end, words }) => [words[0], query.slice(start, end)]),
    );
    for (const { first, end, words } of windows) {
      if (places.has(first)) continue;
      const keys = names(words);
      for (const at of listNeighbours(pieces, first, end)) {
        const value = pieces[at]?.word ?? '';
        // A function word only begins like a value: `colour for` is not the colour `Forest`.
        if (stems.isFiller(value)) continue;
        const isIncomplete = isTyped && at === pieces.length - 1;
        const ranges = listRanges(listSpellings(value, written.get(value)), isIncomplete);
        const beside = [...words, ...ranges.map(({ low }) => low)].join('\n');
        const isFound = values.get(beside) ?? (await isValue(session, keys, ranges));
        values.set(beside, isFound);
        if (!isFound) continue;
        if (!(await isName(named, first, end))) break;
        for (let place = first; place < end; place++) places.add(place);
        for (const key of keys) measures.push(...readMeasure(pieces, at, definitions.get(key)?.unit));
      }
    }
    // Each of the words may be a value of another.
    if (places.size === pieces.length) places.clear();
    return { places, measures };
  };
}

interface Window {
  readonly first: number;
  readonly end: number;
  readonly words: readonly string[];
}

/** Adjacent words, the most first. */
function* generateWindows(pieces: readonly Piece[]): Generator<Window> {
  for (let first = 0; first < pieces.length; first++) {
    for (let end = Math.min(first + maxWords, pieces.length); end > first; end--)
      yield { first, end, words: pieces.slice(first, end).map(({ word }) => word) };
  }
}

/**
 * The indexes of the words that may be values of a name: the next one, or the one before. At the end of a query, a name
 * after a word is what is searched for (`leather strap`), but not after a number.
 */
function listNeighbours(pieces: readonly Piece[], first: number, end: number): number[] {
  const isMeant = end === pieces.length && !hasDigit(pieces[first - 1]?.word ?? '');
  return [end, ...(isMeant ? [] : [first - 1])].filter(at => pieces[at] !== undefined);
}

/** Reads `500g` and `500 g` as the number that an attribute in grams has. */
function readMeasure(pieces: readonly Piece[], at: number, wanted: string | null | undefined): Written[] {
  if (wanted === null || wanted === undefined) return [];
  const word = pieces[at]?.word ?? '';
  const [number = '', unit = ''] = isWholeNumber(word)
    ? [word, pieces[at + 1]?.word]
    : splitLettersAndDigits(word);
  const [name = ''] = splitWords(wanted);
  const isSame = unit === name || (isUnit(unit) && getShortName(unit) === getShortName(name));
  const last = isWholeNumber(word) ? at + 1 : at;
  return isSame && isWholeNumber(number) ? [{ choice: [{ word: number }], first: at, last }] : [];
}

/**
 * Names of keys are their words, or the last one (`size` of `shoe_size`), and those of their labels; also all words of
 * a name in another script, which the key spells as code points.
 */
function indexNames(keys: readonly string[], definitions: Definitions, stems: Pick<Stems, 'keysOf'>): Names {
  const byForms = new Map<string, Set<string>>();
  const add = (words: readonly string[], key: string) => {
    for (const form of stems.keysOf(words)) byForms.getOrInsertComputed(form, () => new Set()).add(key);
  };
  for (const key of keys) {
    for (const name of [key, definitions.get(key)?.label ?? '']) {
      const words = splitWords(name);
      for (const some of [words, words.slice(-1)]) if (some.length > 0) add(some, key);
    }
    const foreign = splitWords(decodeKey(key) ?? '');
    if (foreign.length > 0) add(foreign, key);
  }
  const found = createBoundedMap<string, readonly string[]>(maxCached);
  const find = (words: readonly string[]) =>
    [words, words.map(removeUmlauts)].flatMap(stems.keysOf).flatMap(form => [...(byForms.get(form) ?? [])]);
  return words => {
    if (byForms.size === 0) return [];
    return found.getOrCreate(words.join(' '), () => find(words));
  };
}

/** German letters that people type as two: `gruen` for `Grün`. */
const typedAsTwo: Readonly<Record<string, string>> = { ae: 'ä', oe: 'ö', ue: 'ü', ss: 'ß' };

/** How a value that begins with a word of the query may be written. */
function listSpellings(word: string, written = word): string[] {
  const [number] = /^\p{N}+/u.exec(word) ?? [word];
  const small = written.toLowerCase();
  // A word may have the others as they are: Swiss keyboards have the `ü` of `Süßkirsche`, but no `ß`.
  const german = small.replace(/[aou]e|ss/g, two => typedAsTwo[two] ?? two);
  const spellings = [number, word, small, german].flatMap(text => [
    text,
    text.toUpperCase(),
    text.charAt(0).toUpperCase() + text.slice(1),
  ]);
  return [...new Set(spellings)];
}

/** Texts from `low` to before `high`. */
interface TextRange {
  readonly low: string;
  readonly high: string;
}

/**
 * The texts that begin with one of some. A complete number ends there: `3` is no beginning of `32`.
 * @param isIncomplete whether more digits may follow
 */
const listRanges = (texts: readonly string[], isIncomplete: boolean): TextRange[] =>
  texts.flatMap(text => {
    if (isIncomplete || !/[0-9]$/.test(text)) return [{ low: text, high: text + lastCharacter }];
    return [
      { low: text, high: `${text}0` },
      { low: text + afterDigits, high: text + lastCharacter },
    ];
  });
