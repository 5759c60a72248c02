/**
 * Orders that only the database knows, by name and by time of creation, kept in memory: each row has a rank, a number
 * that ascends along the order. An order is read from an index when it is first needed. A new or changed row gets its
 * rank when the order is next requested: it lies between the ranks of its neighbours, which the database names.
 */
import { sql } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import type { Change, Collection } from '../changes/change.ts';
import { createLoads } from '../changes/loads.ts';
import { buildVersion } from '../changes/versions.ts';
import type { Database } from '../database.ts';
import type { Key } from '../list/request.ts';
import { type Arguments, prepareByShape } from '../prepared.ts';
import { type Line, maxMoved } from './line.ts';
import {
  appendRow,
  computeMiddle,
  createRanking,
  getRank,
  putInOrder,
  type Ranking,
  setRank,
  unrank,
} from './ranking.ts';

/** Maximum number of rows without a rank; if there are more, all ranks are read again. */
const maxUnranked = 100;
/** Rows that one statement reads, in the background. */
const rowsAtOnce = 4000;
/** The number of rows of the largest page, and one more. */
const maxKeys = 101;

/** Consecutive rows of an order, with the key of the last one. */
interface Read extends Key {
  readonly ids: string;
  readonly size: number;
}

interface Placed extends Key {
  readonly version: number;
}

export function createOrders(
  {
    build,
    changes,
    dialect,
    read,
    snapshot,
  }: Pick<Database, 'build' | 'changes' | 'dialect' | 'read' | 'snapshot'>,
  collection: Collection,
  table: string,
) {
  const rankings = new Map<string, Ranking>();
  const settled = new Map<string, Promise<void>>();
  const statements = buildRankStatements({ build, dialect }, collection.name, table);

  const loads = createLoads(changes, collection, {
    clear: () => rankings.clear(),
    apply(committed) {
      for (const [column, ranking] of rankings) {
        for (const change of committed) unrank(ranking, column, change);
        if (ranking.unranked.size > maxUnranked) rankings.delete(column);
      }
    },
  });

  async function readRanking(column: string, isGivenUp: () => boolean): Promise<Ranking> {
    const ranking = createRanking();
    let count = 0;
    for (let last: Read | undefined; !isGivenUp(); ) {
      const query = statements.after(column, last);
      const part = await snapshot(session => session.first(query), { background: 'part' });
      if (part === undefined || part.size === 0) break;
      const ids = part.ids.split(',').map(Number);
      for (const id of ids) appendRow(ranking, id, count++);
      last = { ...part, id: ids.at(-1) ?? 0 };
      if (part.size < rowsAtOnce) break;
      await takeTurn();
    }
    ranking.ids = ranking.ids.slice(0, count);
    return ranking;
  }

  function keep(column: string, ranking: Ranking, replayed: readonly Change[]): void {
    const changed = new Set(replayed.map(({ id }) => id));
    if (changed.size > maxUnranked) return;
    for (const id of changed) {
      setRank(ranking, id, Number.NaN);
      ranking.moved.add(id);
      ranking.unranked.add(id);
    }
    rankings.set(column, ranking);
  }

  const load = (column: string): Promise<void> =>
    loads.load(
      column,
      isGivenUp => readRanking(column, isGivenUp),
      (ranking, replayed) => keep(column, ranking, replayed),
    );

  /** Assigns ranks to rows without one. @returns whether all rows now have a rank */
  async function rank(column: string, ranking: Ranking, version: number): Promise<boolean> {
    const { unranked } = ranking;
    const isSeen = (rows: readonly Placed[]) =>
      changes.version(collection) === version && rows.every(row => row.version === version);
    const wanted = [...unranked];
    const rows = await read.all<Placed>(statements.ofIds(column, wanted));
    if (!isSeen(rows)) return false;
    // A row that no longer exists needs no rank: it is in no set of rows.
    const there = new Set(rows.map(({ id }) => id));
    for (const id of wanted) if (!there.has(id)) unranked.delete(id);
    for (const row of arrangeMiddleFirst(rows.sort(compareByCodePoints))) {
      const [before, behind] = await Promise.all([
        read.all(statements.beside(column, row, true)),
        read.all(statements.beside(column, row, false)),
      ]);
      if (!isSeen([...before, ...behind])) return false;
      const findRanked = (rows: readonly Placed[]) =>
        rows.find(({ id }) => !Number.isNaN(getRank(ranking, id)));
      const [low, high] = [findRanked(before), findRanked(behind)];
      const from = low === undefined ? undefined : getRank(ranking, low.id);
      const to = high === undefined ? undefined : getRank(ranking, high.id);
      const between = computeMiddle(from, to);
      if (between === undefined || rankings.get(column) !== ranking) {
        rankings.delete(column);
        return false;
      }
      setRank(ranking, row.id, between);
      unranked.delete(row.id);
    }
    return unranked.size === 0;
  }

  return {
    /** The rows in the order of a column, in the state of a version; undefined if that is not in memory. */
    async line(column: string, version: number): Promise<Line | undefined> {
      const ranking = rankings.get(column);
      if (ranking === undefined) {
        if (!loads.has(column) && !loads.isResting()) {
          const loaded = load(column)
            .catch(() => undefined)
            .finally(() => settled.delete(column));
          settled.set(column, loaded);
        }
        return undefined;
      }
      const isRanked = ranking.unranked.size === 0 || (await rank(column, ranking, version));
      if (!isRanked || rankings.get(column) !== ranking) return undefined;
      if (ranking.moved.size > maxMoved) putInOrder(ranking);
      const { ids, moved, ranks } = ranking;
      return { ids, moved, placeOf: id => ranks[id] ?? Number.NaN };
    },
    /** Fulfilled when an order that is being read has been read; undefined if it is not being read. */
    settled: (column: string) => settled.get(column),
    /** The rank of the last row not past a key in a direction; infinite if none, undefined for another version. */
    async edge(column: string, key: Key, descending: boolean, version: number): Promise<number | undefined> {
      const [row] = await read.all(statements.upTo(column, key, descending));
      if (row === undefined) return descending ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      const ranking = rankings.get(column);
      const found = ranking === undefined ? Number.NaN : getRank(ranking, row.id);
      return row.version !== version || Number.isNaN(found) ? undefined : found;
    },
    /** The keys of at most a page of rows, in the order of `ids`; undefined for another version. */
    async keys(column: string, ids: readonly number[], version: number): Promise<readonly Key[] | undefined> {
      if (ids.length === 0) return [];
      const rows = await read.all<Placed>(statements.ofIds(column, ids));
      const byId = new Map(rows.map(row => [row.id, row]));
      const keys: Key[] = [];
      for (const id of ids) {
        const row = byId.get(id);
        if (row?.version !== version) return undefined;
        keys.push({ value: row.value, id });
      }
      return keys;
    },
  };
}

