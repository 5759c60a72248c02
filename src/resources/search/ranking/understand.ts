/**
 * What a query is taken to mean: for each word the forms of it, what it is written as together or apart, words it may be
 * a typo of, and longer ones where it finds little by itself.
 */
import type { Choice, Expression, Term } from '../../../storage/search/expression.ts';
import type { SearchSession } from '../../../storage/search/frequency.ts';
import type { DocumentType } from '../../../storage/search/index.ts';
import type { SearchReader } from '../../../storage/search/read.ts';
import { hasDigit } from '../../../storage/search/text/joined.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import type { Vocabulary } from '../../../storage/search/vocabulary.ts';
import type { Synonyms } from '../../synonyms/store.ts';
import { splitsOf, withoutLink } from './compounds.ts';
import { lettersAndDigits, type Piece, piecesOf } from './query.ts';
import { synonymsAt } from './synonyms.ts';

export interface QueryTools {
  readonly reader: SearchReader;
  readonly vocabulary: Vocabulary;
  readonly stems: Stems;
}

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
} as const;

/** Words that find fewer documents are looked for in other ways too. */
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
/** Letters that a form of a word has more than the word. */
const longestInflection = 5;

const single = (word: string): Choice => [{ word }];
const expressionOf = (alternatives: readonly Alternative[]): Expression => [
  alternatives.map(({ choice }) => choice),
];

interface Question {
  readonly query: string;
  readonly types: readonly DocumentType[];
  readonly synonyms: Synonyms;
}

/** All that the words of a query may mean, in the order of the query. */
export async function understand(
  tools: QueryTools,
  session: SearchSession,
  { query, types, synonyms }: Question,
): Promise<QueryWord[]> {
  const pieces = piecesOf(query);
  if (types.length === 0) return [];
  const neighbours = await joinedNeighbours(tools, session, pieces, types);
  const words: QueryWord[] = [];
  for (const [index, piece] of pieces.entries()) {
    const together = neighbours.flatMap(({ word, first, last }) =>
      index >= first && index <= last ? [{ choice: single(word), factor: factors.together }] : [],
    );
    const others = synonymsAt(pieces, index, synonyms, tools.stems);
    const isLast = index === pieces.length - 1;
    words.push(await wordOf({ tools, session, types }, piece, { together, others, isLast }));
  }
  return words;
}

interface Looking {
  readonly tools: QueryTools;
  readonly session: SearchSession;
  readonly types: readonly DocumentType[];
}

interface Place {
  readonly together: readonly Alternative[];
  /** Synonyms. */
  readonly others: readonly (readonly string[])[];
  readonly isLast: boolean;
}

async function wordOf(
  looking: Looking,
  piece: Piece,
  { together, others, isLast }: Place,
): Promise<QueryWord> {
  const { tools, session, types } = looking;
  const { word, parts } = piece;
  const alternatives: Alternative[] = [{ choice: single(word), factor: factors.exact }, ...together];
  for (const form of await formsOf(looking, word))
    alternatives.push({ choice: single(form), factor: factors.stem });
  for (const [other, ...more] of others) {
    if (other === undefined || more.length > 0) continue;
    for (const form of [other, ...(await formsOf(looking, other))])
      alternatives.push({ choice: single(form), factor: factors.synonym });
  }
  const frequency = await tools.reader.frequency(session, expressionOf(alternatives), types);
  for (const several of others) {
    const choice = several.map(other => ({ word: other }));
    if (several.length > 1) alternatives.push({ choice, factor: factors.synonym });
  }
  if (parts.length > 0)
    alternatives.push({ choice: parts.map(part => ({ word: part })), factor: factors.apart });
  if (frequency >= fewDocuments) return { text: word, alternatives, frequency };
  const more = [
    ...(isLast ? await beginningWith(looking, word) : []),
    ...(await compoundsOf(looking, word)),
    ...(await apart(looking, word, frequency)),
  ];
  let isFound = false;
  for (const alternative of more) {
    if ((await frequencyOf(looking, alternative.choice)) === 0) continue;
    isFound = true;
    alternatives.push(alternative);
  }
  if (frequency > rareDocuments || (frequency === 0 && isFound))
    return { text: word, alternatives, frequency };
  const corrected = await corrections(looking, word, frequency);
  alternatives.push(...corrected.alternatives);
  return { text: word, alternatives, frequency: Math.max(frequency, corrected.frequency) };
}

