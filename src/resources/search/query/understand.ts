/**
 * What a query is taken to mean: for each word the forms of it, what it is written as together or apart, words it may be
 * a typo of, and longer ones where it finds little by itself.
 */
import type { Choice, Expression, Term } from '../../../storage/search/expression.ts';
import type { DocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import type { SearchReader } from '../../../storage/search/reading/index.ts';
import { hasDigit, lettersAndDigits } from '../../../storage/search/text/joined.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import type { Vocabulary } from '../../../storage/search/vocabulary.ts';
import type { Synonyms } from '../../synonyms/store.ts';
import { type CachedWords, cachedWords } from '../cached.ts';
import { joinedNeighbours, splitsOf, withoutLink } from './compounds.ts';
import { type Piece, piecesOf } from './pieces.ts';
import { synonymsAt } from './synonyms.ts';
import { otherUnits } from './units.ts';
import { wordsLike } from './unknown.ts';

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

export const queryCaches = (): QueryCaches => ({
  meanings: cachedWords(mostCached),
  forms: cachedWords(mostCached),
  joined: cachedWords(mostCached),
});

/** A word of a query, whatever it counts for. */
type Meaning = Omit<QueryWord, 'importance'>;

/** What counts for a word, and how much. */
interface Alternative {
  readonly choice: Choice;
  readonly factor: number;
}

/** One word of a query. */
export interface QueryWord {
  readonly text: string;
  readonly alternatives: readonly Alternative[];
  /** About how many documents have it. */
  readonly frequency: number;
  /** What it counts for beside others as rare. */
  readonly importance: number;
}

const factors = {
  exact: 1,
  together: 0.95,
  stem: 0.92,
  synonym: 0.9,
  apart: 0.85,
  compound: 0.6,
  beginning: 0.6,
  typo: 0.6,
  typos: 0.4,
  alike: 0.4,
} as const;
/** Of single letters, and of words that say nothing themselves. */
const importances = { usual: 1, letter: 0.5, filler: 0.15 } as const;

/** Words that find fewer documents are also searched for as other words. */
const fewDocuments = 50;
/** A word of so few documents may be a typo of one that has so many times as many. */
const rareDocuments = 6;
const timesAsCommon = 3;
/** Shorter beginnings would be those of nearly every document. */
const shortestBeginning = 2;
/** Words that end like shorter ones have little to do with them. */
const shortestEnding = 4;
const mostForms = 8;
const mostCompounds = 12;
const formsLookedAt = 300;
/** The vocabulary has no shorter words: the index is read to see whether documents have them. */
const shortestKept = 3;
/** Letters that a form of a word has more than the word. */
const longestInflection = 5;

/** Words of queries whose meaning is kept. */
const mostCached = 5000;

const single = (word: string): Choice => [{ word }];
const expressionOf = (alternatives: readonly Alternative[]): Expression => [
  alternatives.map(({ choice }) => choice),
];

interface Question {
  readonly query: string;
  readonly types: readonly DocumentType[];
  readonly synonyms: Synonyms;
  /** Words that begin with the last one, where they are known already. */
  readonly completions?: readonly string[] | undefined;
}

/** All that the words of a query may mean, in the order of the query. */
export async function understand(
  tools: QueryTools,
  session: SearchSession,
  { query, types, synonyms, completions }: Question,
): Promise<QueryWord[]> {
  const pieces = piecesOf(query);
  if (types.length === 0) return [];
  const neighbours = [...(await joinedNeighbours(tools, session, pieces, types)), ...otherUnits(pieces)];
  const words: QueryWord[] = [];
  for (const [index, piece] of pieces.entries()) {
    const together = neighbours.flatMap(({ choice, first, last }) =>
      index >= first && index <= last ? [{ choice, factor: factors.together }] : [],
    );
    const others = synonymsAt(pieces, index, synonyms, tools.stems);
    const isLast = index === pieces.length - 1;
    const longer = isLast ? completions : undefined;
    const context = { tools, session, types };
    const make = () => wordOf(context, piece, { together, others, isLast, longer });
    const isAlone = others.length === 0 && longer === undefined;
    const neighbouring = together.length === 0 ? '' : JSON.stringify(together);
    const key = `${types.join()} ${isLast} ${piece.word} ${piece.parts.join(' ')} ${neighbouring}`;
    const word = await (isAlone ? tools.meanings(session.seen, key, make) : make());
    words.push({ ...word, importance: importanceOf(piece.word, tools.stems) });
  }
  return words;
}

function importanceOf(word: string, stems: Stems): number {
  if (stems.isFiller(word)) return importances.filler;
  return /^[a-z]$/.test(word) ? importances.letter : importances.usual;
}

interface QueryContext {
  readonly tools: QueryTools;
  readonly session: SearchSession;
  readonly types: readonly DocumentType[];
}

interface Place {
  readonly together: readonly Alternative[];
  /** Synonyms. */
  readonly others: readonly (readonly string[])[];
  readonly isLast: boolean;
  readonly longer: readonly string[] | undefined;
}

async function wordOf(
  context: QueryContext,
  piece: Piece,
  { together, others, isLast, longer }: Place,
): Promise<Meaning> {
  const { tools, session, types } = context;
  const { word, parts } = piece;
  const isOne = ({ choice }: Alternative) => choice.length === 1;
  const alternatives: Alternative[] = [
    { choice: single(word), factor: factors.exact },
    ...together.filter(isOne),
  ];
  for (const form of await formsOf(context, word))
    alternatives.push({ choice: single(form), factor: factors.stem });
  for (const [other, ...more] of others) {
    if (other === undefined || more.length > 0) continue;
    for (const form of [other, ...(await formsOf(context, other))])
      alternatives.push({ choice: single(form), factor: factors.synonym });
  }
  const frequency = await tools.reader.frequency(session, expressionOf(alternatives), types);
  alternatives.push(...together.filter(alternative => !isOne(alternative)));
  for (const several of others) {
    const choice = several.map(other => ({ word: other }));
    if (several.length > 1) alternatives.push({ choice, factor: factors.synonym });
  }
  if (parts.length > 0)
    alternatives.push({ choice: parts.map(part => ({ word: part })), factor: factors.apart });
  if (frequency >= fewDocuments) return { text: word, alternatives, frequency };
  const more = [
    ...(isLast ? await beginningWith(context, word, longer) : []),
    ...(await compoundsOf(context, word)),
    ...(await apart(context, word, frequency)),
  ];
  let isFound = false;
  for (const alternative of more) {
    if ((await frequencyOf(context, alternative.choice)) === 0) continue;
    isFound = true;
    alternatives.push(alternative);
  }
  // What is one word with its neighbour is no typo of another.
  const isMeant = together.length > 0 || (frequency === 0 && isFound);
  if (frequency > rareDocuments || isMeant) return { text: word, alternatives, frequency };
  const corrected = await corrections(context, word, frequency);
  alternatives.push(...corrected.alternatives);
  return { text: word, alternatives, frequency: Math.max(frequency, corrected.frequency) };
}

/** How many documents have all terms of a choice; none where a term is in no document, which is checked first. */
async function frequencyOf({ tools, session, types }: QueryContext, choice: Choice): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  if (choice.length > 1) {
    for (const term of choice)
      smallest = Math.min(smallest, await tools.reader.frequency(session, [[[term]]], types));
  }
  return smallest === 0 ? 0 : tools.reader.frequency(session, [[choice]], types, smallest);
}

