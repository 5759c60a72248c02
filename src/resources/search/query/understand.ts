/**
 * Interprets a query: for each word its forms, how it is written as one word or several, words that it may be a typo of
 * and, if it finds little, longer words.
 */
import type { Expression, Term } from '../../../storage/search/expression.ts';
import type { DocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import { purposes } from '../../../storage/search/text/fillers.ts';
import { isAmerican } from '../../../storage/search/text/spellings.ts';
import { succeedOnce } from '../../../turns/once.ts';
import type { Definitions } from '../../attributes/store.ts';
import type { Synonyms } from '../../synonyms/store.ts';
import { findWordsApart } from './apart.ts';
import { findCompounds, findJoinedNeighbours, isCompoundingCatalog } from './compounds.ts';
import type { NameFinder } from './named.ts';
import { type Piece, parsePieces } from './pieces.ts';
import { findOtherScales } from './scales.ts';
import { findPhrases, findSynonyms } from './synonyms.ts';
import { findCorrections, isRatherTypo, rareDocuments } from './typos.ts';
import { findOtherUnits, isIncidental } from './units.ts';
import {
  type Alternative,
  type Coded,
  factors,
  findForms,
  type Meaning,
  type QueryContext,
  type QueryTools,
  type QueryWord,
  readFrequency,
  toChoice,
  toSeveralWords,
} from './word.ts';

/** Single letters, and words without a meaning of their own, count less; names of attributes hardly at all. */
const importances = { usual: 1, letter: 0.5, filler: 0.15, name: 0.05 } as const;
/** What something is for counts less than what it is: a `chair for desks` is no desk. */
const purposeShare = 0.6;

/** Words that find fewer documents are also searched for as other words. */
const fewDocuments = 50;
/** Shorter prefixes would match nearly every document. */
const minBeginningLength = 2;

const toWordExpression = (alternatives: readonly Alternative[]): Expression => [
  alternatives.map(({ choice }) => choice),
];

interface Question {
  readonly query: string;
  readonly types: readonly DocumentType[];
  readonly synonyms: Synonyms;
  readonly definitions: Definitions;
  /** The codes of variants that words of the query match. */
  readonly codes: readonly Coded[];
  /** Completions of the last word, if already known. */
  readonly completions?: readonly string[] | undefined;
}

/** Everything that the words of a query may mean, in the order of the query. */
export async function understand(
  tools: QueryTools & { readonly named: NameFinder },
  session: SearchSession,
  { query, types, synonyms, definitions, codes, completions }: Question,
): Promise<QueryWord[]> {
  const pieces = parsePieces(query);
  if (types.length === 0) return [];
  const context: QueryContext = {
    tools,
    session,
    types,
    isTyped: completions !== undefined,
    isCompounding: succeedOnce(
      async () =>
        tools.stems.isCompounding ||
        tools.compounding(session.seen, types.join(), () => isCompoundingCatalog({ tools, session, types })),
    ),
  };
  const named = await tools.named({ session, query, pieces, types, definitions, isTyped: context.isTyped });
  const neighbours = [
    ...(await findJoinedNeighbours(context, pieces)),
    ...findOtherUnits(pieces),
    ...findOtherScales(pieces),
    ...named.measures,
  ];
  const words: QueryWord[] = [];
  const purpose = pieces.findIndex(({ word }, at) => at > 0 && purposes.has(word));
  for (const [index, piece] of pieces.entries()) {
    const together = [
      ...codes.flatMap(({ places, alternative }) => (places.includes(index) ? [alternative] : [])),
      ...neighbours.flatMap(({ choice, first, last }) =>
        index >= first && index <= last ? [{ choice, factor: factors.together }] : [],
      ),
    ];
    const others = findSynonyms(pieces, index, synonyms);
    const isLast = index === pieces.length - 1 && piece.isMark !== true;
    const longer = isLast ? completions : undefined;
    const isName = named.places.has(index);
    const make = () => understandWord(context, piece, { together, others, isLast, longer, isName });
    const isAlone = others.length === 0 && longer === undefined;
    const neighbouring = together.length === 0 ? '' : JSON.stringify(together);
    const key = `${types.join()} ${isLast} ${isName} ${context.isTyped} ${piece.word} ${piece.parts.join(' ')} ${piece.whole} ${neighbouring}`;
    const word = await (isAlone ? tools.meanings(session.seen, key, make) : make());
    const isMinor = tools.stems.isFiller(piece.word) || isIncidental(pieces, index);
    const share = purpose > 0 && index > purpose ? purposeShare : 1;
    const importance = isName ? importances.name : share * computeImportance(piece.word, isMinor);
    words.push({ ...word, importance, isName, before: piece.before });
  }
  return words;
}

function computeImportance(word: string, isMinor: boolean): number {
  if (isMinor) return importances.filler;
  return /^[a-z]$/.test(word) ? importances.letter : importances.usual;
}

interface WordContext {
  readonly together: readonly Alternative[];
  /** Synonyms. */
  readonly others: readonly (readonly string[])[];
  readonly isLast: boolean;
  readonly longer: readonly string[] | undefined;
  readonly isName: boolean;
}

async function understandWord(
  context: QueryContext,
  piece: Piece,
  { together, others, isLast, longer, isName }: WordContext,
): Promise<Meaning> {
  const { tools, session, types } = context;
  const { word, parts, whole } = piece;
  const isOne = ({ choice }: Alternative) => choice.length === 1;
  const alternatives: Alternative[] = [
    { choice: toChoice(word), factor: factors.exact },
    ...together.filter(isOne),
  ];
  const forms = await findForms(context, word);
  const loose = await findLooseForms(context, word, forms);
  const sure = forms.filter(form => !loose.includes(form));
  const isSpeltAlike = (form: string) => isAmerican(form) === isAmerican(word);
  // If no document has the word, its other spelling counts nearly as much.
  const spelling =
    forms.every(isSpeltAlike) || (await readFrequency(context, toChoice(word))) > 0
      ? factors.spelling
      : factors.together;
  for (const form of sure)
    alternatives.push({ choice: toChoice(form), factor: isSpeltAlike(form) ? factors.stem : spelling });
  for (const [other, ...more] of others) {
    if (other === undefined || more.length > 0) continue;
    for (const form of [other, ...(await findForms(context, other))])
      alternatives.push({ choice: toChoice(form), factor: factors.synonym });
  }
  const frequency = await tools.reader.frequency(session, toWordExpression(alternatives), types);
  for (const form of loose)
    alternatives.push({ choice: toChoice(form), factor: factors.stem, isGuess: true });
  const several: Alternative[] = [
    ...together.filter(alternative => !isOne(alternative)),
    ...(await findPhrases(context, others)),
    ...(parts.length > 0 ? [toSeveralWords(parts, factors.apart)] : []),
    ...(whole === undefined ? [] : [{ choice: toChoice(whole), factor: factors.together }]),
  ];
  const isRare = frequency < fewDocuments;
  const more = isRare ? await findCombinations(context, word, sure, frequency) : [];
  const mayBegin = isRare && isLast && together.length === 0;
  const beginnings = mayBegin ? await findBeginnings(context, word, longer) : [];
  // Each choice is tested alone, so that two common words in the same choice raise LongRead here.
  const begun = await addFound(context, alternatives, beginnings);
  const found = await addFound(context, alternatives, [...several, ...more]);
  const total = Math.max(frequency, found.together);
  const guesses = alternatives.filter(({ isGuess }) => isGuess === true);
  const guessed =
    guesses.length === 0 ? 0 : await tools.reader.frequency(session, toWordExpression(guesses), types);
  const meaning = {
    text: word,
    alternatives,
    frequency: Math.max(total, guessed),
    certain: total,
    closeness: frequency > 0 ? factors.exact : computeCloseness([...begun.found, ...found.found, ...guesses]),
  };
  if (!isRare || isName || tools.stems.isFiller(word)) return meaning;
  // A word that documents join to its neighbour is not a typo.
  const isMeant = together.length > 0 || (frequency === 0 && found.found.length > 0);
  // While a query is being typed, only some hits are shown: none of them should be for a different word.
  const isBegun = begun.found.length > 0 && context.isTyped;
  if (frequency > (context.isTyped ? 0 : rareDocuments) || isMeant || isBegun) return meaning;
  // `kamer` may be a misspelt `Kammer`, rather than the beginning of `Kamera`.
  return addCorrections(context, meaning, frequency, begun.found.length > 0);
}

/** Adds what the word may be a typo of. */
async function addCorrections(
  context: QueryContext,
  meaning: Meaning,
  frequency: number,
  isBeginning: boolean,
): Promise<Meaning> {
  const corrected = await findCorrections(context, meaning.text, frequency, isBeginning);
  return {
    ...meaning,
    alternatives: [...meaning.alternatives, ...corrected.alternatives],
    frequency: Math.max(meaning.frequency, corrected.frequency),
    certain: Math.max(meaning.certain, corrected.certain),
    closeness: Math.max(meaning.closeness, computeCloseness(corrected.alternatives)),
  };
}

const computeCloseness = (found: readonly Alternative[]): number =>
  Math.max(0, ...found.map(({ factor }) => factor));

/** Words that end with the word, and words that it is made of. */
const findCombinations = async (
  context: QueryContext,
  word: string,
  forms: readonly string[],
  frequency: number,
): Promise<readonly Alternative[]> => [
  ...(await findCompounds(context, [word, ...forms], frequency)),
  ...(await findWordsApart(context, word, frequency)),
];

/** The fewest letters before `-er` of a word that no document has, for the rest to be a form of it. */
const minBeforeEr = 4;
/** Shorter words with such a plural, in their indexed form: `Räder`, `Bäder`, `Täler`, `Lider`. */
const shortPlurals: readonly string[] = ['rader', 'bader', 'taler', 'lider'];

/**
 * Forms by `-er`, which are guesses if documents have the word: where `drucker` are sold, `druck` is no form of it. Very
 * short ones always are: `led` is not `leder`, though a `Rad` is one of `Räder`. So are all forms of what is rather a typo.
 */
async function findLooseForms(
  context: QueryContext,
  word: string,
  forms: readonly string[],
): Promise<readonly string[]> {
  if (await isRatherTypo(context, word, forms)) return forms;
  const loose = forms.filter(form => isLooseForm(word, form));
  if (loose.length > 0 && (await readFrequency(context, toChoice(word))) > 0) return loose;
  return loose.filter(form => {
    const [singular, plural] = form.length < word.length ? [form, word] : [word, form];
    return singular.length < minBeforeEr && !shortPlurals.includes(plural);
  });
}

/** Whether two words differ only by `-er`, which ends plurals in German and agent nouns in English. */
function isLooseForm(one: string, other: string): boolean {
  const [a, b] = [one, other].map(word => (word.length > 4 && word.endsWith('s') ? word.slice(0, -1) : word));
  if (a === undefined || b === undefined) return false;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return long === `${short}er` || (short.endsWith('e') && long === `${short}r`);
}

/**
 * Adds the alternatives of `more` that occur in a document.
 * @returns those, and how many documents have the commonest one that consists of several words
 */
async function addFound(
  context: QueryContext,
  alternatives: Alternative[],
  more: readonly Alternative[],
): Promise<{ readonly found: readonly Alternative[]; readonly together: number }> {
  const found: Alternative[] = [];
  let together = 0;
  for (const alternative of more) {
    const total = await readFrequency(context, alternative.choice);
    if (total === 0) continue;
    found.push(alternative);
    if (alternative.choice.length > 1) together = Math.max(together, total);
  }
  alternatives.push(...found);
  return { found, together };
}

/** Words that begin with the last word of a query, which may be incomplete. */
async function findBeginnings(
  { tools, session }: QueryContext,
  word: string,
  completions: readonly string[] | undefined,
): Promise<Alternative[]> {
  if (completions !== undefined && completions.length > 0) {
    const others = completions.filter(other => other !== word);
    return others.map(other => ({ choice: toChoice(other), factor: factors.beginning }));
  }
  if ([...word].length < minBeginningLength) return [];
  const few = await tools.reader.beginning(session, word);
  const longer = few === undefined ? await tools.reader.longerWords(session, word) : undefined;
  if (few === 0 || longer?.length === 0) return [];
  const term: Term = { word, prefix: true, longer };
  return [{ choice: [term], factor: factors.beginning }];
}
