/** Reads from the index which documents have the words that memory lacks, each once for a search. */
import type { Choice, Term } from '../expression.ts';
import { getDocumentId, getDocumentType, searchTypes } from '../index.ts';
import type { SearchSession } from '../reading/frequency.ts';
import { maxDocuments, type SearchReader } from '../reading/index.ts';
import { countDocuments, type DocumentSet, toDocumentSet } from './set.ts';
import type { WordSets } from './words.ts';

/** What was read from the index: the products, and the positions of all other documents. */
interface Read {
  readonly set: DocumentSet;
  readonly others: readonly number[];
}

/** What one search has read; undefined for what too many documents have. */
export type ReadTerms = Map<string, Read | undefined>;

export const toWord = ({ word, mark = '' }: Term): string => mark + word;

export const toTermsKey = (terms: readonly Term[]): string =>
  terms
    .map(term => `${toWord(term)}${term.prefix === true ? '*' : ''}${term.longer?.join('+') ?? ''}`)
    .join(' ');

/** The key of terms that must match together. */
const toTogetherKey = (choice: Choice): string => `& ${toTermsKey(choice)}`;

/** The words that match a term; undefined if unknown. */
export function listMatchingWords(term: Term): readonly string[] | undefined {
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
export function createTermReader(reader: SearchReader, words: WordSets, few: number) {
  /** What matches any of the terms; undefined if too many documents do. */
  async function readAny(session: SearchSession, known: ReadTerms, terms: readonly Term[]) {
    const key = toTermsKey(terms);
    if (known.has(key)) return known.get(key);
    const group = terms.map(term => [term]);
    const positions = await reader.page(session, [group], searchTypes, { limit: maxDocuments });
    return hold(session, known, terms, positions);
  }

  /** @param positions all documents that match any of the terms, or the first of too many */
  function hold(
    session: SearchSession,
    known: ReadTerms,
    terms: readonly Term[],
    positions: readonly number[],
  ) {
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
    known.set(toTermsKey(terms), found);
    return found;
  }

  /** What `readAny` returns, in parts; terms that were all read one by one are not read again. */
  async function readAll(session: SearchSession, known: ReadTerms, terms: readonly Term[]) {
    const found = terms.flatMap(term => known.get(toTermsKey([term])) ?? []);
    if (found.length === terms.length) return found;
    const read = await readAny(session, known, terms);
    return read === undefined ? undefined : [read];
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
  async function readTogether(session: SearchSession, known: ReadTerms, choice: Choice) {
    const key = toTogetherKey(choice);
    if (known.has(key)) return known.get(key);
    return holdTogether(
      known,
      choice,
      await reader.page(session, [[choice]], searchTypes, { limit: maxDocuments }),
    );
  }

  /** @param positions all documents that have all terms of a choice, or the first of too many */
  function holdTogether(known: ReadTerms, choice: Choice, positions: readonly number[]): Read | undefined {
    const read = positions.length >= maxDocuments ? undefined : splitPositions(positions);
    if (read === undefined)
      for (const each of choice.flatMap(term => listMatchingWords(term) ?? [])) words.want(each);
    known.set(toTogetherKey(choice), read);
    return read;
  }

  /** Whether a term is neither in memory, nor has been read for this search. */
  const isAbsent = (known: ReadTerms, term: Term): boolean =>
    findSets(term) === undefined && !known.has(toTermsKey([term]));

  /** Reads what the search will need and memory lacks, if one statement is cheaper than several. */
  async function fetch(session: SearchSession, known: ReadTerms, choices: readonly Choice[]): Promise<void> {
    // On SQLite a prefix costs a statement, which would find too many documents if the word is in memory.
    const isCommon = (term: Term) =>
      reader.blocksEventLoop && term.prefix === true && words.get(toWord(term)) !== undefined;
    const absent = choices.filter(choice => choice.some(term => isAbsent(known, term) && !isCommon(term)));
    const found = absent.length === 0 ? undefined : await reader.documentsOf(session, absent);
    for (const [index, choice] of absent.entries()) {
      const positions = found?.[index];
      if (positions === undefined) continue;
      if (choice.length === 1) hold(session, known, choice, positions);
      else holdTogether(known, choice, positions);
    }
  }

  return { readAny, readAll, readTogether, findSets, isAbsent, hold, fetch };
}
