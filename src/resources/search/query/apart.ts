/** A word of a query written as several: a number and its unit, a name and its number, the parts of a compound. */
import { splitLettersAndDigits, splitThousands } from '../../../storage/search/text/joined.ts';
import { listSplits } from './compounds.ts';
import { type Alternative, factors, type QueryContext, readFrequency, toSeveralWords } from './word.ts';

/** The vocabulary has no shorter words: only the index shows whether documents have them. */
const minKeptLength = 3;
/** Letters before the number of a code: `galaxys24`. */
const maxPrefixLength = 2;
/** `80x202` or the thread `m8x40`, which texts also write with a multiplication sign. */
const measures = /^m?\d+(?:x\d+)+$/;
/** The letters after the number of a model: `master3s`. */
const model = /^(\p{L}{3,})(\p{N}+\p{L}{1,2})$/u;

/** The words that a word is made of: they count nearly as much as the word if more documents have them, else less. */
export async function findWordsApart(
  context: QueryContext,
  word: string,
  frequency: number,
): Promise<Alternative[]> {
  const mixed = splitLettersAndDigits(word);
  const [, name = '', number = ''] = model.exec(word) ?? [];
  const thousands = (mixed.length > 0 ? mixed : [word]).flatMap(splitThousands);
  const ways = [
    mixed,
    ...(thousands.length > mixed.length ? [thousands] : []),
    ...(name === '' ? [] : [[name, number]]),
  ];
  const several = ways.filter(words => words.length > 1).map(words => toSeveralWords(words, factors.apart));
  if (several.length === 0) return findTwoWords(context, word, frequency);
  // Adjacent numbers may be the measures of anything.
  if (measures.test(word)) {
    const [first = '', ...others] = word.split('x');
    return [
      ...several,
      // `5x80` is also written `5,0x80`, which is two words.
      toSeveralWords([first, `0${word.slice(first.length)}`], factors.apart),
      { ...toSeveralWords([first, ...others], factors.apart), isGuess: true },
    ];
  }
  for (const { choice } of several) if ((await readFrequency(context, choice)) > 0) return several;
  return findNumberedNames(context, word);
}

/** A name and a number written as one word: `galaxys24` is a `Galaxy S24`, `fritzbox7590` a `FRITZ!Box 7590`. */
async function findNumberedNames(context: QueryContext, word: string): Promise<Alternative[]> {
  const [name = ''] = splitLettersAndDigits(word);
  const number = word.slice(name.length);
  const ways = Array.from({ length: name.length }, (_, at) => [name.slice(0, at), name.slice(at)] as const)
    .filter(([first]) => first.length >= minKeptLength)
    .map(([first, rest]) =>
      rest.length <= maxPrefixLength ? [first, rest + number] : [first, rest, number],
    );
  const known = await context.tools.vocabulary.known(context.session, ways.flat());
  return ways
    .filter(([first = '', ...rest]) => known.has(first) && (rest.length === 1 || known.has(rest[0] ?? '')))
    .map(words => toSeveralWords(words, factors.apart));
}

/** One word in the query that documents write as two. */
async function findTwoWords(context: QueryContext, word: string, frequency: number): Promise<Alternative[]> {
  const splits = listSplits(word);
  if (splits.length === 0) return [];
  const known = await context.tools.vocabulary.known(context.session, splits.flat());
  const possible = splits.filter(parts =>
    parts.every(part => part.length < minKeptLength || known.has(part)),
  );
  const found: Alternative[] = [];
  for (const parts of possible) {
    const { choice } = toSeveralWords(parts, factors.apart);
    const total = await readFrequency(context, choice);
    if (total > 0) found.push({ choice, factor: total > frequency ? factors.apart : factors.compound });
  }
  return found;
}
