/**
 * Names of categories, and the paths (`Furniture > Tables`) and slugs that are made of them. A path names one category
 * and a category has one path, since no name contains a `>` as a separate word.
 */
import { toWordMap } from '../../arrays/words.ts';

export const separator = ' > ';
/** The most levels of the tree. */
export const deepest = 10;
/** The most characters of a name. */
export const maxNameLength = 100;
export const maxPathLength = deepest * maxNameLength + (deepest - 1) * separator.length;
/** The most bytes of a path in UTF-8: PostgreSQL has no index of entries above 2,704 bytes. */
export const maxPathBytes = 2600;
export const maxSlugLength = 120;
/** The characters of a slug that are reserved for a number at its end, and the most that its first word may take. */
const numberLength = 20;
const maxWordLength = 50;

/** Whether a name would be read as several names, or as a different one, in a path. */
export const containsSeparator = (name: string): boolean => ` ${name} `.includes(separator);

/** The names in a path, the highest category first: trimmed, but not validated. */
export function splitPath(path: string): string[] {
  return path.split(separator).map(name => name.trim());
}

export const joinPath = (names: readonly string[]): string => names.join(separator);

/** Whether a path is that of a category, or of one below it. */
export const isPathWithin = (one: string, path: string): boolean =>
  one === path || one.startsWith(`${path}${separator}`);

/** The path of a category after `former` has become `path`: it changes only for that category and those below it. */
export const renamePath = (one: string, former: string, path: string): string =>
  isPathWithin(one, former) ? `${path}${one.slice(former.length)}` : one;

/** The paths below a category are those from `low` on and before `high`: `!` is the character after the space. */
export function getPathsBelow(path: string): { readonly low: string; readonly high: string } {
  return { low: `${path}${separator}`, high: `${path} >!` };
}

/** The paths of a category and of all above it, the highest first. */
export function getPathsAbove(path: string): string[] {
  const paths: string[] = [];
  for (let end = path.indexOf(separator); end !== -1; end = path.indexOf(separator, end + 1)) {
    paths.push(path.slice(0, end));
  }
  paths.push(path);
  return paths;
}

/** How slugs write characters for which readers do not just leave out the accent. */
const written = new Map([...toWordMap('ä:ae ö:oe ü:ue ß:ss æ:ae ø:o œ:oe đ:d ł:l ı:i'), ['&', ' and ']]);

/** Accents of European letters. In other scripts a mark makes another letter: `が` is not `か`, and `й` is not `и`. */
const accents = /([\p{sc=Latin}\p{sc=Greek}])\p{Mn}+/gu;
/** Everything except Thai and Lao: NFKD would decompose one of their vowels. */
const notThai = /[^\p{sc=Thai}\p{sc=Laoo}]+/gu;
/** Invisible characters within a word. */
const unseen = /\ufe0f|[\u00ad\u200b-\u200f]/g;

/** The form of a name for a URL: `Küche & Bad` → `kueche-and-bad`. */
export function toSlug(name: string): string {
  const plain = name
    .normalize('NFC')
    .toLowerCase()
    .replace(unseen, '')
    .replace(/[äöüßæøœđłı&]/g, letter => written.get(letter) ?? letter)
    .replace(notThai, text => text.normalize('NFKD'))
    .replace(accents, '$1')
    .normalize('NFC');
  const words = plain.match(/[\p{Ll}\p{Lo}\p{Lm}\p{N}][\p{Ll}\p{Lo}\p{Lm}\p{N}\p{M}]*/gu) ?? [];
  let slug = '';
  for (const word of words) {
    const longer = slug === '' ? [...word].slice(0, maxWordLength).join('') : `${slug}-${word}`;
    if (longer.length > maxSlugLength - numberLength) break;
    slug = longer;
  }
  return slug === '' ? 'category' : slug;
}
