/**
 * Removes people from the index of words: orders are found by number and items, no longer by customer; and misspelt
 * words are compared only with words of products, articles and posts.
 */
import { sql } from 'kysely';
import type { Builder, Session } from '../database.ts';
import { createDialectSpelling, createSearchIndex, type SearchDocument } from '../search/index.ts';
import type { Migration } from './migration.ts';

const ordersAtOnce = 1000;

export const searchPeople: Migration = {
  name: '0009-search-people',
  async up(session, database) {
    const index = createSearchIndex(database);
    for await (const documents of readOrderDocuments(session, database.build)) {
      await index.addMany(session, 'order', documents);
    }
    await createDialectSpelling(database).rebuild(session);
  },
};

interface Item {
  readonly order_id: number;
  /** Null in the only row of an order without items. */
  readonly name: string | null;
  readonly sku: string | null;
}

/** Documents as the store of orders wrote them when this migration was written: later changes do not affect it. */
async function* readOrderDocuments(session: Session, build: Builder): AsyncGenerator<SearchDocument[]> {
  for (let last = 0; ; last += ordersAtOnce) {
    const highest = sql<{ id: number | null }>`select max(id) as id from orders`.compile(build);
    if (((await session.first(highest))?.id ?? 0) <= last) return;
    const query = sql<Item>`select orders.id as order_id, name, sku from orders
      left join order_items on order_items.order_id = orders.id
      where orders.id > ${last} and orders.id <= ${last + ordersAtOnce} order by orders.id, order_items.id`;
    const byOrder = Map.groupBy(await session.all(query.compile(build)), item => item.order_id);
    yield [...byOrder].map(([id, items]) => {
      const parts = items.flatMap(({ name, sku }) => [name, sku]).filter(part => part !== null);
      return { id, title: `Order ${id}`, body: parts.join(' · ') };
    });
  }
}
