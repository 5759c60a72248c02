/**
 * The names of products in memory, for suggestions while a query is typed: nearly every such request has a new prefix,
 * and an index on disk first collects all documents with that prefix. Names are read in slices when first needed, and
 * then follow the changes that storage/changes/ reads, so that they are as current as the last check. Their size is
 * bounded; a catalog with more names is searched without them (docs/decisions/0036).
 */
import { type BoundedMap, createBoundedMap } from '../../../bounded-map.ts';
import type { Change } from '../../../storage/changes/change.ts';
import { createLoads } from '../../../storage/changes/loads.ts';
import type { Database } from '../../../storage/database.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import { takeTurn } from '../../../turns/index.ts';
import { readPagesAhead } from '../../../turns/slices.ts';
import { waitAtMost } from '../../../turns/wait.ts';
import {
  createNameArraysBuilder,
  dropPlace,
  gone,
  listEntries,
  type NameArrays,
  type Named,
} from './arrays.ts';
import { findCommonestWords, findCompletions, findNames, findSpelling, type NameHit } from './find.ts';
import { createNameSource, type NameRow } from './source.ts';
import { type Layer, type NameGroup, readRanges } from './tiers.ts';

/** The most bytes that names and their builder may take. */
const maxBytes = 256 * 1024 * 1024;
/** With larger ids, the array by id alone would be too large. */
const maxId = 16_000_000;
/** Products whose names have changed, or that are no longer found: after more of these, all names are read again. */
const maxLate = 500;
/** Products that may change between two searches by name; after more changes all names are dropped. */
const maxWaiting = 2000;
const rowsAtOnce = 2000;
/** Milliseconds that a search waits for names that are being read: the names of most shops take less. */
const maxWaitMs = 500;
/** Words of queries whose matching words are cached. */
const keptRanges = 5000;

interface ProductNames {
  /** Whether there are too many names for memory, so that waiting for them is useless. */
  areTooMany(): boolean;
  /** Brings names to the state of the last check. @returns whether they are in memory; if not, starts to read them */
  refresh(): Promise<boolean>;
  /**
   * The best products with all of these words in name or brand, the last word as a prefix, as of the last check.
   * If names are not in memory, returns undefined and starts to read them.
   */
  find(words: readonly string[], limit: number): Promise<NameHit[] | undefined>;
  /**
   * Completions of the last of these words, commonest first, from names that have all the words before it;
   * undefined while names are not in memory.
   * @param isJoined whether they must come immediately after the word before: `akku-b` is no `akku-bosch`
   */
  completions(
    words: readonly string[],
    most: number,
    isJoined?: boolean,
  ): Promise<readonly string[] | undefined>;
  /**
   * The word with the accents that names most often give it, as of the last refresh; unchanged if none does or names are
   * not in memory.
   */
  spell(word: string): string;
}

/** Names as of one check: arrays that are read as one, and the cached ranges of query words. */
interface View {
  readonly all: readonly NameArrays[];
  readonly ranges: BoundedMap<string, readonly NameGroup[]>;
}

const createView = (...all: readonly NameArrays[]): View => ({ all, ranges: createBoundedMap(keptRanges) });

