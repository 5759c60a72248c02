/**
 * Hits of searches with filters, an order or facets: of those that the query has without filters the ones that match
 * them. Hits that lack words are those of the query, too, whatever the filters: so a facet counts for each value what
 * the search finds that has this value as its filter.
 */
import type { Expression } from '../../../storage/search/expression.ts';
import {
  type CandidateRequest,
  type Candidates,
  completeCandidates,
  filterCandidates,
  findCandidates,
} from './candidates.ts';
import type { HitReader } from './filtered.ts';

/** What facets count among: the hits whether they match the filters or not. */
export interface Unfiltered {
  /** What all of them have that are not listed. */
  readonly expression: Expression | undefined;
  readonly positions: readonly number[];
}

interface Narrowing {
  /** Reads hits that match the filters. */
  readonly filtered: HitReader;
  /** Whether a hit matches the filters; undefined without filters. */
  readonly matches: ((position: number) => boolean) | undefined;
  /** Of hits that are put in an order: those that have all words. */
  readonly wholeOf: ((candidates: Candidates) => Promise<Candidates>) | undefined;
}

interface Narrowed {
  readonly candidates: Candidates;
  readonly unfiltered: Unfiltered;
}

/** @param request with what reads hits whether they match the filters or not */
export async function narrowCandidates(request: CandidateRequest, narrowing: Narrowing): Promise<Narrowed> {
  const { matches, filtered } = narrowing;
  const complete = await completeCandidates(request);
  if (complete !== undefined) return narrowComplete(complete, request, narrowing);
  const candidates = await findCandidates({ ...request, reader: filtered, strict: true });
  const { expression } = candidates;
  if (candidates.positions.length > 0 || matches === undefined)
    return { candidates, unfiltered: { expression, positions: [] } };
  const others = await findOthersMatching(request, narrowing);
  return { candidates: others, unfiltered: { expression, positions: others.positions } };
}

/** @param complete all hits, whether they match the filters or not */
async function narrowComplete(
  complete: Candidates,
  request: CandidateRequest,
  narrowing: Narrowing,
): Promise<Narrowed> {
  const { matches, wholeOf } = narrowing;
  const whole = wholeOf === undefined ? complete : await wholeOf(complete);
  const hits = whole.positions.length === 0 ? complete : whole;
  const toNarrowed = (candidates: Candidates): Narrowed => {
    const positions = [...new Set([...hits.positions, ...candidates.positions])];
    return { candidates, unfiltered: { expression: undefined, positions } };
  };
  if (matches === undefined) return toNarrowed(hits);
  for (const some of [hits, complete]) {
    const candidates = filterCandidates(some, request.types, matches);
    if (candidates.positions.length > 0) return toNarrowed(candidates);
  }
  return toNarrowed(await findOthersMatching(request, narrowing));
}

/** No hit of the query matches the filters: those that do have fewer words. */
async function findOthersMatching(
  request: CandidateRequest,
  { filtered, wholeOf }: Narrowing,
): Promise<Candidates> {
  const others = await findCandidates({ ...request, reader: filtered });
  const whole = await wholeOf?.(others);
  return whole === undefined || whole.positions.length === 0 ? others : whole;
}
