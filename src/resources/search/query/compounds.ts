/** Compound words: where they may be split, the letters that link their parts, and compounds of adjacent words. */
import type { Choice } from '../../../storage/search/expression.ts';
import { hasDigit, isDecimal, splitThousands } from '../../../storage/search/text/joined.ts';
import type { Stems } from '../../../storage/search/text/stems.ts';
import { isDivided } from '../../../storage/search/text/unspaced.ts';
import type { Piece } from './pieces.ts';
import type { Written } from './units.ts';
import { inflect, inflectEnd, removeUmlauts } from './unknown.ts';
import { type Alternative, factors, type QueryContext } from './word.ts';

const minPartLength = 3;
/** The shortest part that may have lost its last letter. */
const minStemLength = 4;
/** `drmartens`, `tvstand`: documents must have both parts. */
const minFirstLength = 2;
const plurals = ['s', 'es', 'n', 'en'] as const;
/** Shorter words are not compounds. */
const minCompoundLength = 6;
const maxCompoundLength = 40;
/** Letters that German puts between the parts of a compound. */
const links = ['s', 'es', 'n', 'en', 'er', 'e'] as const;
/** The letter that German drops there: `Schurwolle`, `Schurwollpullover`. */
const dropped = 'e';

/** A first part as it is, without the letters that link it to the next, and with the letter that it may have lost. */
function listPartForms(part: string): string[] {
  const parts = [part, ...(part.length >= minStemLength ? [part + dropped] : [])];
  for (const link of links)
    if (part.endsWith(link) && part.length - link.length >= minPartLength)
      parts.push(part.slice(0, -link.length));
  return parts.filter(candidate => candidate.length >= minPartLength);
}

/** All ways to split a word in two; the second part also without the ending of a plural. */
export function listSplits(word: string): [string, string][] {
  const points = [...word];
  if (points.length < minCompoundLength || points.length > maxCompoundLength) return [];
  const splits: [string, string][] = [];
  for (let at = minFirstLength; at <= points.length - minPartLength; at++) {
    const second = points.slice(at).join('');
    const start = points.slice(0, at).join('');
    for (const first of at < minPartLength ? [start] : listPartForms(start))
      for (const form of [second, ...removePluralEndings(second)]) splits.push([first, form]);
  }
  return splits;
}

function removePluralEndings(word: string): string[] {
  const found = plurals.filter(
    ending => word.endsWith(ending) && word.length - ending.length >= minPartLength,
  );
  return found.map(ending => word.slice(0, -ending.length));
}

interface Candidate {
  readonly word: string;
  readonly forms: readonly string[];
  /** Forms of the words in the other order. */
  readonly reversed: readonly string[];
  readonly isCode: boolean;
  readonly first: number;
  readonly last: number;
}

/** Shorter prefixes may match too many codes. */
const minCodeLength = 4;

/** What to read for words with digits and words joined to them, so that the reader can fetch it together. */
function listChoices(pieces: readonly Piece[], candidates: readonly Candidate[]): Choice[] {
  const choices: Choice[] = [];
  const add = (word: string, isLast: boolean) => {
    choices.push([{ word }]);
    if (isLast && word.length >= minCodeLength) choices.push([{ word, prefix: true }]);
  };
  for (const [index, { word }] of pieces.entries()) {
    if (!hasDigit(word)) continue;
    add(word, index === pieces.length - 1);
    const thousands = splitThousands(word);
    if (thousands.length > 1) choices.push(thousands.map(part => ({ word: part })));
  }
  for (const { word, isCode, last } of candidates) if (isCode) add(word, last === pieces.length - 1);
  return choices;
}

/** Adjacent words as one word: two of any kind, or up to four with a digit. In some languages also in the other order. */
function listCandidates(pieces: readonly Piece[], stems: Stems, isCompounding: boolean): Candidate[] {
  const candidates: Candidate[] = [];
  for (const [first, { word: start }] of pieces.entries()) {
    let word = start;
    for (let last = first + 1; last < Math.min(pieces.length, first + 4); last++) {
      const { word: end = '', isAdjacent = false } = pieces[last] ?? {};
      if (isAdjacent && isDecimal(pieces[last - 1]?.word ?? '', end, pieces[last + 1]?.word)) break;
      // `book shelves` matches `bookshelf`, too.
      const irregular = stems.others(end).map(form => word + form);
      word += end;
      // The dictionary splits a word that is still being typed differently from the whole word.
      const isCode = pieces.slice(first, last + 1).some(piece => hasDigit(piece.word)) || isDivided(word);
      const shortened =
        start.length > minStemLength && start.endsWith(dropped) ? start.slice(0, -1) + end : '';
      const plain = removeUmlauts(word);
      const joins = [word, ...(plain === word ? [] : [plain]), ...(shortened === '' ? [] : [shortened])];
      const forms = isCode ? [] : [...joins.flatMap(join => [join, ...inflect(join, stems)]), ...irregular];
      const isPair = last === first + 1;
      const reverse = end + start;
      const reversed =
        isCompounding && isPair && !isCode && Math.min(start.length, end.length) >= minPartLength
          ? [reverse, ...inflect(reverse, stems)]
          : [];
      if (isCode || isPair) candidates.push({ word, forms, reversed, isCode, first, last });
    }
  }
  return candidates;
}

