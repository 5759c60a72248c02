/** Reads and writes values of attributes in the cells of a table. */
import { isTooDeep, tryParseJson } from '../../json-object.ts';
import type { DecimalMark } from './amount.ts';

/** Whether a text is a number in canonical form, so that nothing is lost by converting it. */
const isCanonical = (text: string): boolean => text !== '' && String(Number(text)) === text;

/**
 * The value in a cell: a number, true or false, a list or a text as JSON; otherwise the text itself.
 * @param decimal `comma` also accepts a decimal comma
 */
export function parseAttributeValue(cell: unknown, decimal?: DecimalMark): unknown {
  if (typeof cell !== 'string') return cell;
  const word = cell.trim();
  const number = decimal === 'comma' ? word.replace(',', '.') : word;
  if (isCanonical(number) && Number.isFinite(Number(number))) return Number(number);
  if (/^true$/i.test(word)) return true;
  if (/^false$/i.test(word)) return false;
  const value = isJson(word) ? tryParseJson(word) : undefined;
  return value === undefined || isTooDeep(value) ? cell : value;
}

const isJson = (text: string): boolean =>
  (text.startsWith('[') && text.endsWith(']')) ||
  (text.startsWith('"') && text.endsWith('"') && text.length > 1);

/** The cell that `parseAttributeValue` reads back as the value. */
export function toAttributeCell(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return value !== '' && parseAttributeValue(value) === value ? value : JSON.stringify(value);
}
