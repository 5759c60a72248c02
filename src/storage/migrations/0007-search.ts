/** The search index, filled with the existing documents: see search/index.ts. */
import { type RawBuilder, sql } from 'kysely';
import { readPages } from '../../turns/slices.ts';
import type { Builder, Session } from '../database.ts';
import { createSearchIndex, getDialectWords, type SearchDocument } from '../search/index.ts';
import type { Migration } from './migration.ts';
import { type OldArticle, type OldUser, toArticleDocument, toUserDocument } from './search-documents.ts';

const rowsAtOnce = 1000;

export const search: Migration = {
  name: '0007-search',
  async up(session, database) {
    const { build } = database;
    for (const statement of getDialectWords(database).tables()) await session.run(statement.compile(build));
    const index = createSearchIndex(database);
    const { products, users, orders, articles, posts } = readSources(session, build);
    for await (const rows of products) await index.addMany(session, 'product', rows.map(toProductDocument));
    for await (const rows of users) await index.addMany(session, 'user', rows.map(toUserDocument));
    for await (const rows of orders) await index.addMany(session, 'order', rows.map(toOrderDocument));
    for await (const rows of articles) await index.addMany(session, 'article', rows.map(toArticleDocument));
    for await (const rows of posts) await index.addMany(session, 'post', rows);
    await index.compact(session);
  },
};

interface OldProduct {
  readonly id: number;
  readonly document: string;
}
interface OldOrder {
  readonly id: number;
  readonly customer_name: string;
  readonly customer_email: string;
}

/** The existing rows, some at a time. */
function readSources(session: Session, build: Builder) {
  return {
    products: readRows<OldProduct>(session, build, sql`select id, document from products`),
    users: readRows<OldUser>(session, build, sql`select id, name, email from users`),
    orders: readRows<OldOrder>(session, build, sql`select id, customer_name, customer_email from orders`),
    articles: readRows<OldArticle>(session, build, sql`select id, title, body, tags from articles`),
    posts: readRows<SearchDocument>(session, build, sql`select id, title, body from posts`),
  };
}

const readRows = <Row extends { readonly id: number }>(
  session: Session,
  build: Builder,
  select: RawBuilder<unknown>,
): AsyncGenerator<Row[]> =>
  readPages<Row>(last => {
    const query = sql<Row>`${select} where id > ${last?.id ?? 0} order by id limit ${sql.lit(rowsAtOnce)}`;
    return session.all(query.compile(build));
  });

/*
 * Documents as the stores wrote them when this migration was written: later changes of the stores do not affect it.
 */

function toProductDocument({ id, document }: OldProduct): SearchDocument {
  // Boundary: the service has written the document.
  const { name, description, category, tags, sku } = JSON.parse(`{${document}`) as {
    name: string;
    description: string | null;
    category: string | null;
    tags: string[];
    sku: string | null;
  };
  const parts = [description, category, tags.join(', '), sku];
  return { id, title: name, body: parts.filter(part => part !== null).join(' · ') };
}

function toOrderDocument({ id, customer_name, customer_email }: OldOrder): SearchDocument {
  return { id, title: `Order ${id}`, body: `${customer_name} ${customer_email}` };
}
