/**
 * Products can be found by option, as by attribute (docs/decisions/0042). Programs that do not write these rows would
 * leave them wrong.
 */
import { type RawBuilder, sql } from 'kysely';
import { collectFilterValues, type Filterable, toIndexedValues } from '../attributes/values.ts';
import { createBulk } from '../bulk.ts';
import type { Migration } from './migration.ts';

/** Rows of products that are locked together: a replica of the previous release that changes one of them waits. */
const rowsAtOnce = 1000;

const columns = {
  key: 'text',
  value: 'text',
  product_id: 'integer',
  kind: 'integer',
  number: 'double precision',
} as const;

interface Stored {
  readonly id: number;
  readonly document: string;
}

export const optionsAsAttributes: Migration = {
  name: '0037-options-as-attributes',
  async prepare(database) {
    const { build, dialect } = database;
    // Some rows exist already, for attributes, and another process may prepare the same products.
    const insert = createBulk(
      database,
      'product_attributes',
      columns,
      rows => sql`insert into product_attributes (key, value, product_id, kind, number) ${rows}
        on conflict do nothing`,
    );
    let last: number | undefined = 0;
    while (last !== undefined) {
      const query: RawBuilder<Stored> = sql`select id, document from products
        where id > ${last} and document like '%"values":[%' order by id limit ${sql.lit(rowsAtOnce)}
        ${dialect.forUpdate}`;
      last = await database.exclusively<number | undefined>(async session => {
        const products = await session.all(query.compile(build));
        const rows = products.flatMap(({ id, document }) => listRows(id, parseFilterable(document)));
        await session.writeMany(insert, rows);
        return products.at(-1)?.id;
      });
    }
  },
  async up() {},
};

/** The rows for keys that options contribute to; those for other keys exist already. */
const listRows = (id: number, product: Filterable) =>
  Object.entries(collectFilterValues(product))
    .filter(([key, values]) => values !== product.attributes?.[key])
    .flatMap(([key, values]) =>
      toIndexedValues(values).map(({ kind, text, number }) => [key, text, id, kind, number]),
    );

/** The indexes of attributes and options in a document that is a list, not a representation. Null stands for none. */
const [attributesAt, optionsAt] = [16, 21] as const;

function parseFilterable(document: string): Filterable {
  // Boundary: the service has written the document.
  if (!document.startsWith('[')) return JSON.parse(`{${document}`) as Filterable;
  const list = JSON.parse(document) as unknown[];
  const attributes = list[attributesAt] as Filterable['attributes'] | null;
  const options = list[optionsAt] as Filterable['options'] | null;
  return { attributes: attributes ?? undefined, options: options ?? undefined };
}
