/** Counts facets of products: how many have each value. Each facet ignores the conditions on itself. */
import { takeTurn } from '../../turns/index.ts';
import type { Database, Session } from '../database.ts';
import type { Condition } from '../list/request.ts';
import {
  type Countable,
  computeFacetRange,
  computeFacetValues,
  type FacetRange,
  type FacetValues,
} from './facet.ts';
import type { Columns } from './index.ts';
import { copyRows, createColumnFinder, type MatchedColumns } from './matching.ts';
import { has, intersectRows, type RowSet, toRowSet } from './rows.ts';

/** The column that is counted by ranges. */
const rangeColumn = 'price';

export interface FacetRequest {
  /** Names of columns: `brand`, `attr.colour`. */
  readonly facets: readonly string[];
  readonly conditions: readonly Condition[];
}

export interface Facets {
  readonly values: Readonly<Record<string, FacetValues>>;
  readonly ranges: Readonly<Record<string, FacetRange>>;
}

/** Facets in the state of a version. */
interface CountedFacets extends Facets {
  readonly version: number;
}

export type FacetCounter = ReturnType<typeof createFacetCounter>;

export function createFacetCounter(
  database: Pick<Database, 'build' | 'dialect' | 'read' | 'snapshot'>,
  columns: Columns,
) {
  const finder = createColumnFinder(database, columns);
  const count = async ({ facets }: FacetRequest, found: MatchedColumns): Promise<CountedFacets> => {
    const counted = await countFacets(facets, {
      columns: found.columns,
      matches: await selectMatches(found),
    });
    return { ...counted, version: found.version };
  };
  return {
    /** Counts as of a check that is made now. @throws TooManyValues */
    count: (request: FacetRequest) => finder.use(request, found => count(request, found)),
    /** Counts in the state of a snapshot that has read nothing yet. @throws TooManyValues */
    countIn: (session: Session, request: FacetRequest) =>
      finder.useIn(session, request, found => count(request, found)),
    /**
     * Copies the data for counting facets of rows that have yet to be found, as of a check that is made now.
     * @param kind a condition that all facets are counted with
     * @throws TooManyValues
     */
    keep: ({ facets, conditions }: FacetRequest, kind: Condition) =>
      finder.use({ facets, conditions: [...conditions, kind] }, async found =>
        createKeptFacets(facets, await copyCounted(facets, found)),
      ),
  };
}

interface MatchingRows {
  /** The column of the condition. */
  readonly name: string;
  readonly rows: RowSet;
}

/** The columns and matching rows that facets are counted from. */
interface Counted {
  readonly columns: ReadonlyMap<string, Countable>;
  readonly matches: readonly MatchingRows[];
}

/**
 * Evaluates conditions in slices: with very many rows, each takes some milliseconds. Nothing is awaited while the turn
 * has time, since other requests that begin in this turn would still find it so.
 */
async function selectMatches({ matches }: Pick<MatchedColumns, 'matches'>): Promise<MatchingRows[]> {
  const found: MatchingRows[] = [];
  for (const { name, rows } of matches) {
    const due = takeTurn();
    if (due !== undefined) await due;
    found.push({ name, rows: rows() });
  }
  return found;
}

/** Counts in slices: with very many rows, each facet takes some milliseconds. @param base limits rows in all facets */
async function countFacets(
  facets: readonly string[],
  { columns, matches }: Counted,
  base: readonly RowSet[] = [],
): Promise<Facets> {
  const intersectWithout = (name: string) =>
    intersectRows([...base, ...matches.filter(one => one.name !== name).map(({ rows }) => rows)]);
  let all: { rows: RowSet | undefined } | undefined;
  const values: Record<string, FacetValues> = {};
  const ranges: Record<string, FacetRange> = {};
  for (const name of facets) {
    const column = columns.get(name);
    if (column === undefined) continue;
    const isOwn = matches.some(one => one.name === name);
    if (!isOwn) all ??= { rows: intersectWithout(name) };
    const rows = isOwn ? intersectWithout(name) : all?.rows;
    if (name === rangeColumn) ranges[name] = await computeFacetRange(column, rows);
    else values[name] = await computeFacetValues(column, rows);
    await takeTurn();
  }
  return { values, ranges };
}

/** Copies the data that facets are counted from, so that it no longer changes. */
async function copyCounted(facets: readonly string[], found: MatchedColumns): Promise<Counted> {
  const columns = new Map<string, Countable>();
  for (const name of facets) {
    const column = found.columns.get(name);
    if (column === undefined) continue;
    const codes = column.codes().slice();
    // Values and combinations may be added, but existing ones never change, so they are not copied.
    const { members, values, singles, numbers } = column;
    columns.set(name, { codes: () => codes, uses: [...column.uses], members, values, singles, numbers });
  }
  const matches = await selectMatches(found);
  return { columns, matches: matches.map(({ name, rows }) => ({ name, rows: copyRows(rows) })) };
}

/** The last of the matches must be that of the condition on the kind. */
function createKeptFacets(facets: readonly string[], { columns, matches }: Counted) {
  const all = intersectRows(matches.map(({ rows }) => rows)) ?? toRowSet([]);
  const [conditions, kind] = [matches.slice(0, -1), matches.slice(-1).map(({ rows }) => rows)];
  return {
    matches: (id: number) => has(all, id),
    /** Counts how many of these rows match all conditions, and the facets of these rows. */
    async count(ids: readonly number[]): Promise<Facets & { readonly total: number }> {
      const among = toRowSet(ids);
      const total = intersectRows([among, all])?.count ?? 0;
      return { total, ...(await countFacets(facets, { columns, matches: conditions }, [among, ...kind])) };
    },
  };
}
