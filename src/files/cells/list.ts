/** Reads cells that hold several items: tags, category paths, URLs of images. */
import { tryParseJson } from '../../json-object.ts';

/** The text without these characters at either end. */
export function trimCharacters(characters: string, text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && characters.includes(text.charAt(start))) start += 1;
  while (end > start && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Splits a text into trimmed items, without empty ones. A backslash before a separator keeps it in the item. */
export function splitList(text: string, separator: string): string[] {
  if (separator === '') return text.trim() === '' ? [] : [text.trim()];
  const parts: string[] = [];
  for (const [index, piece] of text.split(`\\${separator}`).entries()) {
    const [first = '', ...others] = piece.split(separator);
    parts.push(index === 0 ? first : `${parts.pop() ?? ''}${separator}${first}`);
    for (const other of others) parts.push(other);
  }
  return parts.map(part => part.trim()).filter(part => part !== '');
}

/**
 * Reads a JSON array, or items separated by `;` or `|`.
 * @param separator replaces `;` and `|`
 */
export function toList(value: unknown, separator?: string): unknown {
  if (typeof value !== 'string') return value;
  if (value.startsWith('[')) return tryParseJson(value) ?? value;
  if (separator !== undefined) return splitList(value, separator);
  return value
    .split(/[;|]/)
    .map(item => item.trim())
    .filter(item => item !== '');
}

/** The separator between the names of a category's path in the catalog. */
const pathSeparator = ' > ';

/** Converts a category's path to names joined by ` > `. @param separator the separator in the file */
export function toPath(text: string, separator: string): string {
  return splitList(text, separator).join(pathSeparator);
}

/**
 * Removes duplicate paths and those that lie above another one, since the tree contains them anyway. Keeps the order:
 * the first path left is the main one.
 */
export function keepDeepestPaths(paths: readonly string[]): string[] {
  const all = [...new Set(paths)];
  const toBeginning = (path: string) => `${path}${pathSeparator}`;
  // Sorted, a path is directly before those below it.
  const beginnings = all.map(toBeginning).sort();
  const above = new Set(beginnings.filter((one, index) => beginnings[index + 1]?.startsWith(one)));
  return all.filter(path => !above.has(toBeginning(path)));
}

const address = /^https?:\/\//i;
export const isAddress = (text: string): boolean => address.test(text);

/**
 * Splits URLs separated by commas, bars, semicolons or line ends, or by a space before another `https:`. Any other
 * space is part of a URL. So is a comma or semicolon that no other URL follows: URLs of some shops contain sizes, as
 * in `w_300,h_200`.
 */
export function splitAddresses(text: string): string[] {
  return text.split(/[|\r\n]|\s(?=https?:)/i).flatMap(word => {
    const given = word.trim();
    const parts = isAddress(given) ? given.split(/(?=[,;]\s*(?:https?:|\/))/i) : given.split(/[,;]/);
    return parts.map(part => trimCharacters(',; \t', part)).filter(part => part !== '');
  });
}

/** Whether an image is named by a path of the shop: not by an address, nor as an upload of a catalog. */
export const isPath = (url: string): boolean => !/^(?:\/media\/|[a-z][a-z\d+.-]*:)/i.test(url);

/** Puts the base before a path; a URL stays as it is. */
export const addBase = (url: string, base: string | undefined): string =>
  base === undefined || isAddress(url) ? url : `${base.replace(/\/$/, '')}/${url.replace(/^\//, '')}`;

/** Encodes spaces, which shops write in URLs. */
export const encodeSpaces = (url: string): string => url.replace(/\s/g, encodeURIComponent);
