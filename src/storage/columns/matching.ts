/** Finds rows that match the conditions of lists, by tests of columns in memory, or by queries for other columns. */
import { type RawBuilder, sql } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import type { AttributeTest } from '../attributes/condition.ts';
import { buildVersion } from '../changes/versions.ts';
import type { Database, Session } from '../database.ts';
import type { Condition } from '../list/request.ts';
import {
  buildComparedSql,
  buildConditionArguments,
  buildMembershipSql,
  buildSource,
  buildWhere,
} from '../list/sources.ts';
import type { Columns, NamedColumns } from './index.ts';
import { has, intersectRows, type RowSet, toRowSet } from './rows.ts';
import { type ColumnSource, findSource, TooManyValues } from './source.ts';

/** Ids that are joined in one row of a result. */
const idsPerRow = 10_000;
interface Joined {
  readonly ids: string;
}

/** How often conditions are evaluated if others change rows between the columns and the queries. */
const attempts = 3;

/** The test of a condition on a column in memory; undefined if only the database can evaluate the condition. */
export function toAttributeTest(condition: Condition): AttributeTest | undefined {
  if (condition.operator === 'attribute') return condition.test;
  if (findSource(condition.column) === undefined || condition.operator === 'is null') return undefined;
  if (condition.operator === 'in') return { of: 'equal', texts: condition.values.map(String) };
  const { operator, value } = condition;
  if (operator === '=') return { of: 'equal', texts: [String(value)] };
  return typeof value === 'number' ? { of: 'number', bounds: [{ operator, value }] } : undefined;
}

/** Whether a condition is on a column that is too large for memory: then very many rows may match. */
const isTooLarge = (condition: Condition, columns: NamedColumns): boolean =>
  toAttributeTest(condition) !== undefined && !columns.has(condition.column);

/** A condition on a column, and the rows that match it. */
interface ConditionMatch {
  readonly name: string;
  rows(): RowSet;
}

/** Columns by their names, and matching rows of conditions, in the state of a version. */
export interface MatchedColumns {
  readonly columns: NamedColumns;
  readonly matches: readonly ConditionMatch[];
  readonly version: number;
}

interface Wanted {
  readonly conditions: readonly Condition[];
  /** The names of columns, in addition to those of the conditions. */
  readonly facets?: readonly string[];
}

type Storage = Pick<Database, 'build' | 'dialect' | 'read' | 'snapshot'>;
type Work<T> = (found: MatchedColumns) => T | Promise<T>;

