/** The text of a description that may be HTML: without its tags, as a reader sees it. */
import { toWordMap } from '../../../arrays/words.ts';

/** The elements of HTML; anything else that looks like a tag is text. */
const elements = new Set(
  `a abbr acronym address area article audio b base basefont bdi bdo big blockquote body br button canvas caption
  center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure
  font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li
  link main map mark marquee menu meta meter nav noframes noscript object ol optgroup option output p param picture pre
  progress q rp rt ruby s samp script search section select slot small source span strike strong style sub summary sup
  svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr`.split(/\s+/),
);
/** Elements whose content is not for readers. */
const hidden = new Set(['script', 'style', 'template', 'noscript', 'svg']);
/** Elements within a line: their tags do not separate words. */
const inline = new Set('a abbr b em i mark s small span strong sub sup u wbr font'.split(' '));

const entities: ReadonlyMap<string, string> = new Map([
  ...toWordMap(
    `amp:& lt:< gt:> quot:" apos:' shy: ndash:– mdash:— rsquo:’ lsquo:‘ rdquo:” ldquo:“ hellip:… bull:• middot:· trade:™
    reg:® copy:© deg:° times:× euro:€ auml:ä ouml:ö uuml:ü Auml:Ä Ouml:Ö Uuml:Ü szlig:ß eacute:é egrave:è`,
  ),
  ['nbsp', ' '],
]);
const entity = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g;
const maxNameLength = 41;
const blank = /\s/;

/** Text without markup; text that has none is returned unchanged. Takes linear time for any text. */
export function toPlainText(text: string): string {
  const plain = text.includes('<') ? removeTags(text) : text;
  return decodeEntities(plain);
}

/** Replaces entities such as `&amp;` and `&#8211;` with their characters. Takes linear time for any text. */
export const decodeEntities = (text: string): string =>
  text.includes('&') ? text.replace(entity, decodeEntity) : text;

function removeTags(text: string): string {
  let result = '';
  // Reading this from `result` would join the pieces of that string again for each tag.
  let isSpaced = false;
  let at = 0;
  /** Hidden elements without another end tag: searching for the end of each again would take quadratic time. */
  const endless = new Set<string>();
  const findClose = createCloseFinder(text);
  /** After this position there is no `>`, and so no tag. */
  const lastEnd = text.lastIndexOf('>');
  for (let open = text.indexOf('<'); open >= 0 && open < lastEnd; open = text.indexOf('<', open)) {
    const name = readTagName(text, open);
    const end = findTagEnd(text, open, name, findClose);
    if (end === undefined) {
      open += 1;
      continue;
    }
    if (open > at) {
      result += text.slice(at, open);
      isSpaced = text.charCodeAt(open - 1) === space;
    }
    if (!isSpaced && !inline.has(name)) {
      result += ' ';
      isSpaced = true;
    }
    at = end;
    if (hidden.has(name) && text[open + 1] !== '/' && !endless.has(name)) {
      const last = findContentEnd(text, name, end);
      if (last === undefined) endless.add(name);
      else at = last;
    }
    open = at;
  }
  return (result + text.slice(at)).trim();
}

/** The name of a tag in lower case, or empty. Parsed by hand: a long text may have a tag for every three characters. */
function readTagName(text: string, open: number): string {
  const start = text.charCodeAt(open + 1) === slash ? open + 2 : open + 1;
  if (!isLetter(text.charCodeAt(start))) return '';
  let end = start + 1;
  while (end - start <= maxNameLength && isOfName(text.charCodeAt(end))) end++;
  const isName = end - start <= maxNameLength && isEndOfName(text.charCodeAt(end));
  return isName ? text.slice(start, end).toLowerCase() : '';
}

const space = 0x20;
const slash = 0x2f;
const equals = 0x3d;
const tagClose = 0x3e;

const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
/** Letters, digits, a colon and a hyphen. */
const isOfName = (code: number): boolean => isLetter(code) || (code >= 0x30 && code <= 0x3a) || code === 0x2d;
const isEndOfName = (code: number): boolean =>
  code === tagClose || code === slash || code === space || blank.test(String.fromCharCode(code));

/** The position after the tag or comment that begins here; undefined if none does. */
function findTagEnd(text: string, open: number, name: string, findClose: CloseFinder): number | undefined {
  if (text.startsWith('<!--', open)) {
    const end = text.indexOf('-->', open + 4);
    return end < 0 ? text.length : end + 3;
  }
  return elements.has(name) || name.includes('-') || name.includes(':') ? findClose(open) : undefined;
}

/** Finds the position after the `>` that ends a tag; undefined if none does. */
type CloseFinder = (open: number) => number | undefined;

/** A `>` between the quotation marks of an attribute does not end its tag. */
function createCloseFinder(text: string): CloseFinder {
  /** After a tag whose quotation marks do not pair, any `>` is an end: reading on each time would take quadratic time. */
  let arePaired = true;
  return open => {
    const close = arePaired ? findUnquoted(text, open) : undefined;
    if (close !== undefined) return close;
    arePaired = false;
    const first = text.indexOf('>', open);
    return first < 0 ? undefined : first + 1;
  };
}

/** The position after the first `>` that is not in quotation marks after a `=`; undefined if there is none. */
function findUnquoted(text: string, open: number): number | undefined {
  for (let at = open; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === tagClose) return at + 1;
    if (code !== equals) continue;
    const quote = text.charAt(findNonBlank(text, at + 1));
    if (quote !== '"' && quote !== "'") continue;
    at = text.indexOf(quote, text.indexOf(quote, at) + 1);
    if (at < 0) return undefined;
  }
  return undefined;
}

function findNonBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && blank.test(text.charAt(at))) at++;
  return at;
}

/** The position after the end tag of an element whose content is left out; undefined if it has none. */
function findContentEnd(text: string, name: string, from: number): number | undefined {
  let end = text.indexOf('</', from);
  while (end >= 0 && readTagName(text, end) !== name) end = text.indexOf('</', end + 2);
  if (end < 0) return undefined;
  const close = text.indexOf('>', end);
  return close < 0 ? text.length : close + 1;
}

const maxCodePoint = 0x10ffff;

function decodeEntity(found: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return entities.get(name) ?? found;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const isCharacter = code >= 0x20 && code <= maxCodePoint && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : ' ';
}
