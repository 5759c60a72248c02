/**
 * Orders that only the database knows, by name and by time of creation, kept in memory: each row has a place, a number
 * that ascends along the order. An order is read from an index when it is first needed. A new or changed row gets its
 * place when the order is next requested: between two whole numbers, after the row that the database names as the one
 * before it.
 */
import { sql } from 'kysely';
import { createGrowingArray } from '../../arrays/growing.ts';
import { countWhile, mergeInOrder } from '../../arrays/sorted.ts';
import { takeTurn } from '../../turns/index.ts';
import type { Change, Collection } from '../changes/change.ts';
import { createLoads } from '../changes/loads.ts';
import { buildVersion } from '../changes/versions.ts';
import type { Database } from '../database.ts';
import type { Key } from '../list/request.ts';
import { type Arguments, prepareByShape } from '../prepared.ts';
import { type Line, maxMoved } from './line.ts';

/** Maximum number of rows without a place; if there are more, the whole order is read again. */
const maxUnplaced = 100;
/** Rows that one statement reads, in the background. */
const rowsAtOnce = 4000;
/** The number of rows of the largest page, and one more. */
const maxKeys = 101;

/** Consecutive rows of an order, with the key of the last one. */
interface Read extends Key {
  readonly ids: string;
  readonly size: number;
}

interface Versioned extends Key {
  readonly version: number;
}

interface Ranking {
  /** The ids of rows in their order, except for those in `moved`. */
  ids: Uint32Array;
  /** By row id; NaN for a row that was never in the order. */
  places: Float64Array;
  /** The ids of moved rows in their order. */
  moved: ReadonlySet<number>;
  /** Rows that need a place. */
  readonly unplaced: Set<number>;
}

