/**
 * Finds the products and other documents that match an expression, from what is in memory and what one search reads
 * from the index.
 */

import { mergeDistinct } from '../../../arrays/sorted.ts';
import { createBoundedMap } from '../../../bounded-map.ts';
import { succeedOnce } from '../../../turns/once.ts';
import type { Choice, Expression, Term } from '../expression.ts';
import { searchTypes } from '../index.ts';
import type { SearchSession } from '../reading/frequency.ts';
import type { SearchReader } from '../reading/index.ts';
import { type ChoiceSets, findMatchingDocuments, type GroupSets } from './matching.ts';
import { countDocuments, type DocumentSet } from './set.ts';
import { createTermReader, listMatchingWords, type ReadTerms, toTermsKey, toWord } from './terms.ts';
import type { WordSets } from './words.ts';

/** The most documents other than products that are cached for a word, and the most words that have some cached. */
const maxOthers = 500;
const maxWords = 5000;
const otherTypes = searchTypes.filter(type => type !== 'product');

/** Positions of documents that are not products; undefined if they must be read from the index. */
type Others = readonly number[] | undefined;

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
  readonly read: ReadTerms;
  readonly found: Map<string, Found | undefined>;
}

/** @param few words of more products are kept in memory */
export function createFinder(reader: SearchReader, words: WordSets, few: number) {
  const terms = createTermReader(reader, words, few);
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

  /** Documents of other types with a word that is in memory. */
  async function readOthers(session: SearchSession, word: string): Promise<Others> {
    if ((await reader.countAtMost(session, otherTypes)) === 0) return [];
    const seen = words.othersSeen();
    const cached = othersOfWords.get(word);
    if (cached?.seen === seen) return cached.others;
    const page = { limit: maxOthers + 1 };
    const positions = await reader.page(session, [[[{ word }]]], otherTypes, page);
    const others = positions.length > maxOthers ? undefined : positions;
    if (seen === words.othersSeen()) othersOfWords.set(word, { seen, others });
    return others;
  }

  /** The sets of terms that must match together. */
  async function readChoice(session: SearchSession, memo: Memo, choice: Choice) {
    // A server intersects the words in its index, and reads only the documents that have all of them.
    if (!reader.blocksEventLoop && choice.some(term => terms.isAbsent(memo.read, term))) {
      const read = await terms.readTogether(session, memo.read, choice);
      return read && { sets: [read.set], others: () => Promise.resolve(read.others) };
    }
    const sets: DocumentSet[] = [];
    const others: (() => Promise<Others>)[] = [];
    for (const term of choice) {
      const held = term.prefix === true ? undefined : words.get(toWord(term));
      const read = held === undefined ? await terms.readAny(session, memo.read, [term]) : undefined;
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
        const sets = terms.findSets(only);
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
    const read = absent.length === 0 ? [] : await terms.readAll(session, memo.read, absent);
    if (read === undefined) return undefined;
    for (const one of read) {
      if (countDocuments(one.set) > 0) choices.push([one.set]);
      others.push(async () => one.others);
    }
    return { choices, others: succeedOnce(() => mergeLists(others)) };
  }

  return {
    /** Reads what the search will need and memory lacks, if one statement is cheaper than several. */
    async fetch(session: SearchSession, choices: readonly Choice[]): Promise<void> {
      return terms.fetch(session, (await openMemo(session)).read, choices);
    },

    /** What was read for a term; undefined if it was not read, or too many documents match. */
    read: async (session: SearchSession, term: Term) =>
      (await openMemo(session)).read.get(toTermsKey([term])),

    /** Caches what was read for a term. @param positions all documents that match it */
    async hold(session: SearchSession, term: Term, positions: readonly number[]): Promise<void> {
      terms.hold(session, (await openMemo(session)).read, [term], positions);
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
      const found = {
        products,
        others: succeedOnce(() => intersectLists(groups.map(({ others }) => others))),
      };
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
  const found: (readonly number[])[] = [];
  for (const list of lists) {
    const own = await list();
    if (own === undefined) return undefined;
    found.push(own);
  }
  return mergeDistinct(found);
}
