/** Facets of products: how many have each value, each facet counted without the conditions on itself. */
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

/** What is counted by the range it lies in. */
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
    /** As new as a check that is made now. @throws TooManyValues */
    count: (request: FacetRequest) => finder.use(request, found => count(request, found)),
    /** As a session has them that sees one state, and has read nothing yet. @throws TooManyValues */
    countIn: (session: Session, request: FacetRequest) =>
      finder.useIn(session, request, found => count(request, found)),
    /**
     * Keeps what is to be counted among rows that are yet to be found, as new as a check that is made now.
     * @param kind a condition that no facet is counted without
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

/** What is counted in. */
interface Counted {
  readonly columns: ReadonlyMap<string, Countable>;
  readonly matches: readonly MatchingRows[];
}

/** In slices: of very many rows each condition takes some milliseconds. */
async function selectMatches({ matches }: Pick<MatchedColumns, 'matches'>): Promise<MatchingRows[]> {
  const found: MatchingRows[] = [];
  for (const { name, rows } of matches) {
    found.push({ name, rows: rows() });
    await takeTurn();
  }
  return found;
}

/** In slices: of very many rows each facet takes some milliseconds. @param base rows that all facets are counted of */
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

/** What facets are counted of, so that it does not change any more. */
async function copyCounted(facets: readonly string[], found: MatchedColumns): Promise<Counted> {
  const columns = new Map<string, Countable>();
  for (const name of facets) {
    const column = found.columns.get(name);
    if (column === undefined) continue;
    const codes = column.codes().slice();
    // Values and their combinations are added to, and otherwise stay what they are.
    const { members, values, singles, numbers } = column;
    columns.set(name, { codes: () => codes, uses: [...column.uses], members, values, singles, numbers });
  }
  const matches = await selectMatches(found);
  return { columns, matches: matches.map(({ name, rows }) => ({ name, rows: copyRows(rows) })) };
}

/** @param counted with the condition on the kind as the last one */
function createKeptFacets(facets: readonly string[], { columns, matches }: Counted) {
  const all = intersectRows(matches.map(({ rows }) => rows)) ?? toRowSet([]);
  const [conditions, kind] = [matches.slice(0, -1), matches.slice(-1).map(({ rows }) => rows)];
  return {
    /** Whether the row of an id matches all conditions. */
    matches: (id: number) => has(all, id),
    /** How many of these rows do, and the facets of these rows. */
    async count(ids: readonly number[]): Promise<Facets & { readonly total: number }> {
      const among = toRowSet(ids);
      const total = intersectRows([among, all])?.count ?? 0;
      return { total, ...(await countFacets(facets, { columns, matches: conditions }, [among, ...kind])) };
    },
  };
}
