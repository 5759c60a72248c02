/** The texts of what is in the index, read from the tables of the resources themselves. */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Session } from '../../storage/database.ts';
import {
  idAt,
  positionOf,
  type SearchDocument,
  type SearchType,
  typeAt,
} from '../../storage/search/index.ts';
import type { ProductFields } from '../products/schema.ts';
import { searchTextOf } from '../products/search-text.ts';
import { type Article, articleText, type Item, orderText, type User, userText } from './texts.ts';

/** Reads what is there of these documents, in any order. */
type Source = (session: Session, ids: readonly number[]) => Promise<SearchDocument[]>;

function searchSources({ build }: Pick<Database, 'build'>): Readonly<Record<SearchType, Source>> {
  /** @param rows reads the rows that say something of these ids */
  function rowsOf<Row>(rows: (ids: RawBuilder<unknown>) => RawBuilder<Row>) {
    // One statement for each number of ids that is asked for: a page's hits, or fewer.
    const statements = new Map<number, CompiledQuery<Row>>();
    return (session: Session, ids: readonly number[]): Promise<Row[]> => {
      const statement = statements.get(ids.length) ?? rows(sql.join(ids)).compile(build);
      statements.set(ids.length, statement);
      return session.all<Row>({ ...statement, parameters: ids });
    };
  }
  function reading<Row extends { readonly id: number }>(
    select: RawBuilder<Row>,
    textOf: (row: Row) => { readonly title: string; readonly body: string },
  ): Source {
    const read = rowsOf(ids => sql<Row>`${select} where id in (${ids})`);
    return async (session, ids) => (await read(session, ids)).map(row => ({ id: row.id, ...textOf(row) }));
  }
  // One row for each item, in the order in which the store has told the index; of an order without items a row of nulls.
  const items = rowsOf<{ readonly id: number } & (Item | { readonly name: null })>(
    ids => sql`select orders.id, name, sku from orders left join order_items on order_items.order_id = orders.id
      where orders.id in (${ids}) order by orders.id, order_items.id`,
  );
  return {
    product: reading(sql<{ id: number; document: string }>`select id, document from products`, row => {
      return searchTextOf(parseStored<ProductFields>(`{${row.document}`));
    }),
    article: reading(sql<Article>`select id, title, body, tags from articles`, articleText),
    post: reading(
      sql<{ id: number; title: string; body: string }>`select id, title, body from posts`,
      row => row,
    ),
    async order(session, ids) {
      const byOrder = Map.groupBy(await items(session, ids), ({ id }) => id);
      return [...byOrder].map(([id, rows]) => ({
        id,
        ...orderText(
          { id },
          rows.filter(row => row.name !== null),
        ),
      }));
    },
    user: reading(sql<User>`select id, name, email from users`, userText),
  };
}

/** By their positions in the index. */
export type Documents = ReadonlyMap<number, SearchDocument>;

/** @returns what reads the documents at these positions; those that are gone are left out */
export function documentReader(database: Pick<Database, 'build'>) {
  const sources = searchSources(database);
  return async (session: Session, positions: readonly number[]): Promise<Documents> => {
    const documents = new Map<number, SearchDocument>();
    for (const type of new Set(positions.map(typeAt))) {
      const own = positions.filter(position => typeAt(position) === type);
      for (const document of await sources[type](session, own.map(idAt))) {
        documents.set(positionOf(type, document.id), document);
      }
    }
    return documents;
  };
}
