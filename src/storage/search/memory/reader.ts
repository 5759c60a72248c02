/**
 * Reads the search index, and what is asked of common words of products out of memory (words.ts). Words of few products
 * are read from the index; documents of other types are found by the index alone.
 */
import type { Choice, Expression, Term } from '../expression.ts';
import { type DocumentType, idAt, positionOf } from '../index.ts';
import { type SearchSession, spanOf } from '../reading/frequency.ts';
import type { SearchReader } from '../reading/index.ts';
import { documentsMeeting, type MetChoice, type MetGroup, testOf } from './meeting.ts';
import { type DocumentSet, setOf, sizeOf, someOf } from './set.ts';
import type { WordSets } from './words.ts';

/** Words of more products are kept in memory. */
const fewDocuments = 200;
/** Of words that are not, no more products are read. */
const mostRead = 2000;

/** What has been found out for one search. */
interface Known {
  readonly read: Map<string, DocumentSet | undefined>;
  readonly met: Map<string, DocumentSet | undefined>;
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

  /** The products that meet any of the terms; undefined where they are too many to be read. */
  async function readAny(session: SearchSession, known: Known, terms: readonly Term[]) {
    const group = terms.map(term => [term]);
    const key = JSON.stringify(group);
    if (known.read.has(key)) return known.read.get(key);
    const positions = await reader.page(session, [group], ['product'], { limit: mostRead + 1 });
    const found = positions.length > mostRead ? undefined : setOf(Uint32Array.from(positions, idAt));
    if (positions.length >= few || terms.some(({ mark }) => mark !== undefined)) {
      const [first = [], second] = terms.map(term => wordsMeeting(term) ?? []);
      const [word, longer] = first;
      const isOne = second === undefined && longer === undefined;
      if (isOne && word !== undefined && found !== undefined) words.keep(word, found, session.seen);
      else for (const each of terms.flatMap(term => wordsMeeting(term) ?? [])) words.want(each);
    }
    known.read.set(key, found);
    return found;
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
      const set = held ?? (await readAny(session, known, [term]));
      if (set === undefined) return undefined;
      sets.push(set);
    }
    return sets;
  }

  async function groupOf(session: SearchSession, known: Known, group: readonly Choice[]) {
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
    if (absent.length === 0) return met;
    const rest = await readAny(session, known, absent);
    return rest === undefined ? undefined : [...met, [rest]];
  }

  /** The sets of each group; undefined where one is not known. After one that nothing meets no other is asked for. */
  async function groupsOf(session: SearchSession, expression: Expression) {
    const known = searches.get(session) ?? { read: new Map(), met: new Map() };
    if (!searches.has(session)) {
      searches.set(session, known);
      await words.settle();
    }
    const groups: MetGroup[] = [];
    for (const group of expression) {
      const met = await groupOf(session, known, group);
      if (met === undefined) return undefined;
      groups.push(met);
      if (met.length === 0) break;
    }
    return groups;
  }

  /** The products that an expression finds; undefined where memory does not say. */
  async function productsMeeting(session: SearchSession, expression: Expression) {
    const key = JSON.stringify(expression);
    const met = searches.get(session)?.met;
    if (met?.has(key)) return met.get(key);
    const groups = await groupsOf(session, expression);
    const found = groups === undefined ? undefined : documentsMeeting(groups);
    searches.get(session)?.met.set(key, found);
    return found;
  }

  const withoutProducts = (types: readonly DocumentType[]) => types.filter(type => type !== 'product');

  return {
    ...reader,
    seen: words.seen,

    async page(session, expression, types, page) {
      const { limit, offset = 0, descending = false, smallest } = page;
      const met =
        descending || !types.includes('product') ? undefined : await productsMeeting(session, expression);
      if (met === undefined) return reader.page(session, expression, types, page);
      const span = spanOf(['product']);
      const { ids, left: skipped } = someOf(met, {
        low: Math.max(0, (page.low ?? 0) - span.low),
        high: Math.min(span.high, page.high ?? span.high) - span.low,
        skip: offset,
        limit,
      });
      const positions = ids.map(id => positionOf('product', id));
      const others = withoutProducts(types);
      if (ids.length >= limit || (await reader.isEmpty(session, others))) return positions;
      const rest = { ...page, limit: limit - ids.length, offset: skipped, smallest };
      return [...positions, ...(await reader.page(session, expression, others, rest))];
    },

    async among(session, group, positions, types, within) {
      const groups = types.includes('product') ? await groupsOf(session, [group]) : undefined;
      const [met] = groups ?? [];
      if (met === undefined) return reader.among(session, group, positions, types, within);
      const { high } = spanOf(['product']);
      const isMet = testOf(met);
      const found = positions.filter(position => position < high && isMet(idAt(position)));
      const others = withoutProducts(types);
      if ((positions.at(-1) ?? 0) < high) return found;
      return [...found, ...(await reader.among(session, group, positions, others, within))];
    },

    async counts(session, expression, types, smallest) {
      const met = types.includes('product') ? await productsMeeting(session, expression) : undefined;
      if (met === undefined) return reader.counts(session, expression, types, smallest);
      const others = withoutProducts(types);
      const counts = (await reader.isEmpty(session, others))
        ? new Map(others.map(type => [type, 0]))
        : await reader.counts(session, expression, others, smallest);
      return new Map(types.map(type => [type, type === 'product' ? sizeOf(met) : (counts.get(type) ?? 0)]));
    },

    async cached(session, expression, types, smallest) {
      const met = types.includes('product') ? await productsMeeting(session, expression) : undefined;
      return met === undefined ? reader.cached(session, expression, types, smallest) : undefined;
    },
  };
}
