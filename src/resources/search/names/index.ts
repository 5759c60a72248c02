/**
 * The names of products in memory, for suggestions while a query is typed: nearly every such request has
 * another beginning, and an index on disk gathers all documents of a beginning first. They are read in slices when they are
 * first needed, and then follow the changes that storage/changes/ reads, so that they are as new as the last check. They are
 * bounded in bytes; a catalog with more names is searched without them (docs/decisions/0036).
 */

import { createBoundedMap } from '../../../bounded-map.ts';
import type { Change, Collection } from '../../../storage/changes/change.ts';
import { createLoads } from '../../../storage/changes/loads.ts';
import type { Database } from '../../../storage/database.ts';
import type { Arguments, prepareQuery } from '../../../storage/prepared.ts';
import { hasDigit } from '../../../storage/search/text/joined.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import { takeTurn } from '../../../turns/index.ts';
import { readPagesAhead } from '../../../turns/slices.ts';
import {
  createNameArraysBuilder,
  dropPlace,
  findWordPlace,
  findWordsBeginningWith,
  gone,
  type NameArrays,
  type Named,
  type WordRange,
} from './arrays.ts';
import { findCommonestWords, findCompletions, findNames, type NameHit } from './find.ts';
import { factors, type Layer } from './tiers.ts';

/** Bytes of names at most, and of what makes them. */
const mostBytes = 256 * 1024 * 1024;
/** With larger ids products would take more than that by themselves. */
const largestId = 16_000_000;
/** Products that are named otherwise than when all were read, or are found no more: with more all are read again. */
const mostLate = 500;
/** Products that may change between two searches by name; after more changes all names are dropped. */
const mostWaiting = 2000;
const rowsAtOnce = 2000;
/** Milliseconds that a search waits for names which have begun to be read: those of most shops are read in less. */
const longestWait = 500;
/** Words whose spelling is kept. */
const mostSpellings = 50_000;
const formsLookedAt = 300;
const mostForms = 8;

export interface NameSource<Row extends { readonly id: number }> {
  readonly collection: Collection;
  /** The rows of products that are found by their names, after an id, in the order of ids. */
  readonly rows: ReturnType<typeof prepareQuery<{ last: number; limit: number } & Arguments, Row>>;
  namedRow(row: Row): Named;
  /** The same from what an event says of a product; undefined where it is not found by its name. */
  namedIn(id: number, document: string): Named | undefined;
}

export interface ProductNames {
  /** Whether there are too many names for memory: they will not be in it in a moment. */
  areTooMany(): boolean;
  /**
   * The best products with all of these words in name or brand, the last as a beginning, as they were at the last check;
   * undefined while names are not in memory, which are read then.
   */
  find(words: readonly string[], limit: number): Promise<NameHit[] | undefined>;
  /**
   * What the last of these words may become: words of names with all that stand before it, those that most have first;
   * undefined while names are not in memory.
   */
  completions(words: readonly string[], most: number): Promise<readonly string[] | undefined>;
  /** A word with the accents that a name writes it with; as it is where no name that was read has it otherwise. */
  spell(word: string): string;
}

