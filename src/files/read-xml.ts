/**
 * Reads XML feeds, RSS 2.0 and Atom: each `item` or `entry` is a record, and the elements in it are its columns.
 * The first error in well-formedness ends the reading, as a parser must stop there (XML 1.0 section 1.2). Entities
 * that a document declares are not expanded.
 */
import sax from 'sax';
import { type DecodedText, readWholeCharacters } from './read-text.ts';
import {
  createUnreadableRecord,
  holdsDamage,
  maxRawOfTooLong,
  maxRecordLength,
  notUtf8,
  type SourceRecord,
  tooLong,
} from './record.ts';

export interface FeedOptions {
  /** Elements that may occur several times in an item: their texts are joined by commas. Others use the first one. */
  readonly repeated?: Pick<RegExp, 'test'> | undefined;
  /** Elements → the names of the parts that a table joins by colons; names that share a place are separated by `|`. */
  readonly places?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** At most this many different elements in all items. */
const maxColumns = 1000;

/** The most text kept of an open tag; the parser refuses longer names and values of attributes. */
const maxTagLength = 256 * 1024;

/** Limits for nested elements, and for attributes of one element: the parser keeps all of those of open tags. */
const [deepest, maxAttributes] = [1000, 1000];

const noItems = 'is XML without an <item> or <entry>, which feeds for Google and catalogs of Meta have';
/** The parser's message for text that is too long for its buffer. */
const tooLongMessage = 'Max buffer length exceeded';
/** Addresses such as `?size=8&colour=red` are copied into feeds as they are. */
const bareAmpersand = ' (a & in a text or an address must be written as &amp;)';
const tooLongMarkup = 'has a comment, a tag or other markup that is too long';
const tooManyColumns = `has more than ${maxColumns} different elements in its items`;

/** Text, and the name of the inner element that contains it. */
interface Part {
  readonly inner: string;
  readonly text: string;
}

/**
 * `g:title` takes precedence over `title`, which feeds also have for other readers, and both do over `media:title`, of
 * another namespace than Google's.
 */
type Rank = 'own' | 'plain' | 'other';

const order: readonly Rank[] = ['other', 'plain', 'own'];

const isHigher = (one: Rank, than: Rank): boolean => order.indexOf(one) > order.indexOf(than);

interface Element {
  readonly name: string;
  readonly rank: Rank;
  readonly parts: Part[];
  /** The name of the open inner element. */
  inner: string;
  text: string;
  hasElements: boolean;
  /** Whether the element has text besides its inner elements. */
  hasText: boolean;
}

/** Elements whose inner elements are HTML. In others they are values, joined as in a table: `US:CA:Ground:7.00 USD`. */
const prose = /^(?:description|content|summary|title|subtitle|short_title|encoded)$/;

interface Item {
  readonly line: number;
  /** The position of the item in the text of the file. */
  readonly start: number;
  readonly elements: Map<string, { readonly rank: Rank; readonly texts: string[] }>;
  /** The beginning of an item that is longer than a record may be; the rest of it is not kept. */
  beginning?: string;
}

/** Yields the records of one piece of text at a time. Throws only what the source throws. */
export async function* readXmlFeed(
  source: AsyncIterable<Uint8Array>,
  options: FeedOptions = {},
): AsyncGenerator<SourceRecord[]> {
  const feed = createFeedParser(options);
  for await (const piece of readWholeCharacters(source)) {
    yield feed.parse(piece);
    if (feed.isStopped()) return;
  }
  yield feed.end();
}

function createFeedParser({ repeated, places }: FeedOptions) {
  const parser = sax.parser(true, { position: true });
  const records: SourceRecord[] = [];
  let isStopped = false;
  let hasItems = false;
  /** All columns so far; the last record has those of the whole file. */
  let columns: readonly string[] = [];
  const known = new Set<string>();
  /** Prefixes of other namespaces than Google's. */
  const others = new Set<string>();
  let item: Item | undefined;
  let element: Element | undefined;
  /** The depth of the open element below its item. */
  let depth = 0;
  /** The number of open elements, and of attributes of the last one. */
  let [open, tagAttributes] = [0, 0];
  /** The text that contains the item, and its position in the file. */
  let [held, heldFrom] = ['', 0];
  let isDamaged = false;

  function refuseFile(problem: string): void {
    if (!isStopped) records.push({ ...createUnreadableRecord(parser.line + 1, problem, ''), fatal: true });
    isStopped = true;
  }
  /** Files use `g` for Google's namespace even where they declare another address for it, or none. */
  function addNamespace(prefix: string, address: string): void {
    if (prefix === 'g' || address.includes('base.google.com') || others.size >= maxAttributes) return;
    others.add(prefix);
  }
  const getRank = (prefix: string): Rank => (prefix === '' ? 'plain' : others.has(prefix) ? 'other' : 'own');
  function toRecord({ line, start, elements, beginning }: Item): SourceRecord {
    if (beginning !== undefined) return createUnreadableRecord(line, tooLong, beginning);
    const raw = held.slice(Math.max(0, start - heldFrom), parser.position - heldFrom);
    if (holdsDamage(isDamaged, raw)) return createUnreadableRecord(line, notUtf8, raw);
    const value = Object.fromEntries([...elements].map(([name, { texts }]) => [name, joinList(texts)]));
    const added = Object.keys(value).filter(name => !known.has(name));
    for (const name of added) known.add(name);
    if (added.length > 0) columns = [...columns, ...added];
    return { line, value, columns, error: undefined, raw };
  }
  function endItem(ended: Item): void {
    if (isStopped) return;
    // An empty item is skipped, like a blank line of a table.
    if (ended.elements.size > 0 || ended.beginning !== undefined) records.push(toRecord(ended));
    if (known.size > maxColumns) refuseFile(tooManyColumns);
  }
  function endElement({ elements }: Item, { name, rank, parts, hasElements, hasText }: Element): void {
    const isStructured = hasElements && !hasText && !prose.test(name);
    const own = isStructured ? joinPlaces(parts, places?.get(name)) : parts.map(({ text }) => text).join(' ');
    const had = elements.get(name);
    if (own === '') return;
    if (had === undefined || isHigher(rank, had.rank)) elements.set(name, { rank, texts: [own] });
    else if (had.rank === rank && repeated?.test(name) === true) had.texts.push(own);
  }

  parser.onopentagstart = () => {
    tagAttributes = 0;
    open += 1;
    if (open > deepest) refuseFile(`has elements more than ${deepest} deep in one another`);
  };
  parser.onattribute = ({ name, value }) => {
    if (name.startsWith('xmlns:')) addNamespace(name.slice('xmlns:'.length), value);
    tagAttributes += 1;
    if (tagAttributes > maxAttributes)
      refuseFile(`has an element with more than ${maxAttributes} attributes`);
  };
  parser.onopentag = ({ name, attributes }) => {
    const at = name.indexOf(':');
    const local = name.slice(at + 1);
    if (item === undefined) {
      if (local !== 'item' && local !== 'entry') return;
      item = { line: parser.line + 1, start: parser.startTagPosition - 1, elements: new Map() };
      hasItems = true;
      return;
    }
    depth += 1;
    if (item.beginning !== undefined) return;
    if (element === undefined) {
      const text = typeof attributes.href === 'string' ? attributes.href : '';
      element = {
        ...{ name: local, rank: getRank(name.slice(0, Math.max(0, at))), parts: [], inner: '', text },
        ...{ hasElements: false, hasText: false },
      };
      return;
    }
    splitText(element, depth === 2);
    if (depth === 2) element.inner = local;
    element.hasElements = true;
  };
  parser.ontext = text => {
    if (element !== undefined) element.text += text;
  };
  parser.oncdata = parser.ontext;
  parser.onclosetag = () => {
    open -= 1;
    if (item === undefined) return;
    if (depth === 0) {
      endItem(item);
      item = undefined;
      return;
    }
    depth -= 1;
    if (element === undefined) return;
    splitText(element, depth === 0);
    if (depth > 0) return;
    endElement(item, element);
    element = undefined;
  };
  parser.onerror = ({ message }) => {
    const [first = ''] = message.split('\n');
    const advice = first.includes('entity') ? bareAmpersand : '';
    refuseFile(
      first.startsWith(tooLongMessage) ? tooLongMarkup : `is not well-formed XML: ${first}${advice}`,
    );
  };

  /**
   * The start of the text that is needed for `raw`: that of the item, or of a tag that may begin one. Before the first
   * tag, `startTagPosition` is not set, although its type says so.
   */
  const findFirstNeeded = (): number =>
    item === undefined || item.beginning !== undefined
      ? Math.min(
          parser.position,
          Math.max((parser.startTagPosition || 1) - 1, parser.position - maxTagLength),
        )
      : item.start;
  const take = (): SourceRecord[] => records.splice(0);
  return {
    parse({ text, damaged }: DecodedText): SourceRecord[] {
      const from = findFirstNeeded();
      held = held.slice(from - heldFrom) + text;
      heldFrom = from;
      isDamaged ||= damaged;
      parser.write(text);
      if (item !== undefined && parser.position - item.start > maxRecordLength) {
        item.beginning ??= held.slice(item.start - heldFrom).slice(0, maxRawOfTooLong);
        element = undefined;
      }
      return take();
    },
    /** @returns the records that the end of the text completes */
    end(): SourceRecord[] {
      if (!isStopped) parser.close();
      if (!hasItems) refuseFile(noItems);
      return take();
    },
    isStopped: () => isStopped,
  };
}

/**
 * Ends a part of text at an inner element: the texts before and after it are separate parts.
 * @param isOwn whether the text is directly in the element, not in an inner one
 */
function splitText(element: Element, isOwn: boolean): void {
  const text = element.text.trim();
  if (text !== '') element.parts.push({ inner: element.inner, text });
  if (text !== '' && isOwn) element.hasText = true;
  element.text = '';
}

/** Joins parts as a table writes them: a missing part leaves its place empty, except at the end. */
function joinPlaces(parts: readonly Part[], places: readonly string[] = []): string {
  const placed: string[] = [];
  const others: string[] = [];
  for (const { inner, text } of parts) {
    const at = places.findIndex(names => names.split('|').includes(inner));
    if (at < 0 || placed[at] !== undefined) others.push(text);
    else placed[at] = text;
  }
  return [...placed, ...others].map(text => text ?? '').join(':');
}

/** Joins texts to a list as in a table: a text with a comma is quoted, unless it is a URL. */
function joinList(texts: readonly string[]): string {
  const [only = ''] = texts;
  if (texts.length === 1) return only;
  return texts.map(text => (text.includes(',') && !/"|:\/\//.test(text) ? `"${text}"` : text)).join(',');
}
