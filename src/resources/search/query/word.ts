/** A word of a query with its alternatives, and the tools that find them. */
import { type CachedWords, createCachedWords } from '../../../storage/search/cached.ts';
import type { Choice, Expression, Term } from '../../../storage/search/expression.ts';
import type { DocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import type { SearchReader } from '../../../storage/search/reading/index.ts';
import { hasDigit } from '../../../storage/search/text/joined.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import type { Vocabulary } from '../../../storage/search/vocabulary.ts';

/** Words of queries whose meanings are cached. */
const maxCached = 5000;
const maxForms = 8;
const formsLookedAt = 300;
/** How many more letters a form of a word may have than the word. */
const maxInflectionLength = 5;

export interface QueryTools extends QueryCaches {
  readonly reader: SearchReader;
  readonly vocabulary: Vocabulary;
  readonly stems: Stems;
}

interface QueryCaches {
  /** Meanings of words without synonyms, by types, word, joined neighbours, and whether it is last and being typed. */
  readonly meanings: CachedWords<Meaning>;
  readonly forms: CachedWords<readonly string[]>;
  readonly joined: CachedWords<ReadonlySet<string>>;
  /** Whether the catalog's language compounds words, by types. */
  readonly compounding: CachedWords<boolean>;
}

export const createQueryCaches = (): QueryCaches => ({
  meanings: createCachedWords(maxCached),
  forms: createCachedWords(maxCached),
  joined: createCachedWords(maxCached),
  compounding: createCachedWords(maxCached),
});

/** A word of a query, regardless of its importance. */
export type Meaning = Omit<QueryWord, 'importance' | 'isName' | 'before'>;

/** A match for a word of a query, and how much it counts. */
export interface Alternative {
  readonly choice: Choice;
  readonly factor: number;
  /** Whether it may be a different word: a document that has only this counts as lacking the word. */
  readonly isGuess?: boolean;
  /** Whether it is the word without a typing error. */
  readonly isCorrection?: boolean;
  /** Whether the word is only its end: brands are names, whose ends mean nothing (`wein` of `Giesswein`). */
  readonly isCompound?: boolean;
}

/** Words of a query that are the code of a variant or its beginning: the code is an alternative for each of them. */
export interface Coded {
  /** The indexes of these words in the query. */
  readonly places: readonly number[];
  readonly alternative: Alternative;
}

export interface QueryWord {
  readonly text: string;
  readonly alternatives: readonly Alternative[];
  /** About how many documents have it, including guesses. */
  readonly frequency: number;
  /** The same without guesses. */
  readonly certain: number;
  /** The factor of the closest alternative that a document has. */
  readonly closeness: number;
  /** Its weight relative to other words that are as rare. */
  readonly importance: number;
  /** Whether it only names an attribute or option, so that hits need not have it. */
  readonly isName: boolean;
  /** The words before it, wherever it is in the query. */
  readonly before: ReadonlySet<string>;
}

/** The importance of fillers is at most this: documents are not selected by them. */
export const negligible = 0.2;

export const factors = {
  exact: 1,
  together: 0.95,
  stem: 0.92,
  synonym: 0.9,
  apart: 0.85,
  /** American instead of British English, or the other way round. */
  spelling: 0.75,
  compound: 0.6,
  beginning: 0.5,
  typo: 0.6,
  typos: 0.4,
  alike: 0.4,
} as const;

/** What the words of one search are looked up with. */
export interface QueryContext {
  readonly tools: QueryTools;
  readonly session: SearchSession;
  readonly types: readonly DocumentType[];
  /** Whether the query is still being typed. */
  readonly isTyped: boolean;
  /** Whether the catalog's language compounds words: determined once for all words of the query. */
  isCompounding(): Promise<boolean>;
}

/** Other words with the same stem. */
export async function findForms({ tools, session }: QueryContext, word: string): Promise<readonly string[]> {
  return hasDigit(word) ? [] : tools.forms(session.seen, word, () => readForms(tools, session, word));
}

async function readForms({ stems, vocabulary }: QueryTools, session: SearchSession, word: string) {
  const beginning = stems.beginning(word);
  const found = await vocabulary.beginning(
    session,
    beginning,
    word.length + maxInflectionLength,
    formsLookedAt,
  );
  const others = stems.others(word);
  const irregular = others.length === 0 ? [] : await vocabulary.known(session, others);
  // The vocabulary has no words of two letters.
  const short = others.filter(({ length }) => length === 2);
  const forms = found.filter(form => form !== word && stems.isSame(word, form));
  return [...new Set([...short, ...irregular, ...forms])].slice(0, maxForms);
}

/** @returns the word without guesses */
export const removeGuesses = (word: QueryWord): QueryWord =>
  hasGuesses(word)
    ? {
        ...word,
        alternatives: word.alternatives.filter(({ isGuess }) => isGuess !== true),
        frequency: word.certain,
      }
    : word;

export const hasGuesses = ({ alternatives }: QueryWord): boolean =>
  alternatives.some(({ isGuess }) => isGuess === true);

export const toChoice = (word: string): Choice => [{ word }];

export const toSeveralWords = (words: readonly string[], factor: number): Alternative => ({
  choice: words.map(word => ({ word })),
  factor,
});

/**
 * How many documents have all terms of a choice. If a long read would block the event loop, it first checks whether a
 * term is in few documents or none.
 */
export async function readFrequency(
  { tools, session, types }: QueryContext,
  choice: Choice,
): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  if (choice.length > 1 && tools.reader.blocksEventLoop) {
    for (const term of choice)
      smallest = Math.min(smallest, await tools.reader.frequency(session, [[[term]]], types));
  }
  return smallest === 0 ? 0 : tools.reader.frequency(session, [[choice]], types, smallest);
}

/** @param mark restricts the expression to words of titles with this mark */
export function toExpression(words: readonly QueryWord[], mark?: string): Expression {
  const markTerm = (term: Term): Term => (mark === undefined ? term : { ...term, mark });
  return words.map(({ alternatives }) => alternatives.map(({ choice }) => choice.map(markTerm)));
}

/** The most documents that can have all of the words; undefined if unknown. */
export function computeSmallest(words: readonly QueryWord[]): number | undefined {
  const bounded = words.filter(({ alternatives }) =>
    alternatives.every(({ choice }) =>
      choice.every(({ prefix, longer }) => prefix !== true || longer !== undefined),
    ),
  );
  return bounded.length === 0 ? undefined : Math.min(...bounded.map(({ frequency }) => frequency));
}

/** Whether a document may have the word. */
export const isPossible = ({ frequency, alternatives }: QueryWord) =>
  frequency > 0 || alternatives.length > 1;
