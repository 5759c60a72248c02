/**
 * The first rows of a set in an order that only the database has: by name, by the moment of creation. Of few rows the
 * values are read and sorted; of many, rows are read in their order, and those that are not in the set passed over.
 */
import { sql } from 'kysely';
import { slices } from '../../slices.ts';
import { versionOf } from '../changes/versions.ts';
import type { Database } from '../database.ts';
import type { Key } from '../list/request.ts';
import { type Arguments, preparedByShape } from '../prepared.ts';
import type { Taken } from './keys.ts';
import { has, idsOf, type RowSet } from './rows.ts';

/** Rows that are read one by one, at most, and how much dearer that is than to pass one. */
const fewRows = 3000;
const rowCost = 4;
const rowsAtOnce = 500;

interface Walked extends Key {
  readonly version: number;
}

/** @returns a function that gives keys in an order; undefined when they are of another version than the set */
export function columnWalk(
  { build, dialect, read }: Pick<Database, 'build' | 'dialect' | 'read'>,
  { table, collection }: { readonly table: string; readonly collection: string },
) {
  const version = versionOf(dialect, collection);

  const inOrder = preparedByShape<Arguments, Walked>(build, (shape, argument) => {
    const [name = '', descending, seek] = shape.split(' ');
    const column = sql.ref(name);
    const direction = sql.raw(descending === 'true' ? 'desc' : 'asc');
    const past = sql.raw(descending === 'true' ? '<' : '>');
    const where =
      seek === 'seek' ? sql`where (${column}, id) ${past} (${argument.value}, ${argument.id})` : sql``;
    return sql<Walked>`select id, ${column} as value, ${version} as version from ${sql.table(table)}
      ${where} order by ${column} ${direction}, id ${direction} limit ${sql.lit(rowsAtOnce)}`;
  });
  const ofIds = preparedByShape<Arguments, Walked>(
    build,
    name =>
      sql`select id, ${sql.ref(name)} as value, ${version} as version from ${sql.table(table)}
      where id in (${sql.join(new Array(rowsAtOnce).fill(null))})`,
  );

  async function sorted(column: string, { rows, descending, start, skip, count }: Taken, seen: number) {
    const { turn } = slices();
    const ids = idsOf(rows);
    const found: Walked[] = [];
    for (let from = 0; from < ids.length; from += rowsAtOnce) {
      const parameters = ids.slice(from, from + rowsAtOnce);
      while (parameters.length < rowsAtOnce) parameters.push(ids[from] ?? 0);
      found.push(...(await read.all<Walked>({ ...ofIds(column, {}), parameters })));
      await turn();
    }
    if (found.length !== ids.length || found.some(row => row.version !== seen)) return undefined;
    const keyed = found.map(key => ({ key, place: placeOf(key) }));
    const order = (a: Place, b: Place) => (descending ? -1 : 1) * comparePlaces(a, b);
    keyed.sort((a, b) => order(a.place, b.place));
    const edge = start === undefined ? undefined : placeOf(start);
    const past = edge === undefined ? keyed : keyed.filter(({ place }) => order(place, edge) > 0);
    return past.slice(skip, skip + count).map(({ key }) => key);
  }

  async function passing(column: string, { rows, descending, start, skip, count }: Taken, seen: number) {
    const { turn } = slices();
    const found: Key[] = [];
    let left = skip;
    for (let last = start; ; ) {
      const seek = last === undefined ? '' : ' seek';
      const extra = { value: last?.value, id: last?.id };
      const part = await read.all(inOrder(`${column} ${descending}${seek}`, extra));
      if (part.some(row => row.version !== seen)) return undefined;
      for (const key of part) {
        if (!has(rows, key.id)) continue;
        if (left > 0) left -= 1;
        else if (found.push({ value: key.value, id: key.id }) === count) return found;
      }
      last = part.at(-1);
      if (last === undefined || part.length < rowsAtOnce) return found;
      await turn();
    }
  }

  /** @param all how many rows there are; @param seen the version of the set */
  return (column: string, taken: Taken, all: number, seen: number): Promise<readonly Key[] | undefined> => {
    const { rows, skip, count } = taken;
    // Words stay as they are while others are read: the set is changed with the next look.
    const own = { ...taken, rows: copyOf(rows) };
    const passed = ((skip + count) * all) / Math.max(1, rows.count);
    return rows.count <= fewRows && rows.count * rowCost < passed
      ? sorted(column, own, seen)
      : passing(column, own, seen);
  };
}

const copyOf = ({ words, count }: RowSet): RowSet => ({ words: words.slice(), count });

interface Place {
  /** The bytes of a text: both databases order it by code point. */
  readonly value: Buffer | number;
  readonly id: number;
}

const placeOf = ({ value, id }: Key): Place => ({
  value: typeof value === 'number' ? value : Buffer.from(value),
  id,
});

function comparePlaces(a: Place, b: Place): number {
  const difference =
    typeof a.value === 'number' || typeof b.value === 'number'
      ? Number(a.value) - Number(b.value)
      : Buffer.compare(a.value, b.value);
  return difference || a.id - b.id;
}
