/**
 * Reads the search index, and what is asked of common words of products out of memory (words.ts). Words of few products
 * are read from the index; documents of other types are found by the index alone.
 */
import type { Choice, Expression, Term } from '../expression.ts';
import { type DocumentType, idAt, positionOf, searchTypes, typeAt } from '../index.ts';
import { reachLimit, type SearchSession, spanOf } from '../reading/frequency.ts';
import type { SearchReader } from '../reading/index.ts';
import { documentsMeeting, type MetChoice, type MetGroup, testOf } from './meeting.ts';
import { type DocumentSet, setOf, sizeOf, someOf } from './set.ts';
import type { WordSets } from './words.ts';

/** Words of more products are kept in memory. */
const fewDocuments = 200;
/** Of words that are not, no more products are read. */
const mostRead = 2000;

/** What has been read from the index: the products, and the positions of all else. */
interface Read {
  readonly set: DocumentSet;
  readonly others: readonly number[];
}

/** What meets a group; `others` undefined where only the index tells. */
interface Group {
  readonly met: MetGroup;
  readonly others: readonly number[] | undefined;
}

/** What meets an expression. */
interface Found {
  readonly products: DocumentSet;
  readonly others: readonly number[] | undefined;
}

/** What has been found out for one search. */
interface Known {
  readonly read: Map<string, Read | undefined>;
  readonly met: Map<string, Found | undefined>;
}

const wordOf = ({ word, mark = '' }: Term): string => mark + word;

/** The words that meet a term; undefined where they are not known. */
function wordsMeeting(term: Term): readonly string[] | undefined {
  if (term.prefix !== true) return [wordOf(term)];
  return term.longer?.map(word => wordOf({ ...term, word })).concat(wordOf(term));
}

