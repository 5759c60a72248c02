/**
 * Finds the products that meet an expression, from what is in memory and what one search reads from the index, and the
 * documents of other types.
 */

import { boundedMap } from '../../../bounded-map.ts';
import { once } from '../../../slices.ts';
import type { Choice, Expression, Term } from '../expression.ts';
import { idAt, searchTypes, typeAt } from '../index.ts';
import type { SearchSession } from '../reading/frequency.ts';
import { mostDocuments, type SearchReader } from '../reading/index.ts';
import { documentsMeeting, type MetChoice, type MetGroup } from './meeting.ts';
import { type DocumentSet, setOf, sizeOf } from './set.ts';
import type { WordSets } from './words.ts';

/** Of a word in memory, documents that are no products, at most; and words of which they are kept. */
const mostOthers = 500;
const mostWords = 5000;
const otherTypes = searchTypes.filter(type => type !== 'product');

/** Positions of documents that are no products; undefined where they have to be read from the index. */
type Others = readonly number[] | undefined;

/** What has been read from the index: the products, and the positions of all else. */
interface Read {
  readonly set: DocumentSet;
  readonly others: readonly number[];
}

/** What meets a group. */
interface Group {
  readonly met: MetGroup;
  others(): Promise<Others>;
}

/** What meets an expression. */
interface Found {
  readonly products: DocumentSet;
  others(): Promise<Others>;
}

/** What has been found out for one search. */
interface Known {
  readonly read: Map<string, Read | undefined>;
  readonly met: Map<string, Found | undefined>;
}

export interface Finder {
  /** Reads what the search will need and is not in memory, as far as one statement is cheaper than several. */
  fetch(session: SearchSession, terms: readonly Term[]): Promise<void>;
  /** What meets a term that few documents meet; undefined where that is not known. */
  read(session: SearchSession, term: Term): Promise<Read | undefined>;
  /** Notes what was read of a term. @param positions of all that meets it */
  hold(session: SearchSession, term: Term, positions: readonly number[]): Promise<void>;
  /** What meets a group; undefined where memory does not say. */
  group(session: SearchSession, group: readonly Choice[]): Promise<Group | undefined>;
  /** What meets an expression; undefined where memory does not say. */
  meeting(session: SearchSession, expression: Expression): Promise<Found | undefined>;
}

const wordOf = ({ word, mark = '' }: Term): string => mark + word;

const keyOf = (terms: readonly Term[]): string =>
  terms
    .map(term => `${wordOf(term)}${term.prefix === true ? '*' : ''}${term.longer?.join('+') ?? ''}`)
    .join(' ');

/** The words that meet a term; undefined where they are not known. */
function wordsMeeting(term: Term): readonly string[] | undefined {
  if (term.prefix !== true) return [wordOf(term)];
  return term.longer?.map(word => wordOf({ ...term, word })).concat(wordOf(term));
}

