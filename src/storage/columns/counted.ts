/** Facets of products: how many have each value, each facet counted without the conditions on itself. */
import { sql } from 'kysely';
import { createSlices } from '../../slices.ts';
import type { Database } from '../database.ts';
import type { Condition } from '../list/request.ts';
import type { Column } from './column.ts';
import { computeFacetRange, computeFacetValues, type FacetRange, type FacetValues } from './facet.ts';
import type { Columns } from './index.ts';
import { has, intersectRows, type RowSet, toRowSet } from './rows.ts';
import { type ColumnSource, findSource } from './source.ts';
import { toAttributeTest } from './tests.ts';

/** What is counted by the range it lies in. */
const rangeColumn = 'price';

export interface FacetRequest {
  /** Names of columns: `brand`, `attr.colour`. */
  readonly facets: readonly string[];
  readonly conditions: readonly Condition[];
  /** Only rows of these ids: those that a search has found. */
  readonly within?: readonly number[];
}

export interface Facets {
  readonly values: Readonly<Record<string, FacetValues>>;
  readonly ranges: Readonly<Record<string, FacetRange>>;
}

/** A condition on a column, and the rows that meet it. */
interface Met {
  readonly name: string;
  readonly rows: (columns: ReadonlyMap<string, Column>) => RowSet;
}

/**
 * @returns a function that counts facets, as new as a check that is made now
 * @throws TooManyValues
 */
export function createFacetCounter(database: Pick<Database, 'build' | 'read'>, columns: Columns) {
  return async ({ facets, conditions, within }: FacetRequest): Promise<Facets> => {
    const looked = await Promise.all(conditions.map(condition => resolveCondition(database, condition)));
    const sources = new Map<string, ColumnSource>();
    for (const name of [...facets, ...conditions.map(({ column }) => column)]) {
      const source = findSource(name);
      if (source !== undefined) sources.set(name, source);
    }
    return columns.use([...sources.values()], found =>
      count(facets, looked, mapByName([...sources.keys()], found), within),
    );
  };
}

const mapByName = (names: readonly string[], columns: readonly Column[]): ReadonlyMap<string, Column> =>
  new Map(
    names.flatMap((name, index) => {
      const column = columns[index];
      return column === undefined ? [] : [[name, column]];
    }),
  );

/**
 * @returns a function that gives a test of ids: whether the row of one meets all conditions, as new as a check that is
 * made now; undefined without conditions
 * @throws TooManyValues
 */
export function createRowFinder(database: Pick<Database, 'build' | 'read'>, columns: Columns) {
  return async (conditions: readonly Condition[]): Promise<((id: number) => boolean) | undefined> => {
    const looked = await Promise.all(conditions.map(condition => resolveCondition(database, condition)));
    const sources = new Map<string, ColumnSource>();
    for (const { column } of conditions) {
      const source = findSource(column);
      if (source !== undefined) sources.set(column, source);
    }
    return columns.use([...sources.values()], found => {
      const there = mapByName([...sources.keys()], found);
      const met = intersectRows(looked.map(({ rows }) => rows(there)));
      if (met === undefined) return undefined;
      // A copy: columns change with the next turn of the event loop.
      const rows = { words: met.words.slice(), count: met.count };
      return id => has(rows, id);
    });
  };
}

/** In slices: of very many rows each facet takes some milliseconds. */
async function count(
  facets: readonly string[],
  conditions: readonly Met[],
  columns: ReadonlyMap<string, Column>,
  within: readonly number[] | undefined,
): Promise<Facets> {
  const { turn } = createSlices();
  const base = within === undefined ? [] : [toRowSet(within)];
  const met: { readonly name: string; readonly rows: RowSet }[] = [];
  for (const { name, rows } of conditions) {
    met.push({ name, rows: rows(columns) });
    await turn();
  }
  const intersectWithout = (name: string) =>
    intersectRows([...base, ...met.filter(one => one.name !== name).map(({ rows }) => rows)]);
  let all: { rows: RowSet | undefined } | undefined;
  const values: Record<string, FacetValues> = {};
  const ranges: Record<string, FacetRange> = {};
  for (const name of facets) {
    const column = columns.get(name);
    if (column === undefined) continue;
    const isOwn = met.some(one => one.name === name);
    if (!isOwn) all ??= { rows: intersectWithout(name) };
    const rows = isOwn ? intersectWithout(name) : all?.rows;
    if (name === rangeColumn) ranges[name] = await computeFacetRange(column, rows, turn);
    else values[name] = await computeFacetValues(column, rows, turn);
    await turn();
  }
  return { values, ranges };
}

async function resolveCondition(
  { build, read }: Pick<Database, 'build' | 'read'>,
  condition: Condition,
): Promise<Met> {
  const name = condition.column;
  const test = toAttributeTest(condition);
  if (test !== undefined) {
    return {
      name,
      rows: columns => columns.get(name)?.rows(test) ?? toRowSet([]),
    };
  }
  if (condition.operator !== '=')
    throw new Error(`no facet is counted under a condition ${condition.operator}`);
  // What names one row, or a few.
  const query = sql<{ id: number }>`select id from products where ${sql.ref(name)} = ${condition.value}`;
  const ids = (await read.all(query.compile(build))).map(({ id }) => id);
  return { name, rows: () => toRowSet(ids) };
}