/** Both databases order texts by code point, which is the order of UTF-8 bytes. */
function compareByCodePoints(a: Key, b: Key): number {
  const difference =
    typeof a.value === 'number' && typeof b.value === 'number'
      ? a.value - b.value
      : Buffer.compare(Buffer.from(String(a.value)), Buffer.from(String(b.value)));
  return difference || a.id - b.id;
}

/** Neighbours that are ranked middle first halve the room between two others only once per doubling of their number. */
function arrangeMiddleFirst<Row>(rows: readonly Row[]): Row[] {
  const middle = rows.length >> 1;
  const [first, ...behind] = rows.slice(middle);
  return first === undefined
    ? []
    : [first, ...arrangeMiddleFirst(rows.slice(0, middle)), ...arrangeMiddleFirst(behind)];
}

function buildRankStatements(
  { build, dialect }: Pick<Database, 'build' | 'dialect'>,
  collection: string,
  name: string,
) {
  const version = buildVersion(dialect, collection);
  const table = sql.table(name);
  const buildColumns = (column: string) => sql`id, ${sql.ref(column)} as value, ${version} as version`;
  const buildOrderBy = (column: string, direction: 'asc' | 'desc', limit: number) =>
    sql`order by ${sql.ref(column)} ${sql.raw(direction)}, id ${sql.raw(direction)} limit ${sql.lit(limit)}`;
  const part = prepareByShape<Arguments, Read>(build, (shape, { value, id }) => {
    const [column = '', seek] = shape.split(' ');
    const where = seek === undefined ? sql`` : sql`where (${sql.ref(column)}, id) > (${value}, ${id})`;
    return sql`select ${dialect.joined(sql`id`, sql`value, id`)} as ids, max(value) as value,
      cast(count(*) as integer) as size
      from (select id, ${sql.ref(column)} as value from ${table} ${where}
        ${buildOrderBy(column, 'asc', rowsAtOnce)}) as part`;
  });
  const past = prepareByShape<Arguments, Placed>(build, (shape, { value, id }) => {
    const [column = '', operator = '', limit = ''] = shape.split(' ');
    const direction = operator.startsWith('<') ? 'desc' : 'asc';
    return sql<Placed>`select ${buildColumns(column)} from ${table}
      where (${sql.ref(column)}, id) ${sql.raw(operator)} (${value}, ${id}) ${buildOrderBy(column, direction, Number(limit))}`;
  });
  const ofIds = prepareByShape<Arguments, Placed>(
    build,
    column =>
      sql`select ${buildColumns(column)} from ${table}
      where id in (${sql.join(new Array(maxKeys).fill(null))})`,
  );
  return {
    after: (column: string, last: Key | undefined) =>
      last === undefined ? part(column, {}) : part(`${column} seek`, { value: last.value, id: last.id }),
    /** The neighbours of a row, nearest first: one more than may lack a rank. */
    beside: (column: string, { value, id }: Key, isBefore: boolean) =>
      past(`${column} ${isBefore ? '<' : '>'} ${maxUnranked + 1}`, { value, id }),
    /** The last row that is not past a key. */
    upTo: (column: string, { value, id }: Key, descending: boolean) =>
      past(`${column} ${descending ? '>=' : '<='} 1`, { value, id }),
    ofIds: (column: string, ids: readonly number[]) => {
      const parameters: number[] = [...ids];
      while (parameters.length < maxKeys) parameters.push(ids[0] ?? 0);
      return { ...ofIds(column, {}), parameters };
    },
  };
}