/** @param few words of more products are kept in memory */
export function finder(reader: SearchReader, words: WordSets, few: number): Finder {
  const searches = new WeakMap<SearchSession, Known>();
  const othersOfWords = boundedMap<string, { readonly seen: number; readonly others: Others }>(mostWords);

  async function knownOf(session: SearchSession): Promise<Known> {
    const known = searches.get(session) ?? { read: new Map(), met: new Map() };
    if (searches.has(session)) return known;
    searches.set(session, known);
    await words.settle();
    return known;
  }

  /** What meets any of the terms; undefined where it is too many to be read. */
  async function readAny(session: SearchSession, known: Known, terms: readonly Term[]) {
    const key = keyOf(terms);
    if (known.read.has(key)) return known.read.get(key);
    const group = terms.map(term => [term]);
    const positions = await reader.page(session, [group], searchTypes, { limit: mostDocuments });
    return hold(session, known, terms, positions);
  }

  /** @param positions of all that meets any of the terms, or too many */
  function hold(session: SearchSession, known: Known, terms: readonly Term[], positions: readonly number[]) {
    const products = positions.filter(position => typeAt(position) === 'product');
    const set = setOf(Uint32Array.from(products, idAt));
    const others = positions.slice(products.length);
    const found = positions.length >= mostDocuments ? undefined : { set, others };
    if (products.length >= few || terms.some(({ mark }) => mark !== undefined)) {
      const [first = [], second] = terms.map(term => wordsMeeting(term) ?? []);
      const [word, longer] = first;
      const isOne = second === undefined && longer === undefined;
      if (isOne && word !== undefined && found !== undefined) words.keep(word, set, session.seen);
      else for (const each of terms.flatMap(term => wordsMeeting(term) ?? [])) words.want(each);
    }
    known.read.set(keyOf(terms), found);
    return found;
  }

  /** The same; terms that have been read one by one are not read again. */
  async function readAll(session: SearchSession, known: Known, terms: readonly Term[]) {
    const found: Read[] = [];
    for (const term of terms) {
      const read = known.read.get(keyOf([term]));
      if (read !== undefined) found.push(read);
    }
    if (found.length === terms.length) return found;
    const read = await readAny(session, known, terms);
    return read === undefined ? undefined : [read];
  }

  /** Documents of other types with a word that is in memory. */
  async function othersOf(session: SearchSession, word: string): Promise<Others> {
    if (await reader.isEmpty(session, otherTypes)) return [];
    const seen = words.othersSeen();
    const known = othersOfWords.get(word);
    if (known?.seen === seen) return known.others;
    const page = { limit: mostOthers + 1 };
    const positions = await reader.page(session, [[[{ word }]]], otherTypes, page);
    const others = positions.length > mostOthers ? undefined : positions;
    if (seen === words.othersSeen()) othersOfWords.set(word, { seen, others });
    return others;
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

  /** Of several terms that have to be met together. */
  async function choiceOf(session: SearchSession, known: Known, choice: Choice) {
    const sets: DocumentSet[] = [];
    const others: (() => Promise<Others>)[] = [];
    for (const term of choice) {
      const held = term.prefix === true ? undefined : words.get(wordOf(term));
      const read = held === undefined ? await readAny(session, known, [term]) : undefined;
      const set = held ?? read?.set;
      if (set === undefined) return undefined;
      sets.push(set);
      others.push(() =>
        read === undefined ? othersOf(session, wordOf(term)) : Promise.resolve(read.others),
      );
    }
    return { sets, others: () => inAll(others) };
  }

  async function groupOf(
    session: SearchSession,
    known: Known,
    group: readonly Choice[],
  ): Promise<Group | undefined> {
    const met: MetChoice[] = [];
    const others: (() => Promise<Others>)[] = [];
    const absent: Term[] = [];
    for (const choice of group) {
      const [only, second] = choice;
      if (only !== undefined && second === undefined) {
        const sets = setsOf(only);
        if (sets === undefined) {
          absent.push(only);
          continue;
        }
        for (const set of sets) met.push([set]);
        for (const word of wordsMeeting(only) ?? []) others.push(() => othersOf(session, word));
        continue;
      }
      const several = await choiceOf(session, known, choice);
      if (several === undefined) return undefined;
      met.push(several.sets);
      others.push(several.others);
    }
    const read = absent.length === 0 ? [] : await readAll(session, known, absent);
    if (read === undefined) return undefined;
    for (const one of read) {
      if (sizeOf(one.set) > 0) met.push([one.set]);
      others.push(async () => one.others);
    }
    return { met, others: once(() => inAny(others)) };
  }

  return {
    async fetch(session, terms) {
      const known = await knownOf(session);
      const isAbsent = (term: Term) => setsOf(term) === undefined && !known.read.has(keyOf([term]));
      const absent = terms.filter(isAbsent);
      const read = absent.length === 0 ? undefined : await reader.documentsOf(session, absent);
      for (const [index, positions] of read?.entries() ?? []) {
        const term = absent[index];
        if (term !== undefined && positions !== undefined) hold(session, known, [term], positions);
      }
    },

    async read(session, term) {
      return (await knownOf(session)).read.get(keyOf([term]));
    },

    async hold(session, term, positions) {
      hold(session, await knownOf(session), [term], positions);
    },

    async group(session, group) {
      return groupOf(session, await knownOf(session), group);
    },

    async meeting(session, expression) {
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
        if (found.met.length === 0 && (await found.others())?.length === 0) break;
      }
      const products = documentsMeeting(groups.map(({ met }) => met));
      const found = { products, others: once(() => inAll(groups.map(({ others }) => others))) };
      known.met.set(key, found);
      return found;
    },
  };
}

/** What is in all of the lists; where one is empty, the others are not read. */
async function inAll(lists: readonly (() => Promise<Others>)[]): Promise<Others> {
  let found: Others;
  let isKnown = true;
  for (const list of lists) {
    const own = await list();
    if (own?.length === 0) return [];
    if (own === undefined) isKnown = false;
    else found = found === undefined ? own : found.filter(position => own.includes(position));
  }
  return isKnown ? found : undefined;
}

/** What is in any of the lists, ascending. */
async function inAny(lists: readonly (() => Promise<Others>)[]): Promise<Others> {
  const found = new Set<number>();
  for (const list of lists) {
    const own = await list();
    if (own === undefined) return undefined;
    for (const position of own) found.add(position);
  }
  return [...found].sort((a, b) => a - b);
}
