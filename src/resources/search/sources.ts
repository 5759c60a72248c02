/** The texts of what is in the index, read from the tables of the resources themselves. */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Database, Session } from '../../storage/database.ts';
import type { SearchDocument, SearchType } from '../../storage/search-index.ts';
import type { ProductFields } from '../products/schema.ts';
import { searchTextOf } from '../products/search-text.ts';
import { type Article, articleText, type Order, orderText, type User, userText } from './texts.ts';

/** Reads what is there of these documents, in any order. */
export type Source = (session: Session, ids: readonly number[]) => Promise<SearchDocument[]>;

export function searchSources({ build }: Pick<Database, 'build'>): Readonly<Record<SearchType, Source>> {
  function reading<Row extends { readonly id: number }>(
    select: RawBuilder<Row>,
    textOf: (row: Row) => { readonly title: string; readonly body: string },
  ): Source {
    // One statement for each number of ids that is asked for: a page's hits, or fewer.
    const statements = new Map<number, CompiledQuery<Row>>();
    return async (session, ids) => {
      const statement =
        statements.get(ids.length) ?? sql<Row>`${select} where id in (${sql.join(ids)})`.compile(build);
      statements.set(ids.length, statement);
      const rows = await session.all<Row>({ ...statement, parameters: ids });
      return rows.map(row => ({ id: row.id, ...textOf(row) }));
    };
  }
  return {
    product: reading(sql<{ id: number; document: string }>`select id, document from products`, row => {
      // Boundary: products/store.ts has written the document from fields that the schema has checked.
      return searchTextOf(JSON.parse(`{${row.document}`) as ProductFields);
    }),
    article: reading(sql<Article>`select id, title, body, tags from articles`, articleText),
    post: reading(
      sql<{ id: number; title: string; body: string }>`select id, title, body from posts`,
      row => row,
    ),
    order: reading(sql<Order>`select id, customer_name, customer_email from orders`, orderText),
    user: reading(sql<User>`select id, name, email from users`, userText),
  };
}
