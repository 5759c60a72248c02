/** Reads the values of a column of products in the order of an index, in parts. */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import { type IndexedValue, kinds, parseToken } from '../attributes/values.ts';
import { getPathsAbove } from '../categories/names.ts';
import type { Values } from '../changes/change.ts';
import type { Database } from '../database.ts';
import { type Column, createColumn as createEmptyColumn } from './column.ts';

/** Rows that one statement reads, in the background. */
const rowsAtOnce = 4000;

/** Consecutive rows with the same value. */
interface ColumnRows {
  readonly ids: string;
  readonly size: number;
  readonly value: string | number;
  /** The value of the last row in the column that they are ordered by. */
  readonly at: string | number;
  readonly last: number;
  readonly kind?: IndexedValue['kind'];
  readonly number?: number | null;
}

/** A table to read, with its columns for the order, the id and the value. */
interface ColumnRead {
  readonly from: RawBuilder<unknown>;
  readonly at: RawBuilder<unknown>;
  readonly id: RawBuilder<unknown>;
  readonly value: RawBuilder<unknown>;
  /** Further columns that `valuesIn` needs. */
  readonly further?: readonly string[];
  readonly where?: RawBuilder<unknown>;
  /** Whether rows are read in the order of ids: then rows with the same value are grouped even if not consecutive. */
  readonly isById?: boolean;
}

export interface ColumnSource {
  readonly name: string;
  /** Whether lists can be sorted by its numbers. */
  readonly isOrder?: boolean;
  readonly reads: readonly ColumnRead[];
  valuesIn(rows: ColumnRows): readonly IndexedValue[];
  /** The values of a row, from the event of its change. */
  fromEvent(values: Values | undefined): readonly IndexedValue[];
}

/** Builds the statement that reads the rows after a row, or the first rows. The last result contains the last row. */
function buildRowsAfter(
  { build, dialect }: Pick<Database, 'build' | 'dialect'>,
  { from, at, id, value, further = [], where, isById = false }: ColumnRead,
  after: ColumnRows | undefined,
  limit: number,
): CompiledQuery<ColumnRows> {
  const conditions = [
    where ?? sql`${at} is not null`,
    ...(after === undefined ? [] : [sql`(${at}, ${id}) > (${after.at}, ${after.last})`]),
  ];
  const columns = further.map(name => sql`, ${sql.ref(name)}`);
  const own = columns.length === 0 ? sql`` : sql.join(columns, sql``);
  const place = isById ? sql`max(place)` : sql`place`;
  return sql<ColumnRows>`select ${place} as at, value ${own}, max(id) as last, cast(count(*) as integer) as size,
      ${dialect.joined(sql`id`)} as ids
    from (select ${at} as place, ${id} as id, ${value} as value ${own} from ${from}
      where ${sql.join(conditions, sql` and `)} order by ${at}, ${id} limit ${sql.lit(limit)}) as part
    group by ${isById ? sql`` : sql`place, `} value ${own} order by at, last`.compile(build);
}

/** Reads a part of a column. */
export type ColumnReader = (query: CompiledQuery<ColumnRows>) => Promise<ColumnRows[]>;

/** A column has more values than are kept in memory, alone or together with others. */
export class TooManyValues extends Error {
  constructor(readonly column: string) {
    super(`${column} has too many values`);
    this.name = 'TooManyValues';
  }
}

/** @throws TooManyValues */
export async function readColumn(
  database: Pick<Database, 'build' | 'dialect'>,
  read: ColumnReader,
  source: ColumnSource,
  maxCombinations: number,
  isGivenUp = () => false,
): Promise<Column> {
  const column = createEmptyColumn(source.isOrder);
  for (const one of source.reads) {
    for (let last: ColumnRows | undefined; !isGivenUp(); ) {
      const groups = await read(buildRowsAfter(database, one, last, rowsAtOnce));
      let size = 0;
      for (const group of groups) {
        column.add(group.ids.split(',').map(Number), source.valuesIn(group));
        size += group.size;
      }
      if (column.members.length > maxCombinations) throw new TooManyValues(source.name);
      last = groups.at(-1);
      if (size < rowsAtOnce) break;
      await takeTurn();
    }
  }
  return column;
}

const toPlainValue = (value: string | number): IndexedValue =>
  typeof value === 'number'
    ? { kind: kinds.number, text: String(value), number: value }
    : { kind: kinds.text, text: value, number: null };

function toPlainValues(found: Values[string] | undefined): readonly IndexedValue[] {
  if (found === undefined || found === null) return [];
  return typeof found === 'object' ? found.map(toPlainValue) : [toPlainValue(found)];
}

/** A column of the table of products. @param at the first column of an index that contains it */
function createOwnSource(name: string, at: string): ColumnSource {
  const read = {
    from: sql`products`,
    at: sql.ref(at),
    id: sql`id`,
    value: sql.ref(name),
    isById: at === 'id',
  };
  return {
    name,
    reads: [read],
    valuesIn: ({ value }) => [toPlainValue(value)],
    fromEvent: values => toPlainValues(values?.[name]),
  };
}

const tags: ColumnSource = {
  name: 'tag',
  reads: [{ from: sql`product_tags`, at: sql`tag`, id: sql`product_id`, value: sql`tag` }],
  valuesIn: ({ value }) => [toPlainValue(value)],
  fromEvent: values => toPlainValues(values?.tag),
};

/** Reads the paths of the categories of products. @param at the column that holds the id of the category */
const buildCategoryRead = (table: string, at: string, id: string): ColumnRead => ({
  from: sql`${sql.table(table)} cross join categories`,
  at: sql.ref(`${table}.${at}`),
  id: sql.ref(`${table}.${id}`),
  value: sql`categories.path`,
  where: sql`categories.id = ${sql.ref(`${table}.${at}`)}`,
});

/** A product counts in its categories and in all categories above them. */
const categories: ColumnSource = {
  name: 'category',
  reads: [
    buildCategoryRead('products', 'category_id', 'id'),
    buildCategoryRead('product_categories', 'category_id', 'product_id'),
  ],
  valuesIn: ({ value }) => getPathsAbove(String(value)).map(toPlainValue),
  // Values in events already contain the paths above.
  fromEvent: values => toPlainValues(values?.category),
};

function createAttributeSource(name: string, key: string): ColumnSource {
  return {
    name,
    reads: [
      {
        from: sql`product_attributes`,
        at: sql`value`,
        id: sql`product_id`,
        value: sql`value`,
        further: ['kind', 'number'],
        where: sql`key = ${key}`,
      },
    ],
    valuesIn: ({ kind = kinds.text, value, number = null }) => [{ kind, text: String(value), number }],
    fromEvent: values => {
      const tokens = values?.[name];
      return Array.isArray(tokens) ? tokens.map(parseToken) : [];
    },
  };
}

/** Finds a column by its name in conditions and facets; undefined for one that is not kept in memory. */
export function findSource(name: string): ColumnSource | undefined {
  if (name.startsWith('attr.')) return createAttributeSource(name, name.slice('attr.'.length));
  if (name === 'brand') return createOwnSource(name, 'brand');
  if (name === 'price') return { ...createOwnSource(name, 'price'), isOrder: true };
  // The index by price contains the status.
  if (name === 'status') return createOwnSource(name, 'price');
  if (name === 'available') return createOwnSource(name, 'id');
  if (name === 'tag') return tags;
  return name === 'category' ? categories : undefined;
}