export function createProductNames(
  database: Pick<Database, 'build' | 'changes' | 'snapshot'>,
  stems: Pick<Stems, 'beginning' | 'isSame'>,
): ProductNames {
  const { changes, snapshot } = database;
  const { collection, rows, namedRow, namedIn } = createNameSource(database);
  let main: NameArrays | undefined;
  /** Products whose names differ from those in `main`. */
  const late = new Map<number, Named>();
  /** `main` and `late` as of the last search by name. */
  let view: View | undefined;
  /** The version of the names, and the one that `view` shows. */
  let [version, shown] = [0, 0];
  /** Changes, by id, that are not yet in `main` or `late`. */
  const waiting = new Map<number, string | null>();
  let isRefused = false;
  let reading: Promise<unknown> = Promise.resolve();
  /** The time until which searches wait for names that are being read. */
  let awaitedUntil = 0;

  function replace(arrays: NameArrays | undefined): void {
    main = arrays;
    late.clear();
    view = arrays && createView(arrays);
    shown = version += 1;
    waiting.clear();
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
      if (waiting.size > maxWaiting) replace(undefined);
    },
  });

  /** Reads all names; undefined if there are too many. */
  async function readAll(isGivenUp: () => boolean): Promise<NameArrays | undefined> {
    const made = createNameArraysBuilder();
    const pages = readPagesAhead<NameRow>(last => {
      const query = rows({ last: last?.id ?? 0, limit: rowsAtOnce });
      return snapshot(session => session.all(query), { background: 'part' });
    });
    for await (const read of pages) {
      if (isGivenUp()) break;
      for (const row of read) {
        made.add(namedRow(row));
        await takeTurn();
      }
      isRefused = made.bytes() > maxBytes || (read.at(-1)?.id ?? 0) > maxId;
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
    // A search that needs the names after a failure starts another load.
    reading = load.catch(() => undefined);
    awaitedUntil = performance.now() + maxWaitMs;
  }

  /** Waits for names that will soon be read, so that suggestions are the same before and after. */
  async function settle(): Promise<void> {
    const left = awaitedUntil - performance.now();
    if (left > 0) await waitAtMost(reading, left);
  }

  function change(arrays: NameArrays, id: number, named: Named | undefined): void {
    const { placesOfIds, qualities } = arrays;
    const place = (placesOfIds[id] ?? 0) - 1;
    const isThere = place >= 0 && qualities[place] !== gone;
    if (isThere && named !== undefined && hasWords(arrays, place, named)) {
      qualities[place] = named.quality;
      return;
    }
    if (isThere) dropPlace(arrays, place);
    const wasLate = late.delete(id);
    if (named !== undefined) late.set(id, named);
    if (isThere || wasLate || named !== undefined) version += 1;
  }

  /** Applies the changes that wait; undefined while names are not in memory. */
  async function refreshView(): Promise<View | undefined> {
    if (main === undefined) {
      requestLoad();
      await settle();
    }
    for (const [id, document] of waiting) {
      if (main === undefined) break;
      waiting.delete(id);
      change(main, id, document === null ? undefined : namedIn(id, document));
      await takeTurn();
    }
    if (main === undefined || Math.max(late.size, main.lost.products) > maxLate) requestLoad();
    if (main === undefined || version === shown) return main && view;
    const first = main;
    const begun = version;
    const made = createNameArraysBuilder();
    for (const named of [...late.values()].sort((one, other) => one.id - other.id)) made.add(named);
    const next = late.size === 0 ? createView(first) : createView(first, await made.make());
    if (begun === version) [view, shown] = [next, begun];
    return next;
  }

  async function readLayers(words: readonly string[]): Promise<readonly Layer[] | undefined> {
    const current = await refreshView();
    if (current === undefined) return undefined;
    const { all, ranges } = current;
    const groups = words.map((word, index) => {
      const isLast = index === words.length - 1;
      return ranges.getOrCreate(isLast ? `${word}*` : word, () => readRanges(all, word, isLast, stems));
    });
    return all.map((arrays, layer) => ({ arrays, groups: groups.map(group => group[layer] ?? []) }));
  }

  return {
    areTooMany: () => isRefused,
    refresh: async () => (await refreshView()) !== undefined,
    spell: word => (view && findSpelling(view.all, word)) ?? word,

    async find(words, limit) {
      const layers = await readLayers(words);
      return layers && findNames(layers, limit);
    },

    async completions(words, most, isJoined = false) {
      const last = words.at(-1) ?? '';
      if (words.length === 1) {
        const current = await refreshView();
        return current && findCommonestWords(current.all, last, most);
      }
      const layers = await readLayers(words);
      return layers && findCompletions(layers, last, most, isJoined ? words.at(-2) : undefined);
    },
  };
}

function hasWords({ words, offsets, sequence }: NameArrays, place: number, named: Named): boolean {
  const start = offsets[place] ?? 0;
  const own = listEntries(named);
  return (
    (offsets[place + 1] ?? 0) - start === own.length &&
    own.every((word, index) => words[sequence[start + index] ?? 0] === word)
  );
}
