/**
 * Finds the products and other documents that match an expression, from what is in memory and what one search reads
 * from the index.
 */

import { createBoundedMap } from '../../../bounded-map.ts';
import { runOnce } from '../../../turns/slices.ts';
import type { Choice, Expression, Term } from '../expression.ts';
import { getDocumentId, getDocumentType, searchTypes } from '../index.ts';
import type { SearchSession } from '../reading/frequency.ts';
import { maxDocuments, type SearchReader } from '../reading/index.ts';
import { type ChoiceSets, findMatchingDocuments, type GroupSets } from './matching.ts';
import { countDocuments, type DocumentSet, toDocumentSet } from './set.ts';
import type { WordSets } from './words.ts';

/** The most documents other than products that are cached for a word, and the most words that have some cached. */
const maxOthers = 500;
const maxWords = 5000;
const otherTypes = searchTypes.filter(type => type !== 'product');

/** Positions of documents that are not products; undefined if they must be read from the index. */
type Others = readonly number[] | undefined;

/** What was read from the index: the products, and the positions of all other documents. */
interface Read {
  readonly set: DocumentSet;
  readonly others: readonly number[];
}

/** The documents that match a group. */
interface Group {
  readonly choices: GroupSets;
  others(): Promise<Others>;
}

/** The documents that match an expression. */
interface Found {
  readonly products: DocumentSet;
  others(): Promise<Others>;
}

/** The results that are cached for one search. */
interface Memo {
  readonly read: Map<string, Read | undefined>;
  readonly found: Map<string, Found | undefined>;
}

const toWord = ({ word, mark = '' }: Term): string => mark + word;

const toKey = (terms: readonly Term[]): string =>
  terms
    .map(term => `${toWord(term)}${term.prefix === true ? '*' : ''}${term.longer?.join('+') ?? ''}`)
    .join(' ');

/** The words that match a term; undefined if unknown. */
function listMatchingWords(term: Term): readonly string[] | undefined {
  if (term.prefix !== true) return [toWord(term)];
  return term.longer?.map(word => toWord({ ...term, word })).concat(toWord(term));
}

/** @param positions ascending: those of products come first */
function splitPositions(positions: readonly number[]): Read {
  const products = positions.filter(position => getDocumentType(position) === 'product');
  return {
    set: toDocumentSet(Uint32Array.from(products, getDocumentId)),
    others: positions.slice(products.length),
  };
}

