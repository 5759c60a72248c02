/** The rows by which products are found by attribute. Programs that do not write these rows would leave them wrong. */
import { sql } from 'kysely';
import { createAttributeIndex } from '../attributes/index.ts';
import type { AttributeValues } from '../attributes/values.ts';
import type { Migration } from './migration.ts';

const rowsAtOnce = 500;

export const productAttributes: Migration = {
  name: '0024-product-attributes',
  async up(session, { build, dialect }) {
    const { text, integer, real } = dialect.types;
    const isSqlite = dialect.name === 'sqlite';
    const statements = [
      sql`create table product_attributes (
        key ${text} not null,
        value ${text} not null,
        product_id ${integer} not null,
        kind ${integer} not null,
        number ${real},
        primary key (key, value, product_id)
      ) ${isSqlite ? sql`without rowid` : sql``}`,
      sql`create index product_attributes_by_number on product_attributes (key, kind, number, product_id)
        where number is not null`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
    const write = createAttributeIndex({ build, dialect }, { isDeferred: false });
    for (let last = 0; ; ) {
      const query = sql<{ id: number; document: string }>`select id, document from products
        where id > ${last} and document like '%"attributes":{"%' order by id limit ${sql.lit(rowsAtOnce)}`;
      const rows = await session.all(query.compile(build));
      await write(
        session,
        rows.map(({ id, document }) => ({ id, before: {}, after: parseAttributes(document) })),
      );
      const end = rows.at(-1);
      if (end === undefined) return;
      last = end.id;
    }
  },
};

/** Empty if the text that the query looks for is in a description. */
function parseAttributes(document: string): AttributeValues {
  // Boundary: the service has written the document.
  const { attributes } = JSON.parse(`{${document}`) as { attributes?: AttributeValues };
  return attributes ?? {};
}