/** Other words with the stem of this one. */
async function formsOf({ tools, session }: QueryContext, word: string): Promise<readonly string[]> {
  return hasDigit(word) ? [] : tools.forms(session.seen, word, () => readForms(tools, session, word));
}

async function readForms({ stems, vocabulary }: QueryTools, session: SearchSession, word: string) {
  const beginning = stems.beginning(word);
  const found = await vocabulary.beginning(
    session,
    beginning,
    word.length + longestInflection,
    formsLookedAt,
  );
  const others = stems.others(word);
  const irregular = others.length === 0 ? [] : await vocabulary.known(session, others);
  const forms = found.filter(form => form !== word && stems.isSame(word, form));
  return [...new Set([...irregular, ...forms])].slice(0, mostForms);
}

/** Words that the last one of a query may be the beginning of, while it is being typed. */
async function beginningWith(
  { tools, session }: QueryContext,
  word: string,
  completions: readonly string[] | undefined,
): Promise<Alternative[]> {
  if ([...word].length < shortestBeginning) return [];
  if (completions !== undefined && completions.length > 0) {
    const others = completions.filter(other => other !== word);
    return others.map(other => ({ choice: single(other), factor: factors.beginning }));
  }
  const few = await tools.reader.beginning(session, word);
  const longer = few === undefined ? await tools.reader.longerWords(session, word) : undefined;
  if (few === 0 || longer?.length === 0) return [];
  const term: Term = { word, prefix: true, longer };
  return [{ choice: [term], factor: factors.beginning }];
}

