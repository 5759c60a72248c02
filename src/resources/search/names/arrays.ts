/**
 * The words of the names and brands of products, as arrays of numbers: a million products take some tens of megabytes.
 * Words are numbered in alphabetical order, so that words with the same prefix are adjacent. Products are placed by the
 * length of their names: the shortest names, which have few other words, are found first.
 */
import { createGrowingArray } from '../../../arrays/growing.ts';
import { countWhile } from '../../../arrays/sorted.ts';
import { type BoundedMap, createBoundedMap } from '../../../bounded-map.ts';
import { takeTurn } from '../../../turns/index.ts';
import { sortInSlices } from '../../../turns/slices.ts';

/** A normalized word, and how a name writes it in lower case. */
export type Spelling = readonly [word: string, spelling: string];

/** The words by which a product is found. */
export interface Named {
  readonly id: number;
  readonly name: readonly string[];
  readonly brand: readonly string[];
  /** Words whose spelling in the name or brand differs from the normalized word: `grun`, `grün`. */
  readonly spellings: readonly Spelling[];
  /** From 0 to `maxQuality`: orders names that match equally well. */
  readonly quality: number;
}

export interface NameArrays {
  readonly words: readonly string[];
  /** By word: where its places begin in `places`. One more element holds the end of the last word. */
  readonly starts: Uint32Array;
  readonly places: Uint32Array;
  /** By place. */
  readonly ids: Uint32Array;
  /** By id: the place plus one; 0 for no product. */
  readonly placesOfIds: Uint32Array;
  /** By place: where the words of a product begin in `sequence`: name, then brand, then spellings. */
  readonly offsets: Uint32Array;
  readonly sequence: Uint32Array;
  /** By place: how many words the name has. */
  readonly lengths: Uint8Array;
  /** By place; `gone` for a product that these arrays no longer find. */
  readonly qualities: Uint8Array;
  /** What the arrays above still hold of products that they no longer find. */
  readonly lost: Lost;
  /** Derived bitmaps of common words: a bit for each place. */
  readonly bits: BoundedMap<string, Uint32Array>;
}

interface Lost {
  products: number;
  /** By word: how often these products have it. */
  readonly words: Map<number, number>;
}

const keptBits = 64;

export const maxQuality = 100;
export const gone = 255;
/** Names are sorted by length, then by id; this and greater lengths count as equal. */
export const maxNameLength = 15;
/** Steps between two checks of the clock. */
const stepsAtOnce = 20_000;
/** Bytes that a word takes in addition to its letters: in the list and, while arrays are built, in a map. */
const wordBytes = 80;

/** A prefix that sorts after all words, so that spellings are counted like words but no search finds them. */
export const toSpellingsOf = (word: string): string => `\uffff${word} `;

/** Everything that the arrays hold for a product: words and spellings. */
export const listEntries = ({ name, brand, spellings }: Named): readonly string[] => [
  ...name,
  ...brand,
  ...spellings.map(([word, spelling]) => toSpellingsOf(word) + spelling),
];