/** @param few words of more products are kept in memory */
export function createFinder(reader: SearchReader, words: WordSets, few: number) {
  const searches = new WeakMap<SearchSession, Memo>();
  const othersOfWords = createBoundedMap<string, { readonly seen: number; readonly others: Others }>(
    maxWords,
  );

  async function openMemo(session: SearchSession): Promise<Memo> {
    const memo = searches.get(session) ?? { read: new Map(), found: new Map() };
    if (searches.has(session)) return memo;
    searches.set(session, memo);
    await words.settle();
    return memo;
  }

  /** What matches any of the terms; undefined if too many documents do. */
  async function readAny(session: SearchSession, memo: Memo, terms: readonly Term[]) {
    const key = toKey(terms);
    if (memo.read.has(key)) return memo.read.get(key);
    const group = terms.map(term => [term]);
    const positions = await reader.page(session, [group], searchTypes, { limit: maxDocuments });
    return hold(session, memo, terms, positions);
  }

  /** @param positions all documents that match any of the terms, or the first of too many */
  function hold(session: SearchSession, memo: Memo, terms: readonly Term[], positions: readonly number[]) {
    const read = splitPositions(positions);
    const { set } = read;
    const found = positions.length >= maxDocuments ? undefined : read;
    if (countDocuments(set) >= few || terms.some(({ mark }) => mark !== undefined)) {
      const [first = [], second] = terms.map(term => listMatchingWords(term) ?? []);
      const [word, longer] = first;
      const isOne = second === undefined && longer === undefined;
      if (isOne && word !== undefined && found !== undefined) words.keep(word, set, session.seen);
      else for (const each of terms.flatMap(term => listMatchingWords(term) ?? [])) words.want(each);
    }
    memo.read.set(toKey(terms), found);
    return found;
  }

  /** The same; terms that were all read one by one are not read again. */
  async function readAll(session: SearchSession, memo: Memo, terms: readonly Term[]) {
    const found = terms.flatMap(term => memo.read.get(toKey([term])) ?? []);
    if (found.length === terms.length) return found;
    const read = await readAny(session, memo, terms);
    return read === undefined ? undefined : [read];
  }

  /** Documents of other types with a word that is in memory. */
  async function readOthers(session: SearchSession, word: string): Promise<Others> {
    if (await reader.isEmpty(session, otherTypes)) return [];
    const seen = words.othersSeen();
    const cached = othersOfWords.get(word);
    if (cached?.seen === seen) return cached.others;
    const page = { limit: maxOthers + 1 };
    const positions = await reader.page(session, [[[{ word }]]], otherTypes, page);
    const others = positions.length > maxOthers ? undefined : positions;
    if (seen === words.othersSeen()) othersOfWords.set(word, { seen, others });
    return others;
  }

  /** The sets of the words that match a term; undefined unless all of them are in memory. */
  function findSets(term: Term): readonly DocumentSet[] | undefined {
    const sets: DocumentSet[] = [];
    for (const word of listMatchingWords(term) ?? [undefined]) {
      const set = word === undefined ? undefined : words.get(word);
      if (set === undefined) return undefined;
      if (countDocuments(set) > 0) sets.push(set);
    }
    return sets;
  }

  /** What has all terms of a choice; undefined if too many documents do. */
  async function readTogether(session: SearchSession, memo: Memo, choice: Choice) {
    const key = `& ${toKey(choice)}`;
    if (memo.read.has(key)) return memo.read.get(key);
    const positions = await reader.page(session, [[choice]], searchTypes, { limit: maxDocuments });
    const read = positions.length >= maxDocuments ? undefined : splitPositions(positions);
    if (read === undefined)
      for (const each of choice.flatMap(term => listMatchingWords(term) ?? [])) words.want(each);
    memo.read.set(key, read);
    return read;
  }

  /** Whether a term is neither in memory, nor has been read for this search. */
  const isAbsent = (memo: Memo, term: Term): boolean =>
    findSets(term) === undefined && !memo.read.has(toKey([term]));

  /** The sets of terms that must match together. */
  async function readChoice(session: SearchSession, memo: Memo, choice: Choice) {
    // A server intersects the words in its index, and reads only the documents that have all of them.
    if (!reader.blocksEventLoop && choice.some(term => isAbsent(memo, term))) {
      const read = await readTogether(session, memo, choice);
      return read && { sets: [read.set], others: () => Promise.resolve(read.others) };
    }
    const sets: DocumentSet[] = [];
    const others: (() => Promise<Others>)[] = [];
    for (const term of choice) {
      const held = term.prefix === true ? undefined : words.get(toWord(term));
      const read = held === undefined ? await readAny(session, memo, [term]) : undefined;
      const set = held ?? read?.set;
      if (set === undefined) return undefined;
      sets.push(set);
      others.push(() =>
        read === undefined ? readOthers(session, toWord(term)) : Promise.resolve(read.others),
      );
    }
    return { sets, others: () => intersectLists(others) };
  }

  async function readGroup(
    session: SearchSession,
    memo: Memo,
    group: readonly Choice[],
  ): Promise<Group | undefined> {
    const choices: ChoiceSets[] = [];
    const others: (() => Promise<Others>)[] = [];
    const absent: Term[] = [];
    for (const choice of group) {
      const [only, second] = choice;
      if (only !== undefined && second === undefined) {
        const sets = findSets(only);
        if (sets === undefined) {
          absent.push(only);
          continue;
        }
        for (const set of sets) choices.push([set]);
        for (const word of listMatchingWords(only) ?? []) others.push(() => readOthers(session, word));
        continue;
      }
      const several = await readChoice(session, memo, choice);
      if (several === undefined) return undefined;
      choices.push(several.sets);
      others.push(several.others);
    }
    const read = absent.length === 0 ? [] : await readAll(session, memo, absent);
    if (read === undefined) return undefined;
    for (const one of read) {
      if (countDocuments(one.set) > 0) choices.push([one.set]);
      others.push(async () => one.others);
    }
    return { choices, others: runOnce(() => mergeLists(others)) };
  }

  return {
    /** Reads what the search will need and memory lacks, if one statement is cheaper than several. */
    async fetch(session: SearchSession, terms: readonly Term[]): Promise<void> {
      const memo = await openMemo(session);
      // On SQLite a prefix costs a statement, which would find too many documents if the word is in memory.
      const isCommon = (term: Term) =>
        reader.blocksEventLoop && term.prefix === true && words.get(toWord(term)) !== undefined;
      const absent = terms.filter(term => isAbsent(memo, term) && !isCommon(term));
      const read = absent.length === 0 ? undefined : await reader.documentsOf(session, absent);
      for (const [index, positions] of read?.entries() ?? []) {
        const term = absent[index];
        if (term !== undefined && positions !== undefined) hold(session, memo, [term], positions);
      }
    },

    /** What was read for a term; undefined if it was not read, or too many documents match. */
    read: async (session: SearchSession, term: Term) => (await openMemo(session)).read.get(toKey([term])),

    /** Caches what was read for a term. @param positions all documents that match it */
    async hold(session: SearchSession, term: Term, positions: readonly number[]): Promise<void> {
      hold(session, await openMemo(session), [term], positions);
    },

    /** What matches a group; undefined if memory does not show it. */
    async group(session: SearchSession, group: readonly Choice[]): Promise<Group | undefined> {
      return readGroup(session, await openMemo(session), group);
    },

    /** What matches an expression; undefined if memory does not show it. */
    async match(session: SearchSession, expression: Expression): Promise<Found | undefined> {
      const memo = await openMemo(session);
      const key = JSON.stringify(expression);
      if (memo.found.has(key)) return memo.found.get(key);
      const groups: Group[] = [];
      for (const group of expression) {
        const found = await readGroup(session, memo, group);
        if (found === undefined) {
          memo.found.set(key, undefined);
          return undefined;
        }
        groups.push(found);
        if (found.choices.length === 0 && (await found.others())?.length === 0) break;
      }
      const products = findMatchingDocuments(groups.map(({ choices }) => choices));
      const found = { products, others: runOnce(() => intersectLists(groups.map(({ others }) => others))) };
      memo.found.set(key, found);
      return found;
    },
  };
}

/** The positions in all of the lists; once one is empty, the others are not read. */
async function intersectLists(lists: readonly (() => Promise<Others>)[]): Promise<Others> {
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

/** The positions in any of the lists, ascending. */
async function mergeLists(lists: readonly (() => Promise<Others>)[]): Promise<Others> {
  const found = new Set<number>();
  for (const list of lists) {
    const own = await list();
    if (own === undefined) return undefined;
    for (const position of own) found.add(position);
  }
  return [...found].sort((a, b) => a - b);
}