export function createColumnFinder({ build, dialect, read, snapshot }: Storage, columns: Columns) {
  const versionNow = buildVersion(dialect, 'products');

  /** Queries the rows that match a condition, one or a few, and the version of the state that they were read in. */
  async function findRows(session: Session, condition: Condition) {
    const ids = sql`select ${dialect.joined(sql`id`)} from products where ${buildNamedSql(condition)}`;
    const query = sql<{
      ids: string | null;
      version: number;
    }>`select (${ids}) as ids, ${versionNow} as version`;
    const row = await session.first(query.compile(build));
    const found = toRowSet(row?.ids == null ? [] : row.ids.split(',').map(Number));
    return { version: row?.version, rows: () => found };
  }

  /** The same for a condition on a column that is too large for memory: possibly most rows. */
  async function findManyRows(session: Session, condition: Condition) {
    const values = Object.entries(buildConditionArguments([condition]));
    const argument = Object.fromEntries(values.map(([name, value]) => [name, sql`${value}`]));
    const { from, conditions, id } = buildSource('products', { conditions: [condition] }, argument);
    const matching = sql`select ${sql.ref(id)} as found from ${from} ${buildWhere(conditions)}`;
    const parts = sql<Joined>`select ${dialect.joined(sql`found`)} as ids from (${matching}) as matching
      group by found / ${sql.lit(idsPerRow)}`;
    const state = await session.first(
      sql<{ version: number }>`select ${versionNow} as version`.compile(build),
    );
    const found: number[] = [];
    for (const { ids } of await session.all(parts.compile(build))) {
      for (const text of ids.split(',')) found.push(Number(text));
      await takeTurn();
    }
    const rows = toRowSet(found);
    return { version: state?.version, rows: () => rows };
  }

  /** Evaluates conditions; undefined if a query has seen another state than the columns. */
  async function findMatches(
    session: Session,
    { conditions, facets }: Wanted,
    own: Omit<MatchedColumns, 'matches'>,
  ): Promise<MatchedColumns | undefined> {
    requireFacets(facets, name => own.columns.has(name));
    const matches: ConditionMatch[] = [];
    for (const condition of conditions) {
      const name = condition.column;
      const test = toAttributeTest(condition);
      const column = own.columns.get(name);
      if (test !== undefined && column !== undefined) matches.push({ name, rows: () => column.rows(test) });
      else {
        const find = isTooLarge(condition, own.columns) ? findManyRows : findRows;
        const { version, rows } = await find(session, condition);
        if (version !== own.version) return undefined;
        matches.push({ name, rows });
      }
    }
    return { ...own, matches };
  }

  /** As `use`, in the state of a snapshot that has read nothing yet. @throws TooManyValues for a facet */
  function useIn<T>(session: Session, wanted: Wanted, work: Work<T>): Promise<T> {
    return columns.useIn(session, selectSources(wanted), async (own, version) => {
      const found = await findMatches(session, wanted, { columns: own, version });
      if (found === undefined) throw new Error('a snapshot has seen two states');
      return work(found);
    });
  }

  return {
    useIn,
    /**
     * Runs work with data as of a check that is made now, which stays the same until it ends.
     * @throws TooManyValues for a facet
     */
    async use<T>(wanted: Wanted, work: Work<T>): Promise<T> {
      const sources = selectSources(wanted);
      const usable = new Set(columns.selectUsable(sources).map(({ name }) => name));
      // Before any column is read.
      requireFacets(wanted.facets, name => usable.has(name));
      for (let attempt = 0; attempt < attempts; attempt++) {
        const done = await columns.use(sources, async (own, version, session) => {
          // Very many rows are queried in a snapshot, for which work with columns must not wait.
          const isLeft = wanted.conditions.some(condition => isTooLarge(condition, own));
          if (isLeft && session === undefined) return 'left to a snapshot';
          const found = await findMatches(session ?? read, wanted, { columns: own, version });
          return found && { result: await work(found) };
        });
        if (done === 'left to a snapshot') break;
        if (done !== undefined) return done.result;
      }
      return snapshot(session => useIn(session, wanted, work), { background: true });
    },
  };
}

/** @throws TooManyValues */
function requireFacets(facets: Wanted['facets'] = [], isUsable: (name: string) => boolean): void {
  const refused = facets.find(name => !isUsable(name));
  if (refused !== undefined) throw new TooManyValues(refused);
}

function selectSources({ conditions, facets = [] }: Wanted): ColumnSource[] {
  const names = new Set([...facets, ...conditions.map(({ column }) => column)]);
  return [...names].flatMap(name => findSource(name) ?? []);
}

/** The SQL of a condition by value, which few rows match. */
function buildNamedSql(condition: Condition): RawBuilder<unknown> {
  if (condition.operator === '=') return buildComparedSql(condition, sql`${condition.value}`);
  if (condition.operator !== 'in')
    throw new Error(`no facet is counted under a condition ${condition.operator}`);
  return buildMembershipSql(
    condition,
    condition.values.map(value => sql`${value}`),
  );
}

/**
 * @returns a function that returns a test, as of a check that is made now: whether the row with an id matches all
 * conditions; undefined without conditions
 */
export function createRowFinder(database: Storage, columns: Columns) {
  const { use } = createColumnFinder(database, columns);
  return (conditions: readonly Condition[]): Promise<((id: number) => boolean) | undefined> =>
    use({ conditions }, ({ matches }) => {
      const found = intersectRows(matches.map(({ rows }) => rows()));
      if (found === undefined) return undefined;
      const rows = copyRows(found);
      return id => has(rows, id);
    });
}

/** Copies a set of rows: those of columns may change in the next turn of the event loop. */
export const copyRows = ({ words, count }: RowSet): RowSet => ({ words: words.slice(), count });
