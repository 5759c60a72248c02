/** A word of a query with all that counts for it, and what is needed to find that out. */
import { type CachedWords, createCachedWords } from '../../../storage/search/cached.ts';
import type { Choice, Expression, Term } from '../../../storage/search/expression.ts';
import type { DocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import type { SearchReader } from '../../../storage/search/reading/index.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import type { Vocabulary } from '../../../storage/search/vocabulary.ts';

/** Words of queries whose meaning is kept. */
const mostCached = 5000;

export interface QueryTools extends QueryCaches {
  readonly reader: SearchReader;
  readonly vocabulary: Vocabulary;
  readonly stems: Stems;
}

interface QueryCaches {
  /** What words mean without synonyms: the same wherever the same is together with them. */
  readonly meanings: CachedWords<Meaning>;
  readonly forms: CachedWords<readonly string[]>;
  readonly joined: CachedWords<ReadonlySet<string>>;
}

export const createQueryCaches = (): QueryCaches => ({
  meanings: createCachedWords(mostCached),
  forms: createCachedWords(mostCached),
  joined: createCachedWords(mostCached),
});

/** A word of a query, whatever it counts for. */
export type Meaning = Omit<QueryWord, 'importance'>;

/** What counts for a word, and how much. */
export interface Alternative {
  readonly choice: Choice;
  readonly factor: number;
  /** Whether it may well be another word: a document that has only this counts as one that lacks the word. */
  readonly isGuess?: boolean;
  /** Whether the word is only the end of it: brands are names, of which ends say nothing (`wein` of `Giesswein`). */
  readonly isCompound?: boolean;
}

/** Words of a query that are the code of a variant, or its beginning: each of them is found by it. */
export interface Coded {
  /** Which words of the query. */
  readonly places: readonly number[];
  readonly alternative: Alternative;
}

/** One word of a query. */
export interface QueryWord {
  readonly text: string;
  readonly alternatives: readonly Alternative[];
  /** About how many documents have it, or what is a guess at it. */
  readonly frequency: number;
  /** The same without guesses. */
  readonly certain: number;
  /** What it counts for beside others as rare. */
  readonly importance: number;
}

/** Words that say nothing are no reason to be read. */
export const negligible = 0.2;

export const factors = {
  exact: 1,
  together: 0.95,
  stem: 0.92,
  synonym: 0.9,
  apart: 0.85,
  /** In American English instead of British, or the other way round. */
  spelling: 0.75,
  compound: 0.6,
  beginning: 0.5,
  typo: 0.6,
  typos: 0.4,
  alike: 0.4,
} as const;

/** What a word of one search is looked up with. */
export interface QueryContext {
  readonly tools: QueryTools;
  readonly session: SearchSession;
  readonly types: readonly DocumentType[];
  /** Whether the query is still being typed. */
  readonly isTyped: boolean;
  /** Whether the catalog is German, too: found out once for all words of the query. */
  isGerman(): Promise<boolean>;
}

/** @returns the word without what is a guess at it */
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

/** @returns the choice that is this word alone */
export const toChoice = (word: string): Choice => [{ word }];

export const toSeveralWords = (words: readonly string[], factor: number): Alternative => ({
  choice: words.map(word => ({ word })),
  factor,
});

/** How many documents have all terms of a choice; none where a term is in no document, which is checked first. */
export async function readFrequency(
  { tools, session, types }: QueryContext,
  choice: Choice,
): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  if (choice.length > 1) {
    for (const term of choice)
      smallest = Math.min(smallest, await tools.reader.frequency(session, [[[term]]], types));
  }
  return smallest === 0 ? 0 : tools.reader.frequency(session, [[choice]], types, smallest);
}

/** @param mark only words of titles with this mark */
export function toExpression(words: readonly QueryWord[], mark?: string): Expression {
  const markTerm = (term: Term): Term => (mark === undefined ? term : { ...term, mark });
  return words.map(({ alternatives }) => alternatives.map(({ choice }) => choice.map(markTerm)));
}

/** No more documents than this have all of the words; undefined where that is not known. */
export function computeSmallest(words: readonly QueryWord[]): number | undefined {
  const bounded = words.filter(({ alternatives }) =>
    alternatives.every(({ choice }) =>
      choice.every(({ prefix, longer }) => prefix !== true || longer !== undefined),
    ),
  );
  return bounded.length === 0 ? undefined : Math.min(...bounded.map(({ frequency }) => frequency));
}

/** Whether some document may have it. */
export const isPossible = ({ frequency, alternatives }: QueryWord) =>
  frequency > 0 || alternatives.length > 1;