/** @param few words of more products are kept in memory */
export function memoryReader(reader: SearchReader, words: WordSets, few = fewDocuments): SearchReader {
  const searches = new WeakMap<SearchSession, Known>();

  /** What meets any of the terms; undefined where it is too many to be read. */
  async function readAny(session: SearchSession, known: Known, terms: readonly Term[]) {
    const group = terms.map(term => [term]);
    const key = JSON.stringify(group);
    if (known.read.has(key)) return known.read.get(key);
    const positions = await reader.page(session, [group], searchTypes, { limit: mostRead + 1 });
    const products = positions.filter(position => typeAt(position) === 'product');
    const set = setOf(Uint32Array.from(products, idAt));
    const found = positions.length > mostRead ? undefined : { set, others: positions.slice(products.length) };
    if (products.length >= few || terms.some(({ mark }) => mark !== undefined)) {
      const [first = [], second] = terms.map(term => wordsMeeting(term) ?? []);
      const [word, longer] = first;
      const isOne = second === undefined && longer === undefined;
      if (isOne && word !== undefined && found !== undefined) words.keep(word, set, session.seen);
      else for (const each of terms.flatMap(term => wordsMeeting(term) ?? [])) words.want(each);
    }
    known.read.set(key, found);
    return found;
  }

  /** The same; terms that have been read one by one are not read again. */
  async function readAll(session: SearchSession, known: Known, terms: readonly Term[]) {
    const found: Read[] = [];
    for (const term of terms) {
      const read = known.read.get(JSON.stringify([[term]]));
      if (read !== undefined) found.push(read);
    }
    if (found.length === terms.length) return found;
    const read = await readAny(session, known, terms);
    return read === undefined ? undefined : [read];
  }

  /** The sets of the words that meet a term, as far as they are in memory. */
  function setsOf(term: Term): readonly DocumentSet[] | undefined {
    const sets: DocumentSet[] = [];
    for (const word of wordsMeeting(term) ?? [undefined]) {
      const set = word === undefined ? undefined : words.get(word);
      if (set === undefined) return undefined;
      if (sizeOf(set) > 0) sets.push(set);
    }
    return sets;
  }

  async function choiceOf(session: SearchSession, known: Known, choice: Choice) {
    const sets: DocumentSet[] = [];
    for (const term of choice) {
      const held = term.prefix === true ? undefined : words.get(wordOf(term));
      const set = held ?? (await readAny(session, known, [term]))?.set;
      if (set === undefined) return undefined;
      sets.push(set);
    }
    return sets;
  }

  async function groupOf(
    session: SearchSession,
    known: Known,
    group: readonly Choice[],
  ): Promise<Group | undefined> {
    const met: MetChoice[] = [];
    const absent: Term[] = [];
    for (const choice of group) {
      const [only, second] = choice;
      if (only !== undefined && second === undefined) {
        const sets = setsOf(only);
        if (sets === undefined) absent.push(only);
        else for (const set of sets) met.push([set]);
        continue;
      }
      const several = await choiceOf(session, known, choice);
      if (several === undefined) return undefined;
      met.push(several);
    }
    const isRead = absent.length === group.length;
    const read = absent.length === 0 ? [] : await readAll(session, known, absent);
    if (read === undefined) return undefined;
    for (const { set } of read) if (sizeOf(set) > 0) met.push([set]);
    const others = read.length === 1 ? (read[0]?.others ?? []) : sorted(read.flatMap(one => one.others));
    return { met, others: isRead ? others : undefined };
  }

  async function knownOf(session: SearchSession): Promise<Known> {
    const known = searches.get(session) ?? { read: new Map(), met: new Map() };
    if (searches.has(session)) return known;
    searches.set(session, known);
    await words.settle();
    return known;
  }

  /** What an expression finds; undefined where memory does not say. */
  async function meeting(session: SearchSession, expression: Expression): Promise<Found | undefined> {
    const known = await knownOf(session);
    const key = JSON.stringify(expression);
    if (known.met.has(key)) return known.met.get(key);
    const groups: Group[] = [];
    for (const group of expression) {
      const found = await groupOf(session, known, group);
      if (found === undefined) {
        known.met.set(key, undefined);
        return undefined;
      }
      groups.push(found);
      if (found.met.length === 0 && found.others?.length === 0) break;
    }
    const products = documentsMeeting(groups.map(({ met }) => met));
    const found = { products, others: othersMeeting(groups) };
    known.met.set(key, found);
    return found;
  }

  const withoutProducts = (types: readonly DocumentType[]): readonly DocumentType[] =>
    types.filter(type => type !== 'product');

  return {
    ...reader,
    seen: words.seen,

    async page(session, expression, types, page) {
      const { limit, offset = 0, descending = false } = page;
      const found = descending || !types.includes('product') ? undefined : await meeting(session, expression);
      if (found === undefined) return reader.page(session, expression, types, page);
      const span = spanOf(['product']);
      const { ids, left: skipped } = someOf(found.products, {
        low: Math.max(0, (page.low ?? 0) - span.low),
        high: Math.min(span.high, page.high ?? span.high) - span.low,
        skip: offset,
        limit,
      });
      const positions = ids.map(id => positionOf('product', id));
      const left = limit - ids.length;
      const others = withoutProducts(types);
      if (left <= 0) return positions;
      if (found.others !== undefined) {
        const { low = 0, high = Number.POSITIVE_INFINITY } = page;
        const those = found.others.filter(at => at >= low && at < high && others.includes(typeAt(at)));
        return [...positions, ...those.slice(skipped, skipped + left)];
      }
      if (await reader.isEmpty(session, others)) return positions;
      const rest = { ...page, limit: left, offset: skipped };
      return [...positions, ...(await reader.page(session, expression, others, rest))];
    },

    async frequency(session, expression, types, smallest) {
      if (expression.length === 1 && types.includes('product')) {
        const found = await meeting(session, expression);
        const others = found?.others?.filter(at => types.includes(typeAt(at)));
        const total = sizeOf(found?.products ?? noDocuments) + (others?.length ?? reachLimit);
        if (total < reachLimit) return total;
      }
      return reader.frequency(session, expression, types, smallest);
    },

    async among(session, group, positions, types, within) {
      const known = await knownOf(session);
      const found = types.includes('product') ? await groupOf(session, known, group) : undefined;
      if (found === undefined) return reader.among(session, group, positions, types, within);
      const { high } = spanOf(['product']);
      const isMet = testOf(found.met);
      const those = positions.filter(position => position < high && isMet(idAt(position)));
      const others = withoutProducts(types);
      if ((positions.at(-1) ?? 0) < high) return those;
      const beyond = positions.filter(position => position >= high);
      return [...those, ...(await reader.among(session, group, beyond, others, within))];
    },

    async counts(session, expression, types, smallest) {
      const found = types.includes('product') ? await meeting(session, expression) : undefined;
      if (found === undefined) return reader.counts(session, expression, types, smallest);
      const others = withoutProducts(types);
      const counts =
        found.others !== undefined || (await reader.isEmpty(session, others))
          ? countsOf(found.others ?? [], others)
          : await reader.counts(session, expression, others, smallest);
      return new Map(
        types.map(type => [type, type === 'product' ? sizeOf(found.products) : (counts.get(type) ?? 0)]),
      );
    },

    async cached(session, expression, types, smallest) {
      const found = types.includes('product') ? await meeting(session, expression) : undefined;
      return found === undefined ? reader.cached(session, expression, types, smallest) : undefined;
    },
  };
}

const noDocuments = setOf(new Uint32Array());
const sorted = (positions: readonly number[]) => [...new Set(positions)].sort((a, b) => a - b);

/** What is no product and meets all groups, where that is known. */
function othersMeeting(groups: readonly Group[]): readonly number[] | undefined {
  if (groups.some(({ others }) => others?.length === 0)) return [];
  let found: readonly number[] | undefined;
  for (const { others } of groups) {
    if (others === undefined) return undefined;
    found = found === undefined ? others : found.filter(position => others.includes(position));
  }
  return found;
}

function countsOf(positions: readonly number[], types: readonly DocumentType[]): Map<DocumentType, number> {
  const counts = new Map<DocumentType, number>(types.map(type => [type, 0]));
  for (const position of positions) {
    const type = typeAt(position);
    if (counts.has(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}
