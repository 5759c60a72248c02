/** Cells that hold several things: tags, category paths, addresses of images. */

/** The text without these characters at either end. */
export function trimCharacters(characters: string, text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && characters.includes(text.charAt(start))) start += 1;
  while (end > start && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Items with one of the separators between them, trimmed, empty ones left out. A backslash keeps a separator in an item. */
export function splitList(text: string, separator: string): string[] {
  if (separator === '') return text.trim() === '' ? [] : [text.trim()];
  const parts = text.includes(`\\${separator}`)
    ? text
        .split(`\\${separator}`)
        .map(part => part.split(separator))
        .reduce<string[]>(
          (all, [first = '', ...rest]) => [
            ...all.slice(0, -1),
            all.length === 0 ? first : `${all.at(-1)}${separator}${first}`,
            ...rest,
          ],
          [],
        )
    : text.split(separator);
  return parts.map(part => part.trim()).filter(part => part !== '');
}

/**
 * A JSON array, or items with `;` or `|` between them.
 * @param separator what stands between them instead
 */
export function toList(value: unknown, separator?: string): unknown {
  if (typeof value !== 'string') return value;
  if (value.startsWith('[')) return parseArray(value);
  if (separator !== undefined) return splitList(value, separator);
  return value
    .split(/[;|]/)
    .map(item => item.trim())
    .filter(item => item !== '');
}

function parseArray(text: string): unknown {
  try {
    const items: unknown = JSON.parse(text);
    return Array.isArray(items) ? items : text;
  } catch {
    return text;
  }
}

/** How the names of a category's path are joined. */
const pathSeparator = ' > ';

/** A category's path with ` > ` between its names. @param separator what stands between them in the file */
export function toPath(text: string, separator: string = '>'): string {
  return splitList(text, separator).join(pathSeparator);
}

/**
 * The paths a product has, the main one first. Those that lie above another of them say nothing more: the tree has
 * them anyway.
 */
export function keepDeepestPaths(paths: readonly string[]): string[] {
  const all = [...new Set(paths)];
  return all.filter(path => !all.some(other => other.startsWith(`${path}${pathSeparator}`)));
}

const address = /^https?:\/\//i;
export const isAddress = (text: string): boolean => address.test(text);

/**
 * Addresses with commas, bars, semicolons or line ends between them, or a space before another `https:`. Any other
 * space is part of an address. So is a comma or semicolon where no other one follows it: addresses of some shops hold
 * sizes, as in `w_300,h_200`.
 */
export function splitAddresses(text: string): string[] {
  return text.split(/[|\r\n]|\s(?=https?:)/i).flatMap(word => {
    const given = word.trim();
    const parts = isAddress(given) ? given.split(/(?=[,;]\s*(?:https?:|\/))/i) : given.split(/[,;]/);
    return parts.map(part => trimCharacters(',; \t', part)).filter(part => part !== '');
  });
}

/** An address as programs read it: a shop may write a space in it. */
export const encodeSpaces = (url: string): string => url.replace(/\s/g, encodeURIComponent);
