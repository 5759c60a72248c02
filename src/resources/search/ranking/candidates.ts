/** Which documents are scored: those with all words or, where they are few, with fewer; of very many the likeliest. */
import type { Expression, Term } from '../../../storage/search/expression.ts';
import type { SearchSession } from '../../../storage/search/frequency.ts';
import { type DocumentType, typeAt } from '../../../storage/search/index.ts';
import { titleMarks } from '../../../storage/search/text/words.ts';
import type { HitReader } from './filtered.ts';
import type { QueryWord } from './understand.ts';

/** So many hits are put in order at most; what comes after them is in the order of the index. */
export const mostCandidates = 200;
/** Where fewer hits have all words, others are added that have fewer. */
const enoughHits = 50;
/** Questions to the index about hits with fewer words. */
const mostQuestions = 64;
/** Of long queries hits may lack all but some of so many words. */
const rarestWords = 5;

export interface Candidates {
  readonly positions: readonly number[];
  /** All hits, where they are more than the candidates. */
  readonly all: Expression | undefined;
  /** Those that have all words. */
  readonly expression: Expression;
  readonly counts: ReadonlyMap<DocumentType, number>;
}

interface Asked {
  readonly reader: HitReader;
  readonly session: SearchSession;
  readonly words: readonly QueryWord[];
  /** The types whose hits are counted. */
  readonly visible: readonly DocumentType[];
  /** Some of those: the types whose hits are wanted. */
  readonly types: readonly DocumentType[];
}

/** @param mark only words of titles with this mark */
function expressionOf(words: readonly QueryWord[], mark?: string): Expression {
  const marked = (term: Term): Term => (mark === undefined ? term : { ...term, mark, longer: undefined });
  return words.map(({ alternatives }) => alternatives.map(({ choice }) => choice.map(marked)));
}

export async function candidatesFor(asked: Asked): Promise<Candidates> {
  const { reader, session, words, visible, types } = asked;
  if (words.length === 0 || visible.length === 0)
    return { positions: [], all: undefined, expression: [], counts: countsOf([], visible) };
  const all = expressionOf(words);
  const smallest = smallestOf(words);
  const known = await reader.cached(session, all, visible, smallest);
  const first =
    known === undefined
      ? await reader.page(session, all, visible, { limit: mostCandidates + 1, smallest })
      : [];
  if (known !== undefined || first.length > mostCandidates) {
    const counts = known ?? (await reader.counts(session, all, visible, smallest));
    return { positions: await likeliest(asked, words, mostCandidates), all, expression: all, counts };
  }
  const positions = first.length < enoughHits ? await withFewerWords(asked, first) : first;
  return {
    positions: positions.filter(position => types.includes(typeAt(position))),
    all: undefined,
    expression: all,
    counts: countsOf(positions, visible),
  };
}

function countsOf(positions: readonly number[], types: readonly DocumentType[]) {
  const counts = new Map<DocumentType, number>(types.map(type => [type, 0]));
  for (const position of positions) counts.set(typeAt(position), (counts.get(typeAt(position)) ?? 0) + 1);
  return counts;
}

/** No more documents than this have all of the words; undefined where that is not known. */
function smallestOf(words: readonly QueryWord[]): number | undefined {
  const bounded = words.filter(({ alternatives }) =>
    alternatives.every(({ choice }) =>
      choice.every(({ prefix, longer }) => prefix !== true || longer !== undefined),
    ),
  );
  return bounded.length === 0 ? undefined : Math.min(...bounded.map(({ frequency }) => frequency));
}

/** Of very many hits: with all words in a title, short titles before long ones, then others. */
async function likeliest(asked: Asked, words: readonly QueryWord[], limit: number): Promise<number[]> {
  const { reader, session, types } = asked;
  const found = new Set<number>();
  const smallest = smallestOf(words);
  for (const mark of [...titleMarks, undefined]) {
    const page = { limit: mark === undefined ? limit : limit - found.size, smallest };
    for (const position of await reader.page(session, expressionOf(words, mark), types, page))
      found.add(position);
    if (found.size >= limit) break;
  }
  return [...found].slice(0, limit);
}

/** Adds hits that lack words: the commonest first, until there are enough. */
async function withFewerWords(asked: Asked, first: readonly number[]): Promise<number[]> {
  const { words, visible } = asked;
  const found = new Set(first);
  const possible = words.filter(({ frequency, alternatives }) => frequency > 0 || alternatives.length > 1);
  const rarestFirst = [...possible].sort((a, b) => a.frequency - b.frequency);
  let questions = 0;
  const ask = async (kept: readonly QueryWord[]): Promise<void> => {
    questions += 1;
    const more = await likeliestOf({ ...asked, types: visible }, kept, enoughHits);
    for (const position of more) if (found.size < mostCandidates) found.add(position);
  };
  if (possible.length > 0 && possible.length < words.length) await ask(possible);
  for (const kept of withFewer(rarestFirst)) {
    if (found.size >= enoughHits || questions >= mostQuestions) break;
    await ask(kept);
  }
  return [...found];
}

/** Which words hits may have: all but one, all but two, two of the rarest, then any. @param words the rarest first */
function* withFewer(words: readonly QueryWord[]): Generator<readonly QueryWord[]> {
  const { length } = words;
  for (const missing of [1, 2]) if (length - missing >= 2) yield* subsets(words, missing);
  const rarest = words.slice(0, rarestWords);
  for (const size of [3, 2]) if (length - size > 2) yield* subsets(rarest, rarest.length - size);
  if (length > 1) for (const word of words) yield [word];
}

/** The same as `likeliest` for hits that may be few. */
async function likeliestOf(asked: Asked, words: readonly QueryWord[], limit: number): Promise<number[]> {
  const { reader, session, types } = asked;
  const page = { limit: limit + 1, smallest: smallestOf(words) };
  const some = await reader.page(session, expressionOf(words), types, page);
  return some.length > limit ? likeliest(asked, words, limit) : some;
}

/** The words without so many of them, the last of the list left out first. */
function* subsets<Item>(items: readonly Item[], without: number): Generator<Item[]> {
  if (without < 0) return;
  if (without === 0) {
    yield [...items];
    return;
  }
  for (let index = items.length - 1; index >= without - 1; index--) {
    const after = items.slice(index + 1);
    for (const rest of subsets(items.slice(0, index), without - 1)) yield [...rest, ...after];
  }
}