/**
 * Adjacent words that documents write as one word; for codes also as the prefix of a word. In German and the like in
 * either order: a `hemd herren` is a `Herrenhemd`, while a `house light` is no `lighthouse`.
 */
export async function findJoinedNeighbours(
  { tools: { reader, stems, vocabulary, joined }, session, types, isCompounding }: QueryContext,
  pieces: readonly Piece[],
): Promise<Written[]> {
  const candidates = listCandidates(pieces, stems, pieces.length > 1 && (await isCompounding()));
  const forms = candidates.flatMap(candidate => [...candidate.forms, ...candidate.reversed]);
  const known =
    forms.length === 0
      ? new Set<string>()
      : await joined(session.seen, forms.join(' '), () => vocabulary.known(session, forms));
  await reader.fetch(session, listChoices(pieces, candidates));
  const found: Written[] = [];
  for (const { word, forms, reversed, isCode, first, last } of candidates) {
    for (const form of [...forms, ...reversed])
      if (known.has(form)) found.push({ choice: [{ word: form }], first, last });
    const isLast = last === pieces.length - 1;
    if (!isCode) continue;
    const few = isLast ? await reader.beginning(session, word) : undefined;
    if (few === 0) continue;
    const isThere = (choice: Choice) => reader.frequency(session, [[choice]], types);
    if ((await isThere([{ word }])) > 0) found.push({ choice: [{ word }], first, last });
    else if (isLast) {
      const longer = few === undefined ? await reader.longerWords(session, word) : undefined;
      const choice = [{ word, prefix: true, longer }];
      if (longer?.length !== 0 && (await isThere(choice)) > 0) found.push({ choice, first, last });
    }
  }
  return found;
}

/** Words that end with a shorter word have little in common with it. */
const minEndingLength = 3;
/** A word may end with a shorter head by chance. */
const minHeadLength = 4;
/** How many forms of a word are looked up as the ends of other words. */
const maxEndings = 6;
const maxCompounds = 12;
/**
 * Texts with one of these are German, Dutch, Swedish, Danish or Norwegian, which compound any words. In English, a
 * `vegetable` is not a `table`.
 */
const compoundingWords = ['und', 'mit', 'der', 'aus', 'voor', 'het', 'een', 'och', 'og'] as const;
/** A catalog counts as written in these languages if more than one in this many documents is. */
const many = 200;

/**
 * Words that end with one of the forms of a word. What comes before it must be a word too, or the language of the text
 * must compound any words. Other words are guesses, and are found only if documents have the word itself.
 * @param frequency how many documents have the word
 */
export async function findCompounds(
  context: QueryContext,
  forms: readonly string[],
  frequency: number,
): Promise<Alternative[]> {
  const { tools, session } = context;
  const heads = new Map<string, string>();
  for (const form of listEndings(forms, tools.stems)) {
    const found = await tools.vocabulary.ending(session, form, maxCompounds * 4);
    for (const compound of found)
      if (compound.length - form.length >= minPartLength && !heads.has(compound)) heads.set(compound, form);
  }
  const rests = new Map(
    Array.from(heads, ([compound, head]) => [compound, listPartForms(compound.slice(0, -head.length))]),
  );
  const known =
    rests.size === 0 ? new Set() : await tools.vocabulary.known(session, [...rests.values()].flat());
  const alternatives: Alternative[] = [];
  for (const [compound, head] of [...heads].slice(0, maxCompounds)) {
    const isLong = head.length >= minHeadLength;
    // For an unknown word of three letters, similar spellings are better than compounds.
    if (!isLong && frequency === 0) continue;
    const isMade = isLong && rests.get(compound)?.some(part => known.has(part)) === true;
    const isCertain =
      isMade || (await (frequency === 0 ? context.isCompounding() : isInCompoundingText(context, compound)));
    if (!isCertain && frequency === 0) continue;
    const alternative = { choice: [{ word: compound }], factor: factors.compound, isCompound: true };
    alternatives.push(isCertain ? alternative : { ...alternative, isGuess: true });
  }
  return alternatives;
}

/** What may be the end of a compound: the forms of a word, and the word without an ending. */
function listEndings(forms: readonly string[], stems: Stems): readonly string[] {
  const [word = ''] = forms;
  // Without an ending, it still has a digit.
  if (hasDigit(word)) return [];
  const shorter = inflectEnd(word, stems).filter(form => form.length < word.length);
  return [...new Set([...forms, ...shorter])]
    .filter(form => !hasDigit(form) && [...form].length >= minEndingLength)
    .slice(0, maxEndings);
}

type TextContext = Pick<QueryContext, 'tools' | 'session' | 'types'>;

/** How many documents have such a function word together with the given words. */
function countCompoundingTexts({ tools, session, types }: TextContext, ...words: string[]): Promise<number> {
  const choices = compoundingWords.map((other): Choice => [other, ...words].map(word => ({ word })));
  return tools.reader.frequency(session, [choices], types);
}

const isInCompoundingText = async (context: TextContext, word: string): Promise<boolean> =>
  (await countCompoundingTexts(context, word)) > 0;

export const isCompoundingCatalog = async (context: TextContext): Promise<boolean> =>
  (await countCompoundingTexts(context)) * many > (await context.tools.reader.documents(context.session));
