/** Reads categories of feeds: the shop's own types, with commas between and in them, or those of Google and Meta. */
import { keepDeepestPaths } from '../../../../files/cells/list.ts';
import type { AttributeSet } from '../attributes.ts';
import { decodePlainText, parsePath } from '../cells.ts';
import type { Drafting, Row } from '../preset.ts';

/** The shop's own types; if there are none, the category of Google or Meta, unless it is only a number. */
export function readCategories(
  row: Row,
  drafting: Drafting,
  attributes: AttributeSet,
): [main: string | undefined, further: string[]] {
  const theirs = [
    ['google_product_category', decodePlainText(row.text('googleCategory'))],
    ['fb_product_category', decodePlainText(row.text('facebookCategory'))],
  ] as const;
  const types = decodePlainText(row.text('productType'));
  const [own, ...further] = keepDeepestPaths(
    theirs.some(([, text]) => text !== '' && text === types)
      ? [parsePath(types, '>', drafting)]
      : splitTypes(types, drafting),
  );
  const path = own === undefined ? theirs.find(([, text]) => text !== '' && !/^\d+$/.test(text)) : undefined;
  for (const [name, text] of theirs) if (text !== path?.[1]) attributes.add(name, text);
  return path === undefined ? [own, further] : [parsePath(path[1], '>', drafting), []];
}

/**
 * `Shoes > Running, Sale` is two types, but `Food, Beverages & Tobacco > Coffee` is one: a single name before the first
 * comma begins the path after it. Quotes, as in `"Sale, new", Shoes`, mark a comma that belongs to a name.
 */
function splitTypes(text: string, drafting: Drafting): string[] {
  const separator = drafting.cells.categorySeparator ?? '>';
  const { bare, names } = replaceQuotedNames(text);
  const [first = '', second, ...others] = bare.split(',');
  const isPath = (part: string | undefined): boolean => part?.includes(separator) === true;
  const isOne = first.trim() !== '' && !names.has(first.trim()) && !isPath(first) && isPath(second);
  const parts = isOne ? [`${first},${second}`, ...others] : bare.split(',');
  return parts
    .map(part => {
      // The quotes are around the whole path, whose commas belong to names: feeds as XML have several elements.
      const whole = names.get(part.trim());
      if (whole !== undefined) return parsePath(whole, separator, drafting);
      return parsePath(part, separator, drafting).replace(marks, mark => names.get(mark) ?? mark);
    })
    .filter(path => path !== '');
}

/** Private-use characters that stand for quoted names while a text is split; shops do not use them. */
const firstMark = 0xf0000;
const maxMarks = 100;
const marks = /[\u{F0000}-\u{F0063}]/gu;

/** Matches whole quoted names; a quote elsewhere, as in `19" racks`, means inches. */
const quoted = /(^|[,>/|])\s*"([^"]{1,1000})"\s*(?=$|[,>/|])/g;

function replaceQuotedNames(text: string) {
  const names = new Map<string, string>();
  const bare = text.replace(quoted, (whole, before: string, name: string) => {
    if (names.size >= maxMarks) return whole;
    const mark = String.fromCodePoint(firstMark + names.size);
    names.set(mark, name.trim());
    return `${before}${mark}`;
  });
  return { bare, names };
}
