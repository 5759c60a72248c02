/**
 * Scripts written without spaces. Chinese and Japanese are divided into pairs of characters, each of which is also found by
 * itself; Thai, Lao, Khmer and Burmese into the words of a dictionary.
 */
/** A stretch of letters and digits in a text, and the words it is indexed as. */
export interface Run {
  /** Where it begins and ends in the text. */
  readonly start: number;
  readonly end: number;
  readonly words: readonly string[];
  /** Of a script without spaces: the characters that it is also found by. Where they are given, it is a piece of a stretch. */
  readonly parts?: readonly string[];
}

/**
 * What stands together: in other scripts with signs between letters that are not seen, and units that are one character
 * (`㎖`); Chinese characters, hiragana, katakana; what a dictionary divides.
 */
export const stretch =
  /[[\p{L}\p{N}\p{M}\u3380-\u33df]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc\uff70\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+(?:[\u00ad\u200c\u200d]+[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc\uff70\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+)*|\p{sc=Han}[\p{sc=Han}\p{M}]*|\p{sc=Hira}[\p{sc=Hira}\u30fc\uff70\p{M}]*|[[\p{sc=Kana}\u30fc\uff70]&&\p{L}][[\p{sc=Kana}\u30fc\uff70\uff9e\uff9f\p{M}]--\p{S}]*|[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}][\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{M}\u00ad\u200c\u200d]*/gv;

const inDictionary = /^[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
const inPairs = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc\uff70]/u;
const clusters = /[^\p{M}\uff9e\uff9f][\p{M}\uff9e\uff9f]*/gu;
/** One for all of these scripts: each has its own dictionary. */
const segmenter = new Intl.Segmenter('th', { granularity: 'word' });
/** Characters that are divided by a dictionary, half a microsecond each: nothing has so many without a space. */
const longestDivided = 10_000;

/** Whether this has to be divided; always for one that begins so. */
export const isUnspaced = (text: string): boolean => inPairs.test(text) || isDivided(text);
/** Whether a dictionary divides it. */
export const isDivided = (text: string): boolean => inDictionary.test(text);

/** @param folded the same text as it is indexed */
export function splitStretch(text: string, folded: string, start: number): Iterable<Run> {
  return isDivided(text) ? splitByDictionary(text, folded, start) : combineCharacters(text, folded, start);
}

function* splitByDictionary(text: string, folded: string, start: number): Generator<Run> {
  const isAligned = folded.length === text.length;
  for (const { segment, index } of segmenter.segment(folded.slice(0, longestDivided))) {
    const [from, to] = isAligned ? [index, index + segment.length] : [0, text.length];
    yield { start: start + from, end: start + to, words: [segment], parts: [] };
  }
}

/** `東京都` is found by `東京` and `京都`, and by each of its characters. */
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

/** Where the letters of a text begin. Of a sign that stands for several it is not known where they are. */
function listPlaces(text: string, count: number): readonly number[] {
  const places = [...text.matchAll(clusters)].map(({ index }) => index);
  return places.length < count ? Array.from({ length: count }, () => 0) : places;
}
