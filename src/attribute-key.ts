/** Keys of product attributes, as used in members, parameters, file columns and definitions. */
import { createHash } from 'node:crypto';
import { trimCharacters } from './files/cells/list.ts';

export const attributeKey = /^[a-z][a-z0-9_.-]{0,63}$/;

const maxKeyLength = 64;
/** Characters of a name that are read: Unicode normalisation orders the marks on one letter in quadratic time. */
const maxNameLength = 1000;

/** Latin letters that are not another letter plus an accent. */
const letters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' },
};

const toCodePoint = (letter: string): string => letter.codePointAt(0)?.toString(16) ?? '';

/**
 * Converts any text to a key of letters, digits and `_ . -` that begins with a letter. Equal texts get equal keys;
 * texts that differ in more than punctuation, case and accents get different keys.
 */
export function toAttributeKey(given: string): string {
  const name = given.slice(0, maxNameLength);
  const latin = /^[ -~]*$/.test(name) ? name.toLowerCase() : [...name.normalize('NFC')].map(toLatin).join('');
  const key = trimCharacters('_.-', latin.replace(/[^a-z0-9.-]+/g, '_'));
  // A name without Latin letters or digits becomes the code points of all its characters, punctuation included.
  const isOther = key === '' || !/[a-z0-9]/i.test(toPlainLetters(name));
  const named = isOther ? [...name.trim()].map(toCodePoint).join('_') : key;
  const whole = /^[a-z]/.test(named) && !isOther ? named : `x_${named}`;
  return whole.length > maxKeyLength ? shortenKey(whole) : trimCharacters('_.-', whole);
}

/** The name in another script that a key spells as code points; undefined for any other key. */
export function decodeKey(key: string): string | undefined {
  if (!/^x(_[0-9a-f]{2,5})+$/.test(key)) return undefined;
  const codePoints = key.split('_').slice(1);
  return String.fromCodePoint(...codePoints.map(codePoint => Number.parseInt(codePoint, 16)));
}

const toPlainLetters = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, letter => letters[letter] ?? letter);

/** Spells a character in Latin letters, else as its code point, so that different characters stay distinct. */
function toLatin(character: string): string {
  const plain = toPlainLetters(character);
  return /[\p{L}\p{N}\p{M}]/u.test(plain.replace(/[a-z0-9]+/g, '')) ? `_${toCodePoint(character)}_` : plain;
}

/** Shortens a key; a hash of the whole key keeps long keys with the same beginning distinct. */
function shortenKey(key: string): string {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return `${trimCharacters('_.-', key.slice(0, maxKeyLength - 1 - hash.length))}_${hash}`;
}