export function createProductNames<Row extends { readonly id: number }>(
  { changes, snapshot }: Pick<Database, 'changes' | 'snapshot'>,
  stems: Pick<Stems, 'beginning' | 'isSame'>,
  { collection, rows, namedRow, namedIn }: NameSource<Row>,
): ProductNames {
  let main: NameArrays | undefined;
  /** What is named otherwise than in `main`. */
  const late = new Map<number, Named>();
  let lateArrays: NameArrays | undefined;
  let lateVersion = 0;
  /** What has changed and is not in the above yet. */
  const waiting = new Map<number, string | null>();
  /** By words. Those of names that are gone stay: they are still spelled so. */
  const spellings = createBoundedMap<string, string>(mostSpellings);
  let isRefused = false;
  let reading: Promise<unknown> = Promise.resolve();
  /** Until when the names that are being read are waited for. */
  let awaitedUntil = 0;

  function replace(arrays: NameArrays | undefined): void {
    main = arrays;
    late.clear();
    lateArrays = undefined;
    lateVersion += 1;
    waiting.clear();
  }
  function noteSpellings(named: Named | undefined): Named | undefined {
    for (const [word, spelling] of named?.spellings ?? []) spellings.set(word, spelling);
    return named;
  }
  const addWaiting = (committed: readonly Change[]): void => {
    for (const { id, document } of committed) waiting.set(id, document);
  };

  const loads = createLoads(changes, collection, {
    clear() {
      replace(undefined);
      isRefused = false;
    },
    apply(committed) {
      if (main !== undefined) addWaiting(committed);
      if (waiting.size > mostWaiting) replace(undefined);
    },
  });

  /** Undefined where they are too many. */
  async function readAll(isGivenUp: () => boolean): Promise<NameArrays | undefined> {
    const made = createNameArraysBuilder();
    const pages = readPagesAhead<Row>(last => {
      const query = rows({ last: last?.id ?? 0, limit: rowsAtOnce });
      return snapshot(session => session.all(query), { background: true });
    });
    for await (const read of pages) {
      if (isGivenUp()) break;
      for (const row of read) {
        const named = namedRow(row);
        noteSpellings(named);
        made.add(named);
        await takeTurn();
      }
      isRefused = made.bytes() > mostBytes || (read.at(-1)?.id ?? 0) > largestId;
      if (isRefused) return undefined;
    }
    return made.make();
  }

  function requestLoad(): void {
    if (isRefused || loads.has(collection.name) || loads.isResting()) return;
    const load = loads.load(collection.name, readAll, (arrays, replayed) => {
      replace(arrays);
      if (arrays !== undefined) addWaiting(replayed);
    });
    // The names are needed again.
    reading = load.catch(() => undefined);
    awaitedUntil = performance.now() + longestWait;
  }

  /** What is suggested should be the same before and after: where they are soon read, they are waited for. */
  async function settle(): Promise<void> {
    const left = awaitedUntil - performance.now();
    if (left <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, left);
    await Promise.race([reading, promise]);
    clearTimeout(timer);
  }

  function change(arrays: NameArrays, id: number, named: Named | undefined): void {
    const { placesOfIds, qualities } = arrays;
    const place = (placesOfIds[id] ?? 0) - 1;
    if (place >= 0 && qualities[place] !== gone) {
      const isSame = named !== undefined && hasWords(arrays, place, named);
      if (isSame) {
        qualities[place] = named.quality;
        return;
      }
      dropPlace(arrays, place);
    }
    if (!late.delete(id) && named === undefined) return;
    if (named !== undefined) late.set(id, named);
    lateArrays = undefined;
    lateVersion += 1;
  }

  /** Takes over what has changed; undefined while names are not in memory. */
  async function refreshLayers(): Promise<readonly NameArrays[] | undefined> {
    if (main === undefined) {
      requestLoad();
      await settle();
    }
    for (const [id, document] of waiting) {
      if (main === undefined) break;
      waiting.delete(id);
      change(main, id, document === null ? undefined : noteSpellings(namedIn(id, document)));
      await takeTurn();
    }
    if (main === undefined || Math.max(late.size, main.lost.products) > mostLate) requestLoad();
    if (main === undefined || late.size === 0) return main && [main];
    const first = main;
    if (lateArrays === undefined) {
      const made = createNameArraysBuilder();
      for (const named of [...late.values()].sort((one, other) => one.id - other.id)) made.add(named);
      const begun = lateVersion;
      const arrays = await made.make();
      if (begun === lateVersion) lateArrays = arrays;
      return [first, arrays];
    }
    return [first, lateArrays];
  }

  function getRanges(arrays: NameArrays, word: string, isLast: boolean): readonly WordRange[] {
    const key = isLast ? `${word}*` : word;
    return arrays.ranges.getOrCreate(key, () => readRanges(arrays, word, isLast, stems));
  }

  async function readLayers(words: readonly string[]): Promise<readonly Layer[] | undefined> {
    const layers = await refreshLayers();
    return layers?.map(arrays => ({
      arrays,
      groups: words.map((word, index) => getRanges(arrays, word, index === words.length - 1)),
    }));
  }

  return {
    areTooMany: () => isRefused,
    spell: word => spellings.get(word) ?? word,

    async find(words, limit) {
      const layers = await readLayers(words);
      return layers && findNames(layers, limit);
    },

    async completions(words, most) {
      const last = words.at(-1) ?? '';
      if (words.length === 1) {
        const layers = await refreshLayers();
        return layers && findCommonestWords(layers, last, most);
      }
      const layers = await readLayers(words);
      return layers && findCompletions(layers, last, most);
    },
  };
}

/** The places of words that are meant by one: itself, its forms, and where it is the last what begins with it. */
function readRanges(
  { words }: NameArrays,
  word: string,
  isLast: boolean,
  stems: Pick<Stems, 'beginning' | 'isSame'>,
): WordRange[] {
  const ranges: WordRange[] = [];
  const exact = findWordPlace(words, word);
  if (words[exact] === word) ranges.push({ low: exact, high: exact + 1, factor: factors.exact });
  if (!hasDigit(word)) {
    const beginning = stems.beginning(word);
    const low = findWordPlace(words, beginning);
    for (let at = low; at < low + formsLookedAt && ranges.length <= mostForms; at++) {
      const other = words[at];
      if (other?.startsWith(beginning) !== true) break;
      if (other !== word && stems.isSame(word, other))
        ranges.push({ low: at, high: at + 1, factor: factors.form });
    }
  }
  if (isLast) ranges.push({ ...findWordsBeginningWith(words, word), factor: factors.beginning });
  return ranges;
}

function hasWords({ words, offsets, sequence }: NameArrays, place: number, { name, brand }: Named): boolean {
  const start = offsets[place] ?? 0;
  const own = [...name, ...brand];
  return (
    (offsets[place + 1] ?? 0) - start === own.length &&
    own.every((word, index) => words[sequence[start + index] ?? 0] === word)
  );
}
