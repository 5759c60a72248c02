/** The results of a query: the ranked hits, how all others are found, and how many there are of each type. */
import type { Condition, Order, PageRequest } from '../../storage/list/request.ts';
import { type DocumentType, getDocumentId, type SearchType } from '../../storage/search/index.ts';
import type { SearchSession } from '../../storage/search/reading/frequency.ts';
import type { createSortedReader } from '../../storage/search/sorted.ts';
import type { Definitions } from '../attributes/store.ts';
import type { Synonyms } from '../synonyms/store.ts';
import type { NameFinder } from './query/named.ts';
import { understand } from './query/understand.ts';
import { negligible, type QueryTools, type QueryWord } from './query/word.ts';
import { type Candidates, filterCandidates, findCandidates } from './ranking/candidates.ts';
import type { Features } from './ranking/features.ts';
import { createFilteredReader, type HitReader } from './ranking/filtered.ts';
import { narrowCandidates, type Unfiltered } from './ranking/narrowed.ts';
import { computeLastPlace, type RankedHit, type Ranking, rankDocuments, rankHead } from './ranking/ranked.ts';
import type { ScorableReader } from './ranking/scorable-cache.ts';
import { findCorrection, type Weighed, weighWords } from './ranking/score.ts';
import { rankTypedHits } from './ranking/typed.ts';
import type { Codes, createCodeLookup } from './ranking/variant-codes.ts';
import { createWordTest, type WordTest } from './snippet.ts';
import type { DocumentReader } from './sources.ts';

export interface SearchRequest {
  readonly query: string;
  /** The types the caller may read. */
  readonly visible: readonly SearchType[];
  /** The types requested: a subset of `visible`. */
  readonly types: readonly SearchType[];
  readonly page: PageRequest;
  /** Whether to search archived products instead of the active ones. */
  readonly archived?: boolean;
  readonly conditions?: readonly Condition[];
  /** Whether the product with an id matches `conditions`, if that is already known. */
  readonly matches?: ((id: number) => boolean) | undefined;
  /** The order of products, if not best first. */
  readonly order?: Order | undefined;
  /** Whether to return the ids of all products found, too. */
  readonly ids?: boolean;
  /** For suggestions: completions of the last word. Some good hits are enough then, and nothing is counted. */
  readonly completions?: readonly string[];
}

export interface ReadyRequest extends SearchRequest {
  /** Whether the product with an id matches the filters; undefined without filters. */
  readonly matches: ((id: number) => boolean) | undefined;
  readonly synonyms: Synonyms;
  readonly definitions: Definitions;
}

export interface Tools extends QueryTools {
  readonly named: NameFinder;
  readonly documentsOf: DocumentReader;
  readonly scorablesOf: ScorableReader;
  readonly sorted: ReturnType<typeof createSortedReader>;
  readonly coded: ReturnType<typeof createCodeLookup>;
}

/** A word of a query that the best hit has in another spelling. */
export interface Correction {
  readonly word: string;
  readonly as: string;
}

/** The results of a query, before they are divided into pages. */
export interface Results {
  readonly reader: HitReader;
  readonly ranking: Ranking;
  /** The hits that facets count. */
  readonly unfiltered: Unfiltered;
  readonly counts: ReadonlyMap<DocumentType, number>;
  /** Words with typing errors, and how the best hit spells them. */
  readonly corrected: readonly Correction[];
  /** Which words of a text to mark. */
  readonly marks: WordTest;
}

/** The types in the index that requested types stand for. */
export const toDocumentTypes = (
  types: readonly SearchType[],
  { archived = false }: Pick<SearchRequest, 'archived'>,
): readonly DocumentType[] =>
  archived ? types.map(type => (type === 'product' ? 'archived' : type)) : types;

/** @param tools find products by the codes of variants, too */
export async function readResults(
  tools: Tools,
  session: SearchSession,
  requested: ReadyRequest,
  codes: Codes,
): Promise<Results> {
  const { query, matches, synonyms, definitions, completions, page, order, ids = false } = requested;
  const visible = toDocumentTypes(requested.visible, requested);
  const types = toDocumentTypes(requested.types, requested);
  const reader = matches === undefined ? tools.reader : createFilteredReader(tools.reader, matches);
  const question = { query, types: visible, synonyms, definitions, codes: codes.coded, completions };
  const words = await understand(tools, session, question);
  const documents = await tools.reader.documents(session);
  // A search for a code does not mean products that have only a part of it.
  const strict = codes.isWhole;
  const needed = words.filter(({ isName }) => !isName);
  const request = { reader: tools.reader, session, words: needed, visible, types, documents, strict };
  const weights = weighWords(words, documents);
  const rankSome = async (some: readonly number[]) =>
    rankDocuments(await tools.scorablesOf(session, some, tools.documentsOf), weights);
  // Hits for a code in one piece show their name: most have the code only from a variant, in none of their texts.
  const found = { reader, marks: createWordTest(strict && words.length === 1 ? [] : words) };
  if (completions !== undefined)
    return {
      ...found,
      unfiltered: nothing,
      corrected: [],
      ...(await rankTypedHits(request, rankSome, computeLastPlace(page))),
    };
  const isNarrow = matches !== undefined || order !== undefined || ids;
  const { candidates, unfiltered } = isNarrow
    ? await narrowCandidates(request, {
        filtered: reader,
        matches: matches && (position => matches(getDocumentId(position))),
        wholeOf: order && (complete => selectWhole(complete, types, { words, scored: rankSome })),
      })
    : { candidates: await findCandidates(request), unfiltered: nothing };
  const { positions, likely, all, counts } = candidates;
  const head = await rankHead(
    positions,
    rankSome,
    likely,
    order === undefined ? computeLastPlace(page) : undefined,
  );
  const mayBeCorrected = words.some(({ alternatives }) => alternatives.some(one => one.isCorrection));
  const best = mayBeCorrected ? head.slice(0, 1).map(({ position }) => position) : [];
  const [first] = (await tools.scorablesOf(session, best, tools.documentsOf)).values();
  const corrected = first === undefined ? [] : collectCorrections(first.features, weights);
  const total = types.reduce((sum, type) => sum + (counts.get(type) ?? 0), 0);
  return { ...found, unfiltered, ranking: { head, all, types, total }, counts, corrected };
}

const collectCorrections = (features: Features, words: readonly Weighed[]): Correction[] =>
  words.flatMap(word => {
    const as = findCorrection(features, word);
    return as === undefined ? [] : [{ word: word.text, as }];
  });

const nothing: Unfiltered = { expression: undefined, positions: [] };

interface Scoring {
  readonly words: readonly QueryWord[];
  readonly scored: (some: readonly number[]) => Promise<readonly RankedHit[]>;
}

/** Keeps the candidates that lack no words except fillers. */
async function selectWhole(
  candidates: Candidates,
  types: readonly DocumentType[],
  { words, scored }: Scoring,
): Promise<Candidates> {
  const { positions, whole } = candidates;
  const accepted = new Set(positions.slice(0, whole));
  const fillers = words.filter(({ importance }) => importance <= negligible).map(({ text }) => text);
  if (fillers.length > 0 && fillers.length < words.length) {
    for (const { position, missing } of await scored(positions.slice(whole)))
      if (missing.every(word => fillers.includes(word))) accepted.add(position);
  }
  return filterCandidates(candidates, types, position => accepted.has(position));
}
