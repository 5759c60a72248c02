/**
 * Products are found by their options as by attributes (docs/decisions/0042). Programs that do not write these rows would
 * leave them wrong.
 */
import { sql } from 'kysely';
import { createAttributeIndex } from '../attributes/index.ts';
import { collectFilterValues, type Filterable } from '../attributes/values.ts';
import type { Migration } from './migration.ts';

const rowsAtOnce = 500;

export const optionsAsAttributes: Migration = {
  name: '0037-options-as-attributes',
  async up(session, { build, dialect }) {
    const write = createAttributeIndex({ build, dialect }, { isDeferred: false });
    for (let last = 0; ; ) {
      const query = sql<{ id: number; document: string }>`select id, document from products
        where id > ${last} and document like '%"values":[%' order by id limit ${sql.lit(rowsAtOnce)}`;
      const rows = await session.all(query.compile(build));
      const changes = rows.map(({ id, document }) => {
        const product = parseFilterable(document);
        return { id, before: product.attributes ?? {}, after: collectFilterValues(product) };
      });
      await write(session, changes);
      const end = rows.at(-1);
      if (end === undefined) return;
      last = end.id;
    }
  },
};

/** The places of both in the list that a document is, unless it is a representation. Null stands for none. */
const [attributesAt, optionsAt] = [16, 21] as const;

function parseFilterable(document: string): Filterable {
  // Boundary: the service has written the document.
  if (!document.startsWith('[')) return JSON.parse(`{${document}`) as Filterable;
  const list = JSON.parse(document) as unknown[];
  const attributes = list[attributesAt] as Filterable['attributes'] | null;
  const options = list[optionsAt] as Filterable['options'] | null;
  return { attributes: attributes ?? undefined, options: options ?? undefined };
}
