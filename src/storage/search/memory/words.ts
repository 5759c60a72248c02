/**
 * The sets of products that have a word, in memory. To find the few documents that have two common words, an index on
 * disk reads a hundred thousand of each; bitmaps are read at once. A common word is read in the background when it is
 * first searched for, and then follows the changes that storage/changes/ reads, so that it is as current as the last
 * check. The size of all sets is bounded: the least recently used are dropped (docs/decisions/0036).
 */
import { LRUCache } from 'lru-cache';
import { takeTurn } from '../../../turns/index.ts';
import type { Change, Changes, Collection } from '../../changes/change.ts';
import { createLoads } from '../../changes/loads.ts';
import type { Database } from '../../database.ts';
import { rewordedCollection, searchCollection } from '../index.ts';
import {
  contains,
  copySet,
  countSetBytes,
  type DocumentSet,
  getIdLimit,
  putDocument,
  toDocumentSet,
} from './set.ts';

/** The most bytes of all sets. */
const setsSize = 64 * 1024 * 1024;
/** The most sets: each change of a product is applied to all of them. */
const maxSets = 2000;
/** The most changes that wait to be applied: after more, all sets are dropped, and one being read is not kept. */
const maxChanged = 2000;
/** The most words that wait to be read: others must be requested again. */
const maxWaiting = 200;

/** A word in its indexed form, with its mark. */
type IndexedWord = string;

const noWords: ReadonlySet<IndexedWord> = new Set();

const reworded: Collection = { name: rewordedCollection };
/** Documents that are not products, and codes of variants. */
const others: Collection = { name: searchCollection };

export type WordSets = ReturnType<typeof createWordSets>;

export interface WordSource {
  readonly collection: Collection;
  /** The words of a product, from the document of its event; none if the index has it under another type. */
  wordsOf(id: number, document: string): Promise<readonly IndexedWord[]>;
  /** The ids of the products with a word, ascending. @param isGivenUp whether the reading has been cancelled */
  read(word: IndexedWord, isGivenUp: () => boolean): Promise<Uint32Array>;
}

/** @returns a function that returns how many checks have found changes of any of the collections */
function createFindCounter(changes: Changes, collections: readonly Collection[]) {
  let count = 0;
  for (const collection of collections)
    changes.follow(collection, () => {
      count += 1;
    });
  return () => count;
}

export function createWordSets(
  { changes }: Pick<Database, 'changes'>,
  { collection, wordsOf, read }: WordSource,
) {
  const sets = new LRUCache<IndexedWord, DocumentSet>({
    max: maxSets,
    maxSize: setsSize,
    sizeCalculation: countSetBytes,
  });
  /** No set has a product with a larger id. */
  let largest = 0;
  /** Sets that a search may be reading: it reads them some at a time, and must not see changes in between. */
  const lent = new WeakSet<DocumentSet>();
  /** Words whose sets lack changes: they are not used until the changes are applied. */
  const unsettled = new Set<IndexedWord>();
  /** The current documents of changed products; null for deleted ones. */
  const changed = new Map<number, string | null>();
  const waiting = new Set<IndexedWord>();
  let isReading = false;

  function forgetAll(): void {
    sets.clear();
    unsettled.clear();
    changed.clear();
    waiting.clear();
  }
  const addChanged = (committed: readonly Change[]): void => {
    for (const { id, document } of committed) changed.set(id, document);
  };

  const loads = createLoads(
    changes,
    collection,
    {
      clear: forgetAll,
      apply(committed) {
        if (sets.size > 0) addChanged(committed);
        if (changed.size > maxChanged) forgetAll();
      },
    },
    reworded,
  );
  const countFound = createFindCounter(changes, [collection, reworded, others]);
  const countOthersFound = createFindCounter(changes, [others]);

  function put(word: IndexedWord, set: DocumentSet): void {
    sets.set(word, set);
    largest = Math.max(largest, getIdLimit(set));
  }

  /** @param words the current words of the product */
  function change(id: number, words: ReadonlySet<IndexedWord>): void {
    // A new product is in no set yet.
    const concerned = id > largest ? words : [...sets.keys()];
    for (const word of concerned) {
      const set = sets.peek(word);
      const isIn = words.has(word);
      if (set === undefined || contains(set, id) === isIn) continue;
      const next = putDocument(lent.has(set) ? copySet(set) : set, id, isIn);
      // Not otherwise: it would make the word one of those used last.
      if (next !== set) sets.set(word, next);
    }
    largest = Math.max(largest, id);
  }

  /** Set while changes are applied: all searches wait for that, and do not split the words of the same products again. */
  let settling: Promise<void> | undefined;

  async function applyChanged(): Promise<void> {
    try {
      for (const id of changed.keys()) {
        // While its words are split, the product may change again, or all changes may be dropped.
        for (let document = changed.get(id); document !== undefined; document = changed.get(id)) {
          const words = document === null ? noWords : new Set(await wordsOf(id, document));
          if (changed.get(id) !== document) continue;
          changed.delete(id);
          change(id, words);
        }
        await takeTurn();
      }
      unsettled.clear();
    } finally {
      // Nothing was awaited since the last change: later ones are applied by another call.
      settling = undefined;
    }
  }

  /** Applies the changes found by the last check. Must be called before sets are requested. */
  async function settle(): Promise<void> {
    if (changed.size === 0) return unsettled.clear();
    settling ??= applyChanged();
    return settling;
  }

  function keepRead(word: IndexedWord, ids: Uint32Array, replayed: readonly Change[]): void {
    if (changed.size + replayed.length > maxChanged) return;
    addChanged(replayed);
    unsettled.add(word);
    put(word, toDocumentSet(ids));
  }

  async function readAll(): Promise<void> {
    for (const word of waiting) {
      waiting.delete(word);
      await loads.load(
        word,
        isGivenUp => read(word, isGivenUp),
        (ids, replayed) => keepRead(word, ids, replayed),
      );
      await new Promise(resolve => setImmediate(resolve));
    }
  }

  return {
    settle,
    /** The products that have a word; undefined if it is not in memory. Words requested later may be more current. */
    get(word: IndexedWord): DocumentSet | undefined {
      if (unsettled.has(word)) return undefined;
      const set = sets.get(word);
      if (set !== undefined) lent.add(set);
      return set;
    },
    /** A number that changes whenever something that searches find has changed. */
    seen: countFound,
    /** The same for documents that are not products. */
    othersSeen: countOthersFound,
    /** Keeps the products that have a word, which a search has read in a state that is no older than `seen`. */
    keep(word: IndexedWord, set: DocumentSet, seen: number | undefined): void {
      // What was read lacks a change that was applied since.
      if (seen !== countFound() || loads.isResting()) return;
      lent.add(set);
      put(word, set);
    },
    /** Requests that a word be read into memory. */
    want(word: IndexedWord): void {
      if (sets.has(word) || waiting.size >= maxWaiting || loads.isResting()) return;
      waiting.add(word);
      if (isReading) return;
      isReading = true;
      readAll()
        // Later searches request the words again.
        .catch(() => waiting.clear())
        .finally(() => {
          isReading = false;
        });
    },
  };
}