/** How many documents have all terms of a choice; none where one term is nowhere, which is asked first. */
async function frequencyOf({ tools, session, types }: Looking, choice: Choice): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  if (choice.length > 1) {
    for (const term of choice)
      smallest = Math.min(smallest, await tools.reader.frequency(session, [[[term]]], types));
  }
  return smallest === 0 ? 0 : tools.reader.frequency(session, [[choice]], types, smallest);
}

/** Other words with the stem of this one. */
async function formsOf({ tools, session }: Looking, word: string): Promise<string[]> {
  const { stems, vocabulary } = tools;
  if (hasDigit(word)) return [];
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

interface Neighbours {
  readonly word: string;
  readonly first: number;
  readonly last: number;
}

/** Words next to each other that documents write as one. */
async function joinedNeighbours(
  { reader, vocabulary }: QueryTools,
  session: SearchSession,
  pieces: readonly Piece[],
  types: readonly DocumentType[],
): Promise<Neighbours[]> {
  const candidates: Neighbours[] = [];
  for (const [first, { word }] of pieces.entries()) {
    let text = word;
    for (let last = first + 1; last < Math.min(pieces.length, first + 4); last++) {
      text += pieces[last]?.word ?? '';
      const isCode = pieces.slice(first, last + 1).some(piece => hasDigit(piece.word));
      if (isCode || last === first + 1) candidates.push({ word: text, first, last });
    }
  }
  const known =
    candidates.length === 0
      ? new Set()
      : await vocabulary.known(
          session,
          candidates.map(({ word }) => word),
        );
  const found: Neighbours[] = [];
  for (const candidate of candidates) {
    const isKnown = known.has(candidate.word);
    const isCode =
      !isKnown && pieces.slice(candidate.first, candidate.last + 1).some(({ word }) => hasDigit(word));
    const isThere = isCode && (await reader.frequency(session, [[single(candidate.word)]], types)) > 0;
    if (isKnown || isThere) found.push(candidate);
  }
  return found;
}

/** Words that the last one of a query may be the beginning of, while it is being typed. */
async function beginningWith({ tools, session }: Looking, word: string): Promise<Alternative[]> {
  if ([...word].length < shortestBeginning) return [];
  const longer = await tools.reader.longerWords(session, word);
  if (longer?.length === 0) return [];
  const term: Term = { word, prefix: true, longer };
  return [{ choice: [term], factor: factors.beginning }];
}

/** Words that end with this one, after another that is a word itself. */
async function compoundsOf({ tools, session }: Looking, word: string): Promise<Alternative[]> {
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
async function apart(
  { tools, session, types }: Looking,
  word: string,
  frequency: number,
): Promise<Alternative[]> {
  const mixed = lettersAndDigits(word);
  if (mixed.length > 0) return [{ choice: mixed.map(part => ({ word: part })), factor: factors.apart }];
  const splits = splitsOf(word);
  if (splits.length === 0) return [];
  const known = await tools.vocabulary.known(session, splits.flat());
  const possible = splits.filter(parts => parts.every(part => known.has(part)));
  const found: Alternative[] = [];
  for (const parts of possible) {
    const choice = parts.map(part => ({ word: part }));
    const total = await frequencyOf({ tools, session, types }, choice);
    if (total > frequency) found.push({ choice, factor: factors.apart });
  }
  return found;
}

/** Words that this one may be a typo of. */
async function corrections(
  { tools, session, types }: Looking,
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
  if (alternatives.length === 0 && frequency === 0)
    await add(await tools.vocabulary.further(session, word), factors.typos);
  return { alternatives, frequency: most };
}