export function createOrders(database: Database, collection: Collection, table: string) {
  const { changes, read, snapshot } = database;
  const rankings = new Map<string, Ranking>();
  const settled = new Map<string, Promise<void>>();
  const statements = buildOrderStatements(database, collection.name, table);

  const loads = createLoads(changes, collection, {
    clear: () => rankings.clear(),
    apply(committed) {
      for (const [column, { unplaced }] of rankings) {
        addMoved(unplaced, column, committed);
        if (unplaced.size > maxUnplaced) rankings.delete(column);
      }
    },
  });

  async function readIds(column: string, isGivenUp: () => boolean): Promise<Uint32Array> {
    const found = createGrowingArray();
    for (let last: Read | undefined; !isGivenUp(); ) {
      const query = statements.after(column, last);
      const part = await snapshot(session => session.first(query), { background: 'part' });
      if (part === undefined || part.size === 0) break;
      const ids = part.ids.split(',').map(Number);
      for (const id of ids) found.push(id);
      last = { ...part, id: ids.at(-1) ?? 0 };
      if (part.size < rowsAtOnce) break;
      await takeTurn();
    }
    return found.values().slice();
  }

  const load = (column: string): Promise<void> =>
    loads.load(
      column,
      isGivenUp => readIds(column, isGivenUp),
      (ids, replayed) => {
        const unplaced = new Set<number>();
        addMoved(unplaced, column, replayed);
        if (unplaced.size <= maxUnplaced)
          rankings.set(column, { ids, places: toPlaces(ids), moved: new Set(), unplaced });
      },
    );

  /** Puts rows in their places. @returns whether all rows have one in the state of the version */
  async function place(column: string, ranking: Ranking, version: number): Promise<boolean> {
    const { unplaced } = ranking;
    const rows = await read.all<Versioned>(statements.ofIds(column, [...unplaced]));
    const before = await Promise.all(rows.map(row => read.first(statements.before(column, row))));
    const isSeen = [...rows, ...before].every(row => row === undefined || row.version === version);
    if (!isSeen || changes.version(collection) !== version || rankings.get(column) !== ranking) return false;
    // Another request may have done it at the same time.
    if (unplaced.size === 0) return true;
    if (rows.length < unplaced.size) return false;
    const moved = [...ranking.moved].filter(id => !unplaced.has(id));
    // In their order: if the row before one had no place either, it has just got one.
    for (const [index, { id }] of rows.entries()) {
      ranking.places = insertAfter(ranking.places, moved, before[index]?.id, id);
      unplaced.delete(id);
    }
    ranking.moved = new Set(moved);
    if (moved.length > maxMoved) putInOrder(ranking);
    return true;
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
      if (ranking.unplaced.size > 0 && !(await place(column, ranking, version))) return undefined;
      const { ids, moved, places } = ranking;
      return { ids, moved, placeOf: id => places[id] ?? Number.NaN };
    },
    /** Fulfilled when an order that is being read has been read; undefined if it is not being read. */
    settled: (column: string) => settled.get(column),
    /** The place of the last row not past a key in a direction; infinite if none, undefined for another version. */
    async edge(column: string, key: Key, descending: boolean, version: number): Promise<number | undefined> {
      const [row] = await read.all(statements.upTo(column, key, descending));
      if (row === undefined) return descending ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      return row.version === version ? rankings.get(column)?.places[row.id] : undefined;
    },
    /** The keys of at most a page of rows, in the order of `ids`; undefined for another version. */
    async keys(column: string, ids: readonly number[], version: number): Promise<readonly Key[] | undefined> {
      if (ids.length === 0) return [];
      const rows = await read.all<Versioned>(statements.ofIds(column, ids));
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

/** Adds the rows that may have another place after changes. A deleted row keeps its place: it is in no set of rows. */
function addMoved(unplaced: Set<number>, column: string, changes: readonly Change[]): void {
  for (const { id, before, after } of changes) {
    if (after === undefined) unplaced.delete(id);
    else if (before === undefined || before[column] !== after[column]) unplaced.add(id);
  }
}

function toPlaces(ids: Uint32Array): Float64Array {
  const places = new Float64Array(1 + ids.reduce((largest, id) => Math.max(largest, id), 0)).fill(Number.NaN);
  for (let at = 0; at < ids.length; at++) places[ids[at] ?? 0] = at + 1;
  return places;
}

/** Puts a row after another one, or first. @param moved the moved rows in their order @returns the places */
function insertAfter(
  places: Float64Array,
  moved: number[],
  previous: number | undefined,
  id: number,
): Float64Array {
  if (id >= places.length) {
    const larger = new Float64Array(Math.ceil((id + 1) * 1.5)).fill(Number.NaN);
    larger.set(places);
    return insertAfter(larger, moved, previous, id);
  }
  const getPlace = (one = 0) => places[one] ?? 0;
  const place = previous === undefined ? 0 : getPlace(previous);
  const at = countWhile(moved.length, at => getPlace(moved[at]) <= place);
  moved.splice(at, 0, id);
  places[id] = place;
  // The fractions of moved rows are in their order.
  for (const [at, one] of moved.entries())
    places[one] = Math.floor(getPlace(one)) + (at + 1) / (moved.length + 1);
  return places;
}

/** Puts the moved rows among the others. */
function putInOrder(ranking: Ranking): void {
  const { ids, moved, places } = ranking;
  const others = ids.filter(id => !moved.has(id));
  ranking.ids = mergeInOrder(others, [...moved], id => places[id] ?? 0);
  ranking.places = toPlaces(ranking.ids);
  ranking.moved = new Set();
}

function buildOrderStatements(
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
  const past = prepareByShape<Arguments, Versioned>(build, (shape, { value, id }) => {
    const [column = '', operator = ''] = shape.split(' ');
    const direction = operator.startsWith('<') ? 'desc' : 'asc';
    return sql<Versioned>`select ${buildColumns(column)} from ${table}
      where (${sql.ref(column)}, id) ${sql.raw(operator)} (${value}, ${id}) ${buildOrderBy(column, direction, 1)}`;
  });
  const ofIds = prepareByShape<Arguments, Versioned>(
    build,
    column =>
      sql`select ${buildColumns(column)} from ${table}
      where id in (${sql.join(new Array(maxKeys).fill(null))}) order by ${sql.ref(column)}, id`,
  );
  return {
    after: (column: string, last: Key | undefined) =>
      last === undefined ? part(column, {}) : part(`${column} seek`, { value: last.value, id: last.id }),
    /** The row before a row. */
    before: (column: string, { value, id }: Key) => past(`${column} <`, { value, id }),
    /** The last row that is not past a key. */
    upTo: (column: string, { value, id }: Key, descending: boolean) =>
      past(`${column} ${descending ? '>=' : '<='}`, { value, id }),
    /** Rows by their ids, in their order. */
    ofIds: (column: string, ids: readonly number[]) => {
      const parameters: number[] = [...ids];
      while (parameters.length < maxKeys) parameters.push(ids[0] ?? 0);
      return { ...ofIds(column, {}), parameters };
    },
  };
}
