/**
 * Splits scripts that are written without spaces: Chinese and Japanese into pairs of characters and single characters,
 * Thai, Lao, Khmer and Burmese into the words of a dictionary.
 */

/** A run of letters and digits in a text, and the words that it is indexed as. */
export interface Run {
  /** The range of the run in the text. */
  readonly start: number;
  readonly end: number;
  readonly words: readonly string[];
  /** In scripts without spaces: single characters that are also indexed. If set, the run is a piece of a longer one. */
  readonly parts?: readonly string[];
}

/**
 * A run of one kind: other scripts, with invisible signs between letters and with units that are one character (`㎖`);
 * Chinese characters; hiragana; katakana; scripts that a dictionary splits.
 */
export const stretch =
  /[[\p{L}\p{N}\p{M}\u3380-\u33df]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc\uff70\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+(?:[\u00ad\u200c\u200d]+[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc\uff70\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+)*|\p{sc=Han}[\p{sc=Han}\p{M}]*|\p{sc=Hira}[\p{sc=Hira}\u30fc\uff70\p{M}]*|[[\p{sc=Kana}\u30fc\uff70]&&\p{L}][[\p{sc=Kana}\u30fc\uff70\uff9e\uff9f\p{M}]--\p{S}]*|[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}][\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{M}\u00ad\u200c\u200d]*/gv;

const inDictionary = /^[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
const inPairs = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc\uff70]/u;
const inCluster = /[\p{M}\uff9e\uff9f\udc00-\udfff]/v;
const clusters = /[^\p{M}\uff9e\uff9f][\p{M}\uff9e\uff9f]*/gu;
/** Serves all these scripts: each has a dictionary of its own. */
const segmenter = new Intl.Segmenter('th', { granularity: 'word' });

/** Whether a run must be split. The first character decides: a run has one kind of script. */
export const isUnspaced = (text: string): boolean => inPairs.test(text) || isDivided(text);
/** Whether the dictionary splits a run. */
export const isDivided = (text: string): boolean => inDictionary.test(text);

/** Where the last letter of a text begins. */
export function findLastLetter(text: string): number {
  let place = text.length - 1;
  while (place > 0 && inCluster.test(text[place] ?? '')) place--;
  return place;
}

/** @param folded the same text in its indexed form */
export function splitStretch(text: string, folded: string, start: number): Iterable<Run> {
  return isDivided(text) ? splitByDictionary(text, folded, start) : combineCharacters(text, folded, start);
}

function* splitByDictionary(text: string, folded: string, start: number): Generator<Run> {
  const isAligned = folded.length === text.length;
  for (const { segment, index } of segmenter.segment(folded)) {
    const [from, to] = isAligned ? [index, index + segment.length] : [0, text.length];
    yield { start: start + from, end: start + to, words: [segment], parts: [] };
  }
}

/** `東京都` is indexed as `東京` and `京都`, and as each of its characters. */
function* combineCharacters(text: string, folded: string, start: number): Generator<Run> {
  const letters = folded.match(clusters) ?? [];
  const count = letters.length;
  const places = count === text.length ? undefined : listPlaces(text, count);
  const toPlace = (letter: number): number => start + (places === undefined ? letter : (places[letter] ?? 0));
  const end = start + text.length;
  const [only] = letters;
  if (count === 1 && only !== undefined) yield { start, end, words: [only], parts: [] };
  for (let at = 1; at < count; at++) {
    const [first = '', second = ''] = [letters[at - 1], letters[at]];
    const isLast = at === count - 1;
    const parts = isLast ? [first, second] : [first];
    yield { start: toPlace(at - 1), end: isLast ? end : toPlace(at + 1), words: [first + second], parts };
  }
}

/** Where the letters of a text begin; all 0 if a sign stands for several letters, whose places are then unknown. */
function listPlaces(text: string, count: number): readonly number[] {
  const places = [...text.matchAll(clusters)].map(({ index }) => index);
  return places.length < count ? Array.from({ length: count }, () => 0) : places;
}
