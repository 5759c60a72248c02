/**
 * Hits of searches with filters, an order or facets: the hits that the query has without filters, reduced to those that
 * match. Hits that lack words are also selected regardless of the filters. A facet therefore counts for each value what
 * the search finds with that value as its filter.
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

/** The hits that facets count, whether they match the filters or not. */
export interface Unfiltered {
  /** Matches the hits that are not in `positions`. */
  readonly expression: Expression | undefined;
  readonly positions: readonly number[];
}

interface Narrowing {
  readonly filtered: HitReader;
  /** Whether a hit matches the filters; undefined without filters. */
  readonly matches: ((position: number) => boolean) | undefined;
  /** For hits in a requested order: keeps those that have all words. */
  readonly wholeOf: ((candidates: Candidates) => Promise<Candidates>) | undefined;
}

interface Narrowed {
  readonly candidates: Candidates;
  readonly unfiltered: Unfiltered;
}

/** @param request its reader ignores the filters */
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

/** Finds hits with fewer words that match the filters, when no hit of the query does. */
async function findOthersMatching(
  request: CandidateRequest,
  { filtered, wholeOf }: Narrowing,
): Promise<Candidates> {
  const others = await findCandidates({ ...request, reader: filtered });
  const whole = await wholeOf?.(others);
  return whole === undefined || whole.positions.length === 0 ? others : whole;
}
