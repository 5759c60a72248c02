/**
 * The words of the names and brands of products, as arrays of numbers: a million products take some tens of megabytes.
 * Words are numbered in alphabetical order, so that those with the same beginning follow each other. Products are placed
 * in order of the length of their names, so that the shortest, which have few other words, are found first.
 */
import { type BoundedMap, createBoundedMap } from '../../../bounded-map.ts';
import { takeTurn } from '../../../turns/index.ts';
import { sortInSlices } from '../../../turns/slices.ts';

/** A word as it is searched for, and in the small letters of a name. */
export type Spelling = readonly [word: string, spelling: string];

/** A product as it is found by its name. */
export interface Named {
  readonly id: number;
  readonly name: readonly string[];
  readonly brand: readonly string[];
  /** Words that the name or brand writes otherwise: `grun`, `grün`. */
  readonly spellings: readonly Spelling[];
  /** From 0 to `mostQuality`: what puts names that are as good in order. */
  readonly quality: number;
}

export interface NameArrays {
  readonly words: readonly string[];
  /** Where the places of each word begin, and where those of the last one end. */
  readonly starts: Uint32Array;
  readonly places: Uint32Array;
  /** By place. */
  readonly ids: Uint32Array;
  /** By id, plus one; 0 for no product. */
  readonly placesOfIds: Uint32Array;
  /** By place: where the words of a product begin, those of its name, then of its brand, then its spellings. */
  readonly offsets: Uint32Array;
  readonly sequence: Uint32Array;
  /** By place: how many of them are of the name. */
  readonly lengths: Uint8Array;
  /** By place; `gone` for what is found no more by what stands here. */
  readonly qualities: Uint8Array;
  /** What stands in the arrays above of products that are found no more by it. */
  readonly lost: Lost;
  /** What has been made of them: which places have common words, a bit for each. */
  readonly bits: BoundedMap<string, Uint32Array>;
}

interface Lost {
  products: number;
  /** By word: how often they have it. */
  readonly words: Map<number, number>;
}

const keptBits = 64;

export const mostQuality = 100;
export const gone = 255;
/** Names are put in order by their length up to this one, and by their ids. */
export const longestName = 15;
/** Steps between two readings of the clock. */
const stepsAtOnce = 20_000;
/** What a word takes besides its letters: in the list and, while arrays are made, in a map. */
const wordBytes = 80;

/** Behind all words, so that none is found that begins so: a spelling is counted as words are. */
export const toSpellingsOf = (word: string): string => `\uffff${word} `;

/** All that is kept of the words of a product. */
export const listEntries = ({ name, brand, spellings }: Named): readonly string[] => [
  ...name,
  ...brand,
  ...spellings.map(([word, spelling]) => toSpellingsOf(word) + spelling),
];

/** Numbers one after another, as many as there will be. */
function createGrowingArray() {
  let numbers = new Uint32Array(4096);
  let count = 0;
  return {
    push(value: number): void {
      if (count === numbers.length) {
        const larger = new Uint32Array(2 * count);
        larger.set(numbers);
        numbers = larger;
      }
      numbers[count++] = value;
    },
    count: () => count,
    values: () => numbers.subarray(0, count),
  };
}

/** Gathers products, in the order of their ids, and makes the arrays of them. */
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

  /** In their order. */
  async function sortWords(): Promise<string[]> {
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

    /** About what the arrays and what makes them take. */
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

/** From here on a product is found no more by what stands here. */
export function dropPlace({ qualities, offsets, sequence, lost }: NameArrays, place: number): void {
  qualities[place] = gone;
  lost.products += 1;
  for (const word of sequence.subarray(offsets[place] ?? 0, offsets[place + 1] ?? 0))
    lost.words.set(word, (lost.words.get(word) ?? 0) + 1);
}

/** Which product has each place: the shortest names first. */
async function computeOrder(lengths: Uint32Array): Promise<Uint32Array> {
  const order = new Uint32Array(lengths.length);
  let place = 0;
  for (let length = 0; length <= longestName; length++) {
    for (let from = 0; from < lengths.length; from++)
      if (Math.min(longestName, lengths[from] ?? 0) === length) order[place++] = from;
    await takeTurn();
  }
  return order;
}

/** Puts the places of each word together: those of one word in their order, each once for each time it has the word. */
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

/** The number of the first word that is not before this one. */
export function findWordPlace(words: readonly string[], word: string): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle] ?? '') < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The words that begin so. */
export const findWordsBeginningWith = (words: readonly string[], beginning: string) => ({
  low: findWordPlace(words, beginning),
  high: findWordPlace(words, `${beginning}\uffff`),
});