/** Collects products, in the order of their ids, and builds their arrays. */
export function createNameArraysBuilder() {
  const numbers = new Map<string, number>();
  let letters = 0;
  const sequence = createGrowingArray();
  const offsets = createGrowingArray();
  const ids = createGrowingArray();
  const lengths = createGrowingArray();
  const qualities = createGrowingArray();

  function put(words: readonly string[]): void {
    for (const word of words) {
      const number = numbers.get(word) ?? numbers.size;
      if (number === numbers.size) {
        numbers.set(word, number);
        letters += word.length;
      }
      sequence.push(number);
    }
  }

  /** The distinct words in alphabetical order. */
  async function sortWords(): Promise<readonly string[]> {
    const words: string[] = [];
    for (const word of numbers.keys()) if (words.push(word) % stepsAtOnce === 0) await takeTurn();
    return sortInSlices(words);
  }

  return {
    add(named: Named): void {
      ids.push(named.id);
      offsets.push(sequence.count());
      qualities.push(named.quality);
      lengths.push(named.name.length);
      put(listEntries(named));
    },

    /** The approximate size of the arrays and of this builder. */
    bytes: () => numbers.size * wordBytes + letters + 4 * (3 * sequence.count() + 6 * ids.count()),

    async make(): Promise<NameArrays> {
      offsets.push(sequence.count());
      const words = await sortWords();
      const renumbered = new Uint32Array(words.length);
      for (const [index, word] of words.entries()) {
        renumbered[numbers.get(word) ?? 0] = index;
        if (index % stepsAtOnce === 0) await takeTurn();
      }
      const count = ids.count();
      const read = { ids: ids.values(), offsets: offsets.values(), sequence: sequence.values() };
      const order = await computeOrder(lengths.values());
      const largest = read.ids.at(-1) ?? 0;
      const made = {
        words,
        starts: new Uint32Array(words.length + 1),
        places: new Uint32Array(read.sequence.length),
        ids: new Uint32Array(count),
        placesOfIds: new Uint32Array(largest + 1),
        offsets: new Uint32Array(count + 1),
        sequence: new Uint32Array(read.sequence.length),
        lengths: new Uint8Array(count),
        qualities: new Uint8Array(count),
        lost: { products: 0, words: new Map<number, number>() },
        bits: createBoundedMap<string, Uint32Array>(keptBits),
      };
      let end = 0;
      for (let place = 0; place < count; place++) {
        const from = order[place] ?? 0;
        const id = read.ids[from] ?? 0;
        made.ids[place] = id;
        made.placesOfIds[id] = place + 1;
        made.lengths[place] = lengths.values()[from] ?? 0;
        made.qualities[place] = qualities.values()[from] ?? 0;
        for (let at = read.offsets[from] ?? 0; at < (read.offsets[from + 1] ?? 0); at++)
          made.sequence[end++] = renumbered[read.sequence[at] ?? 0] ?? 0;
        made.offsets[place + 1] = end;
        if (place % stepsAtOnce === 0) await takeTurn();
      }
      await gatherPlaces(made);
      return made;
    },
  };
}

/** Hides the product at a place: these arrays no longer find it. */
export function dropPlace({ qualities, offsets, sequence, lost }: NameArrays, place: number): void {
  qualities[place] = gone;
  lost.products += 1;
  for (const word of sequence.subarray(offsets[place] ?? 0, offsets[place + 1] ?? 0))
    lost.words.set(word, (lost.words.get(word) ?? 0) + 1);
}

/** The index of the product for each place: shortest names first. */
async function computeOrder(lengths: Uint32Array): Promise<Uint32Array> {
  const order = new Uint32Array(lengths.length);
  let place = 0;
  for (let length = 0; length <= maxNameLength; length++) {
    for (let from = 0; from < lengths.length; from++)
      if (Math.min(maxNameLength, lengths[from] ?? 0) === length) order[place++] = from;
    await takeTurn();
  }
  return order;
}

/** Groups places by word, in ascending order. A place occurs once for each time its product has the word. */
async function gatherPlaces({ starts, places, offsets, sequence, ids }: NameArrays) {
  for (let at = 0; at < sequence.length; at++) {
    const next = (sequence[at] ?? 0) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
    if (at % stepsAtOnce === 0) await takeTurn();
  }
  for (let word = 1; word < starts.length; word++)
    starts[word] = (starts[word] ?? 0) + (starts[word - 1] ?? 0);
  const ends = starts.slice();
  for (let place = 0; place < ids.length; place++) {
    for (let at = offsets[place] ?? 0; at < (offsets[place + 1] ?? 0); at++) {
      const word = sequence[at] ?? 0;
      const end = ends[word] ?? 0;
      places[end] = place;
      ends[word] = end + 1;
    }
    if (place % stepsAtOnce === 0) await takeTurn();
  }
}

/** The number of the first word that does not sort before this word. */
export const findWordPlace = (words: readonly string[], word: string): number =>
  countWhile(words.length, place => (words[place] ?? '') < word);

/** The range of words with a prefix. */
export const findWordsBeginningWith = (words: readonly string[], beginning: string) => ({
  low: findWordPlace(words, beginning),
  high: findWordPlace(words, `${beginning}\uffff`),
});
