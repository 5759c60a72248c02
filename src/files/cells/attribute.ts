/** Attributes in a table: their keys made of columns' names, their values of cells. */

import { without } from './list.ts';

/** Of any text a key of letters, digits and `_ . -` that begins with a letter; the same for the same text. */
export function attributeKey(name: string): string {
  const latin = name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
  const key = without('_.-', latin.replace(/[^a-z0-9.-]+/g, '_'));
  // A name without Latin letters or digits becomes its code points.
  const named =
    key !== '' ? key : [...name.trim()].map(letter => letter.codePointAt(0)?.toString(16)).join('_');
  const whole = /^[a-z]/.test(named) && key !== '' ? named : `x_${named}`;
  return without('_.-', whole.slice(0, 64));
}

/** Numbers that are written as programs write them: nothing is lost by taking the text for the number. */
const isCanonical = (text: string): boolean => text !== '' && String(Number(text)) === text;

/** The value in a cell: a number, true or false, a list or text as JSON, otherwise the text. */
export function attributeValue(cell: unknown): unknown {
  if (typeof cell !== 'string') return cell;
  const word = cell.trim();
  if (isCanonical(word) && Number.isFinite(Number(word))) return Number(word);
  if (/^true$/i.test(word)) return true;
  if (/^false$/i.test(word)) return false;
  return isJson(word) ? (parsedJson(word) ?? cell) : cell;
}

const isJson = (text: string): boolean =>
  (text.startsWith('[') && text.endsWith(']')) ||
  (text.startsWith('"') && text.endsWith('"') && text.length > 1);

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The cell of which `attributeValue` makes the value. */
export function attributeCell(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return value !== '' && attributeValue(value) === value ? value : JSON.stringify(value);
}
