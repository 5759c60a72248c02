/** Reads the texts of indexed documents from the tables of their resources. */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import {
  buildReadColumns,
  productsWithPaths,
  type ReadProduct,
  readPaths,
} from '../../storage/categories/shown.ts';
import type { Database, Session } from '../../storage/database.ts';
import {
  type DocumentType,
  getDocumentId,
  getDocumentType,
  type SearchDocument,
  type SearchText,
  type SearchType,
  toPosition,
} from '../../storage/search/index.ts';
import { takeTurn } from '../../turns/index.ts';
import { sendInSlices } from '../../turns/slices.ts';
import { storedProduct } from '../products/members/stored.ts';
import type { Product, Rating } from '../products/schema.ts';
import { toSearchTextInSlices } from '../products/search-text.ts';
import { type Article, type Item, toArticleText, toOrderText, toUserText, type User } from './texts.ts';

/** A document with the facts, other than its words, by which a hit is ranked. */
interface FoundDocument extends SearchDocument {
  /** Characters of the stored document, of which its texts may be a small part; if absent, those of its body count. */
  readonly size?: number;
  readonly product?: Omit<Product, 'id'>;
  /** From 0 to 1: its average rating, reduced if it has few reviews. */
  readonly rating: number;
  readonly available: boolean;
}

export interface Hit {
  readonly type: SearchType;
  readonly document: FoundDocument;
  /** HTML. */
  readonly snippet: string;
  readonly score: number;
  /** Words of the query that the document does not have. */
  readonly missing: readonly string[];
}

/** Reads those of the documents that exist, in any order. */
type Source = (session: Session, ids: readonly number[]) => Promise<FoundDocument[]>;

/** The number of reviews from which a rating counts in full. */
const manyReviews = 10;
const bestRating = 5;
const unrated = { rating: 0, available: true } as const;

/** From 0 to 1. */
export const computeRating = ({ average, count }: Rating): number =>
  ((average ?? 0) / bestRating) * Math.min(1, count / manyReviews);

async function toProductDocument(row: ReadProduct): Promise<FoundDocument> {
  const { id, document } = row;
  const product = Object.assign(storedProduct.membersOf(document), readPaths(row));
  const rating = computeRating(product.rating);
  const { available } = product;
  return { id, size: document.length, ...(await toSearchTextInSlices(product)), product, rating, available };
}

function createSearchSources(
  database: Pick<Database, 'build' | 'dialect'>,
): Readonly<Record<DocumentType, Source>> {
  const { build, dialect } = database;
  /** @param rows builds the query of the rows for some ids */
  function createRowReader<Row>(rows: (ids: RawBuilder<unknown>) => RawBuilder<Row>) {
    // One statement for each number of ids: the hits of a page, or fewer.
    const statements = new Map<number, CompiledQuery<Row>>();
    return (session: Session, ids: readonly number[]): Promise<Row[]> => {
      const statement = statements.getOrInsertComputed(ids.length, () => rows(sql.join(ids)).compile(build));
      return session.all<Row>({ ...statement, parameters: ids });
    };
  }
  function createSource<Row extends { readonly id: number }>(
    select: RawBuilder<Row>,
    toText: (row: Row) => SearchText,
  ): Source {
    const read = createRowReader(ids => sql<Row>`${select} where id in (${ids})`);
    return async (session, ids) =>
      (await read(session, ids)).map(row => ({ id: row.id, ...toText(row), ...unrated }));
  }
  // One row for each item, in the order in which the store indexes them; an order without items has one row of nulls.
  const items = createRowReader<{ readonly id: number } & (Item | { readonly name: null })>(
    ids => sql`select orders.id, name, sku from orders left join order_items on order_items.order_id = orders.id
      where orders.id in (${ids}) order by orders.id, order_items.id`,
  );
  const productRows = createRowReader<ReadProduct>(
    ids =>
      sql`select products.id, ${buildReadColumns(dialect)} from ${productsWithPaths} where products.id in (${ids})`,
  );
  // Removing the markup from long descriptions takes long.
  const readProducts: Source = async (session, ids) =>
    Promise.all(await sendInSlices(await productRows(session, ids), toProductDocument));
  return {
    product: readProducts,
    archived: readProducts,
    article: createSource(sql<Article>`select id, title, body, tags from articles`, toArticleText),
    post: createSource(
      sql<SearchText & { readonly id: number }>`select id, title, body from posts`,
      ({ title, body }) => ({ title, body }),
    ),
    async order(session, ids) {
      const byOrder = Map.groupBy(await items(session, ids), ({ id }) => id);
      return [...byOrder].map(([id, rows]) => {
        const named = rows.filter(row => row.name !== null);
        return { id, ...toOrderText({ id }, named), ...unrated };
      });
    },
    user: createSource(sql<User>`select id, name, email from users`, toUserText),
  };
}

/** Documents by their positions in the index. */
type Documents = ReadonlyMap<number, FoundDocument>;

/** Whether documents of this type are products, archived or not. */
export const isProduct = (type: DocumentType): boolean => type === 'product' || type === 'archived';

/** The type as callers see it: archived products are products. */
export const toSearchType = (type: DocumentType): SearchType => (type === 'archived' ? 'product' : type);
export const toCountsByType = (counts: ReadonlyMap<DocumentType, number>): Map<SearchType, number> =>
  new Map([...counts].map(([type, count]) => [toSearchType(type), count]));

export type DocumentReader = (session: Session, positions: readonly number[]) => Promise<Documents>;

/** Reads each document once: documents that have just been scored are not read again to be shown. */
export function readOnce(read: DocumentReader): DocumentReader {
  const known = new Map<number, FoundDocument>();
  return async (session, positions) => {
    const absent = positions.filter(position => !known.has(position));
    for (const [position, document] of await read(session, absent)) known.set(position, document);
    const found = new Map<number, FoundDocument>();
    for (const position of positions) {
      const document = known.get(position);
      if (document !== undefined) found.set(position, document);
    }
    return found;
  };
}

/** @returns a reader of the documents at some positions, which omits deleted documents */
export function createDocumentReader(database: Pick<Database, 'build' | 'dialect'>): DocumentReader {
  const sources = createSearchSources(database);
  /** Documents per read: fewer if texts are long. Later searches use it, too: texts are long throughout a catalog. */
  let pace = maxAtOnce;
  return async (session, positions) => {
    const documents = new Map<number, FoundDocument>();
    for (const type of new Set(positions.map(getDocumentType))) {
      const own = positions.filter(position => getDocumentType(position) === type);
      for (let first = 0; first < own.length; ) {
        const some = own.slice(first, first + pace);
        first += some.length;
        const found = await sources[type](session, some.map(getDocumentId));
        for (const document of found) documents.set(toPosition(type, document.id), document);
        if (found.length > 0) pace = computePace(found);
        await takeTurn();
      }
    }
    return documents;
  };
}

/** The most documents per read, for each of which a slow disk seeks, and the most characters of their texts. */
const maxAtOnce = 32;
const lengthAtOnce = 400_000;

/** @returns how many documents as long as these to read at a time */
function computePace(documents: readonly FoundDocument[]): number {
  const length = documents.reduce((sum, { body, size }) => sum + (size ?? body.length), 1);
  return Math.max(1, Math.min(maxAtOnce, Math.floor((lengthAtOnce * documents.length) / length)));
}
