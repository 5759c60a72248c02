/** The search index, filled with what is there already: see search-index.ts. */
import { sql } from 'kysely';
import type { Builder, Session } from '../database.ts';
import type { Migration } from '../migrate.ts';
import { type SearchDocument, searchIndex, wordsOfDialect } from '../search-index.ts';

const rowsAtOnce = 1000;

export const search: Migration = {
  name: '0007-search',
  async up(session, database) {
    const { build } = database;
    for (const statement of wordsOfDialect(database).tables()) await session.run(statement.compile(build));
    const index = searchIndex(database);
    for await (const products of rowsOf(session, build, 'products', 'document')) {
      await index.addMany(session, 'product', products.map(productDocument));
    }
    for await (const users of rowsOf(session, build, 'users', "name || ' ' || email")) {
      await index.addMany(session, 'user', users.map(userDocument));
    }
    for await (const orders of rowsOf(session, build, 'orders', "customer_name || ' ' || customer_email")) {
      const documents = orders.map(row => ({ id: row.id, title: `Order ${row.id}`, body: row.value }));
      await index.addMany(session, 'order', documents);
    }
  },
};

/** All rows of a table, some at a time. @param expression in SQL: gives a text */
async function* rowsOf(session: Session, build: Builder, table: string, expression: string) {
  for (let last = 0; ; ) {
    const rows = await session.all(
      sql<{ id: number; value: string }>`select id, ${sql.raw(expression)} as value from ${sql.table(table)}
        where id > ${last} order by id limit ${sql.lit(rowsAtOnce)}`.compile(build),
    );
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows;
    last = end.id;
  }
}

/** As products are written when this migration is: later changes of theirs do not change it. */
function productDocument({ id, value }: { id: number; value: string }): SearchDocument {
  // Boundary: the document of a product, which the service has written.
  const { name, description, category, tags, sku } = JSON.parse(`{${value}`) as {
    name: string;
    description: string | null;
    category: string | null;
    tags: string[];
    sku: string | null;
  };
  const parts = [description, category, tags.join(', '), sku];
  return { id, title: name, body: parts.filter(part => part !== null).join(' · ') };
}

/** An address has no space. */
function userDocument({ id, value }: { id: number; value: string }): SearchDocument {
  const at = value.lastIndexOf(' ');
  return { id, title: value.slice(0, at), body: value.slice(at + 1) };
}
