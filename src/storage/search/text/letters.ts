/** Folds letters of non-Latin scripts that people type interchangeably, as Lucene and most search engines do. */
import { toWordMap } from '../../../arrays/words.ts';

/** Invisible within words: soft hyphens, joiners, variation selectors; also apostrophes that are letters. */
const unseen = /\u200d|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]|[\u00ad\u200c\u02b9-\u02bc]/gu;
/** Vowel points and other signs that Arabic and Hebrew usually omit, and the Arabic tatweel. */
const points =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/g;
const european = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/g;
/** The dot below letters of Hindi, which is often omitted. */
const nukta = /\u093c/g;
/** Voiced kana, and vowels of Thai and Lao, which NFKD decomposes. */
const takenApart = /[\u3041-\u30ff][\u3099\u309a]|\u0e4d[\u0e48-\u0e4b]?\u0e32|\u0ecd[\u0ec8-\u0ecb]?\u0eb2/g;
/** The long vowel at the end of longer words in katakana is optional: `プリンター`. */
const longVowel = /(?<=[\u30a1-\u30fa\u30fc]{3})\u30fc(?![\u30a1-\u30fa\u30fc])/g;
const others =
  /[\u0649\u0629\u06cc\u06a9\u06c1\u06be\u06c0\u0901\u30a1-\u30f6]|[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59\u0ed0-\u0ed9\u17e0-\u17e9\u1040-\u1049]/g;

const letters = toWordMap(
  `\u0649:\u064a \u06cc:\u064a \u0629:\u0647 \u06c0:\u0647 \u06c1:\u0647 \u06be:\u0647 \u06a9:\u0643 \u0901:\u0902`,
);
/** The zeros of scripts with digits of their own, which match the digits of ASCII. */
const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xed0, 0x17e0, 0x1040];
const [firstKatakana, lastKatakana, toHiragana] = [0x30a1, 0x30f6, 0x60];

/** Every character that `foldConcerned` replaces: most texts have none. */
const concerned =
  /\u200d|[\ufe00-\ufe0f]|[\u00ad\u02b9-\u02bc\u0590-\u1049\u17e0-\u17e9\u200c\u3041-\u30ff]|[\u{e0100}-\u{e01ef}]/u;

/** @param text decomposed, in lower case */
export function foldLetters(text: string): string {
  const plain = text.replace(european, '');
  return concerned.test(plain) ? foldConcerned(plain) : plain;
}

const foldConcerned = (text: string): string =>
  text
    .replace(unseen, '')
    .replace(points, '')
    .replace(nukta, '')
    .replace(takenApart, joinVowel)
    .replace(longVowel, '')
    .replace(others, foldLetter);

function joinVowel(parts: string): string {
  const first = parts.charCodeAt(0);
  if (first > 0x3000) return parts.normalize('NFC');
  return `${parts.slice(1, -1)}${first === 0x0e4d ? '\u0e33' : '\u0eb3'}`;
}

function foldLetter(letter: string): string {
  const code = letter.charCodeAt(0);
  if (code >= firstKatakana && code <= lastKatakana) return String.fromCharCode(code - toHiragana);
  const zero = zeros.find(first => code >= first && code < first + 10);
  return zero === undefined ? (letters.get(letter) ?? letter) : String(code - zero);
}