/** Words that end with this one, after another that is a word itself. */
async function compoundsOf({ tools, session }: QueryContext, word: string): Promise<Alternative[]> {
  if (hasDigit(word) || [...word].length < shortestEnding) return [];
  const found = await tools.vocabulary.ending(session, word, mostCompounds * 4);
  const rests = new Map(found.map(compound => [compound, withoutLink(compound.slice(0, -word.length))]));
  const known =
    rests.size === 0 ? new Set() : await tools.vocabulary.known(session, [...rests.values()].flat());
  return found
    .filter(compound => rests.get(compound)?.some(rest => known.has(rest)))
    .slice(0, mostCompounds)
    .map(compound => ({ choice: single(compound), factor: factors.compound }));
}

/** The words that this one is made of, where more documents have them than it. */
async function apart(context: QueryContext, word: string, frequency: number): Promise<Alternative[]> {
  const { tools, session } = context;
  const mixed = lettersAndDigits(word);
  if (mixed.length > 0) return [{ choice: mixed.map(part => ({ word: part })), factor: factors.apart }];
  const splits = splitsOf(word);
  if (splits.length === 0) return [];
  const known = await tools.vocabulary.known(session, splits.flat());
  const possible = splits.filter(parts => parts.every(part => part.length < shortestKept || known.has(part)));
  const found: Alternative[] = [];
  for (const parts of possible) {
    const choice = parts.map(part => ({ word: part }));
    const total = await frequencyOf(context, choice);
    if (total > frequency) found.push({ choice, factor: factors.apart });
  }
  return found;
}

/** Words that this one may be a typo of. */
async function corrections(
  { tools, session, types }: QueryContext,
  word: string,
  frequency: number,
): Promise<{ alternatives: Alternative[]; frequency: number }> {
  const alternatives: Alternative[] = [];
  let most = 0;
  const add = async (candidates: readonly string[], factor: number) => {
    for (const candidate of candidates) {
      const total = await tools.reader.frequency(session, [[single(candidate)]], types);
      if (total < timesAsCommon * frequency || total === 0) continue;
      alternatives.push({ choice: single(candidate), factor });
      most = Math.max(most, total);
    }
  };
  await add(await tools.vocabulary.near(session, word), factors.typo);
  if (frequency > 0 || hasDigit(word)) return { alternatives, frequency: most };
  if (alternatives.length === 0) await add(await tools.vocabulary.further(session, word), factors.typos);
  if (alternatives.length === 0) {
    const { words, isSame } = await wordsLike(tools, session, word);
    await add(words, isSame ? factors.stem : factors.alike);
  }
  return { alternatives, frequency: most };
}
