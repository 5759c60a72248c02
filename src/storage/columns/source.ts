/** Where the values of a column of products are read: in the order of an index, so many rows at a time. */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { type IndexedValue, kinds, ofToken } from '../attributes/values.ts';
import { pathsAbove } from '../categories/names.ts';
import type { Values } from '../changes/change.ts';
import type { Builder } from '../database.ts';

export interface ColumnRow {
  readonly id: number;
  readonly value: string | number;
  /** Where the row is in the order they are read in. */
  readonly at: string | number;
  readonly kind?: IndexedValue['kind'];
  readonly number?: number | null;
}

/** A table to read, with the columns of the order, the id and the value. */
interface ColumnRead {
  readonly from: RawBuilder<unknown>;
  readonly at: RawBuilder<unknown>;
  readonly id: RawBuilder<unknown>;
  readonly value: RawBuilder<unknown>;
  readonly further?: RawBuilder<unknown>;
  readonly where?: RawBuilder<unknown>;
}

export interface ColumnSource {
  readonly name: string;
  readonly reads: readonly ColumnRead[];
  valuesIn(row: ColumnRow): readonly IndexedValue[];
  /** The values of a row as the event of its change has them. */
  fromEvent(values: Values | undefined): readonly IndexedValue[];
}

/** The statement of the rows after one; of the first rows without it. */
export function rowsAfter(
  build: Builder,
  { from, at, id, value, further, where }: ColumnRead,
  last: ColumnRow | undefined,
  limit: number,
): CompiledQuery<ColumnRow> {
  const conditions = [
    where ?? sql`${at} is not null`,
    ...(last === undefined ? [] : [sql`(${at}, ${id}) > (${last.at}, ${last.id})`]),
  ];
  return sql<ColumnRow>`select ${id} as id, ${value} as value, ${at} as at ${further ?? sql``} from ${from}
    where ${sql.join(conditions, sql` and `)} order by ${at}, ${id} limit ${sql.lit(limit)}`.compile(build);
}

const plainValue = (value: string | number): IndexedValue =>
  typeof value === 'number'
    ? { kind: kinds.number, text: String(value), number: value }
    : { kind: kinds.text, text: value, number: null };

function plainValues(found: Values[string] | undefined): readonly IndexedValue[] {
  if (found === undefined || found === null) return [];
  return typeof found === 'object' ? found.map(plainValue) : [plainValue(found)];
}

/** A column of the table itself; @param at one that an index has it beside, or it is the first of */
function ownSource(name: string, at: string): ColumnSource {
  const read = { from: sql`products`, at: sql.ref(at), id: sql`id`, value: sql.ref(name) };
  return {
    name,
    reads: [read],
    valuesIn: ({ value }) => [plainValue(value)],
    fromEvent: values => plainValues(values?.[name]),
  };
}

const tags: ColumnSource = {
  name: 'tag',
  reads: [{ from: sql`product_tags`, at: sql`tag`, id: sql`product_id`, value: sql`tag` }],
  valuesIn: ({ value }) => [plainValue(value)],
  fromEvent: values => plainValues(values?.tag),
};

/** A row that says in which category a product is, with the path of it. @param at the column that holds its id */
const categoryRead = (table: string, at: string, id: string): ColumnRead => ({
  from: sql`${sql.table(table)} cross join categories`,
  at: sql.ref(`${table}.${at}`),
  id: sql.ref(`${table}.${id}`),
  value: sql`categories.path`,
  where: sql`categories.id = ${sql.ref(`${table}.${at}`)}`,
});

/** A product is in its categories and in all above them. */
const categories: ColumnSource = {
  name: 'category',
  reads: [
    categoryRead('products', 'category_id', 'id'),
    categoryRead('product_categories', 'category_id', 'product_id'),
  ],
  valuesIn: ({ value }) => pathsAbove(String(value)).map(plainValue),
  fromEvent: values => {
    const path = values?.category;
    return typeof path === 'string' ? pathsAbove(path).map(plainValue) : plainValues(path);
  },
};

function attributeSource(name: string, key: string): ColumnSource {
  return {
    name,
    reads: [
      {
        from: sql`product_attributes`,
        at: sql`value`,
        id: sql`product_id`,
        value: sql`value`,
        further: sql`, kind, number`,
        where: sql`key = ${key}`,
      },
    ],
    valuesIn: ({ kind = kinds.text, value, number = null }) => [{ kind, text: String(value), number }],
    fromEvent: values => {
      const tokens = values?.[name];
      return Array.isArray(tokens) ? tokens.map(ofToken) : [];
    },
  };
}

/** Columns by the names that conditions and facets have; undefined for one that is not kept in memory. */
export function sourceOf(name: string): ColumnSource | undefined {
  if (name.startsWith('attr.')) return attributeSource(name, name.slice('attr.'.length));
  if (name === 'brand') return ownSource(name, 'brand');
  if (name === 'price') return ownSource(name, 'price');
  // Beside the price in its index.
  if (name === 'status') return ownSource(name, 'price');
  if (name === 'available') return ownSource(name, 'id');
  if (name === 'tag') return tags;
  return name === 'category' ? categories : undefined;
}
