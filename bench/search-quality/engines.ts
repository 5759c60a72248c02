/** The compared search engines, each over the same texts. */

import { Database as Connection } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import MiniSearch from 'minisearch';
import { createCause, createCommandOutbox } from '../../src/events/outbox.ts';
import { createProductCategories, toCategoryColumns } from '../../src/resources/categories/assign.ts';
import { products as productRows, toProductRow } from '../../src/resources/products/row.ts';
import { completeFields, createProduct } from '../../src/resources/products/schema.ts';
import { toSearchText } from '../../src/resources/products/search-text.ts';
import { createProductReader } from '../../src/resources/search/reader.ts';
import { createSearchStore } from '../../src/resources/search/store.ts';
import { noSynonyms } from '../../src/resources/synonyms/store.ts';
import { createAttributeIndex } from '../../src/storage/attributes/index.ts';
import { collectFilterValues } from '../../src/storage/attributes/values.ts';
import { createColumns } from '../../src/storage/columns/index.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { createSearchIndex } from '../../src/storage/search/index.ts';
import { toPlainText } from '../../src/storage/search/text/html.ts';
import { createStems } from '../../src/storage/search/text/stems.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';
import type { Product } from './shop.ts';

export interface Engine {
  readonly name: string;
  /** The indexes of the hits in the list of products, best first. */
  find(query: string, limit: number): Promise<number[]>;
  close(): Promise<void>;
}

interface Texts {
  readonly id: number;
  readonly name: string;
  readonly sku: string;
  readonly brand: string;
  readonly category: string;
  readonly attributes: string;
  readonly tags: string;
  readonly description: string;
}

const columns = ['name', 'sku', 'brand', 'category', 'attributes', 'tags', 'description'] as const;

/** The texts that our index has, for the other engines. */
function textsOf(product: Product, id: number): Texts {
  const { name, sku, brand, kind, tags, description } = product;
  const attributes = Object.values(product.attributes).join(' ');
  return {
    id,
    name,
    sku,
    brand,
    category: kind.category,
    attributes,
    tags: tags.join(' '),
    description: toPlainText(description),
  };
}

const wordsOf = (query: string) => query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

export async function ours(products: readonly Product[]): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-quality-'));
  const database = openSqlite(join(folder, 'catalog.db'));
  const engine = await oursOn('ours', database, products);
  return {
    ...engine,
    close: async () => {
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param database an empty database, which closes with the engine */
async function oursOn(name: string, database: Database, products: readonly Product[]): Promise<Engine> {
  await migrate(database, Date.now);
  const index = createSearchIndex(database);
  const writeAttributes = createAttributeIndex(database);
  const now = Date.now();
  const categories = createProductCategories(database, createCommandOutbox(database));
  const cause = createCause('bench', now);
  await database.write(async session => {
    for (const [at, product] of products.entries()) {
      const { name, sku, brand, kind, tags, attributes, description } = product;
      const fields = completeFields(
        createProduct.parse({
          name,
          price: 1,
          sku,
          brand,
          category: kind.category,
          tags,
          attributes,
          description,
        }),
      );
      const known = await categories.find(session, [fields], cause);
      const columns = toCategoryColumns(fields, known);
      await session.run(
        database.build
          .insertInto('products')
          .values({ id: at + 1, ...toProductRow(fields, now), ...columns })
          .compile(),
      );
      await index.add(session, 'product', { id: at + 1, ...toSearchText(fields) });
      await writeAttributes(session, [{ id: at + 1, before: {}, after: collectFilterValues(fields) }]);
    }
  });
  const store = createSearchStore(
    database,
    createColumns(database, productRows),
    createStems(['en', 'de']),
    { synonyms: { current: async () => noSynonyms }, definitions: { current: async () => new Map() } },
    createProductReader(database),
  );
  return {
    name,
    async find(query, limit) {
      const page = { kind: 'offset', page: 1, perPage: limit } as const;
      const { rows } = await store.search({ query, visible: ['product'], types: ['product'], page });
      return rows.map(({ hit }) => hit.document.id - 1);
    },
    close: () => database.close(),
  };
}

export function fts5(products: readonly Product[]): Engine {
  const connection = new Connection(':memory:');
  connection.run(`create virtual table texts using fts5 (${columns.join()}, tokenize = 'porter unicode61')`);
  const insert = connection.query(
    `insert into texts (rowid, ${columns.join()}) values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const [at, product] of products.entries()) {
    const texts = textsOf(product, at);
    insert.run(at, ...columns.map(column => texts[column]));
  }
  const select = connection.query<{ rowid: number }, [string, number]>(
    'select rowid from texts where texts match ? order by bm25(texts) limit ?',
  );
  return {
    name: 'FTS5 bm25, porter, OR',
    find: async (query, limit) => {
      const words = wordsOf(query);
      const match = words.map(word => `"${word}"`).join(' OR ');
      return words.length === 0 ? [] : select.all(match, limit).map(({ rowid }) => rowid);
    },
    close: async () => connection.close(),
  };
}

export async function tsRank(url: string, products: readonly Product[]): Promise<Engine> {
  const sql = new SQL(url, { max: 1 });
  await sql`create temporary table texts (id integer, words tsvector)`;
  for (const [at, product] of products.entries()) {
    const texts = textsOf(product, at);
    await sql`insert into texts values (${at}, to_tsvector('english', ${columns.map(column => texts[column]).join(' ')}))`;
  }
  return {
    name: 'ts_rank, english, OR',
    find: async (query, limit) => {
      const words = wordsOf(query);
      if (words.length === 0) return [];
      const rows: { id: number }[] =
        await sql`select id from texts, to_tsquery('english', ${words.join(' | ')}) as query
        where words @@ query order by ts_rank(words, query) desc, id limit ${limit}`;
      return rows.map(({ id }) => id);
    },
    close: () => sql.close(),
  };
}

export function miniSearch(products: readonly Product[]): Engine {
  const index = new MiniSearch<Texts>({
    fields: [...columns],
    searchOptions: { boost: { name: 2 }, prefix: true, fuzzy: 0.2 },
  });
  index.addAll(products.map(textsOf));
  return {
    name: 'MiniSearch, prefix, fuzzy',
    // Boundary: the ids are those of `textsOf`.
    find: async (query, limit) =>
      index
        .search(query)
        .slice(0, limit)
        .map(({ id }) => id as number),
    close: async () => undefined,
  };
}
