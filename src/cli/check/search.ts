/** Checks the search index, and the words kept for misspelt searches, against the rows that they are derived from. */
import { sql } from 'kysely';
import { readRewordedPaths } from '../../resources/categories/search-texts.ts';
import { toSearchText } from '../../resources/products/search-text.ts';
import { createDocumentReader } from '../../resources/search/sources.ts';
import { isPathWithin } from '../../storage/categories/names.ts';
import { buildShownProduct } from '../../storage/categories/shown.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import type { Session } from '../../storage/database.ts';
import {
  createDialectSpelling,
  createSearchIndex,
  getDialectWords,
  getDocumentId,
  getDocumentType,
  rewordedCollection,
  type SearchDocument,
  type SearchType,
  searchCollection,
  toDocumentType,
  toPosition,
} from '../../storage/search/index.ts';
import { toDocumentWords } from '../../storage/search/text/words.ts';
import { type Check, readRowPages, type Storage } from './check.ts';
import { readDocument } from './content.ts';
import { createLedger } from './ledger.ts';

const tables = { article: 'articles', post: 'posts', order: 'orders', user: 'users' } as const;

/** All searchable documents, in pages. A product whose stored document cannot be read is left out. */
async function* readDocuments(
  session: Session,
  database: Storage,
): AsyncGenerator<{ type: SearchType; documents: SearchDocument[] }> {
  const { build } = database;
  const { document } = buildShownProduct(database.dialect);
  const products = sql<{ id: number; document: string }>`select id, ${document} as document from products`;
  for await (const rows of readRowPages(session, build, products)) {
    const documents = rows.flatMap(row => {
      const fields = readDocument(row);
      return fields === undefined ? [] : [{ id: row.id, ...toSearchText(fields) }];
    });
    yield { type: 'product', documents };
  }
  const read = createDocumentReader(database);
  for (const type of ['article', 'post', 'order', 'user'] as const) {
    const ids = sql<{ id: number }>`select id from ${sql.id(tables[type])}`;
    for await (const rows of readRowPages(session, build, ids)) {
      const found = await read(
        session,
        rows.map(({ id }) => toPosition(type, id)),
      );
      yield { type, documents: [...found.values()] };
    }
  }
}

/** Whether a document is a product in one of these categories, or below one of them. */
const isBelow = (paths: readonly string[], { fields }: SearchDocument): boolean =>
  paths.length > 0 &&
  fields !== undefined &&
  fields.categories.some(one => paths.some(path => isPathWithin(one, path)));

export function createSearchCheck(database: Storage): Check {
  const { build } = database;
  const dialect = getDialectWords(database);
  const spelling = createDialectSpelling(database);
  return {
    name: 'search index',
    async find(session) {
      const ledger = createLedger();
      // The service has yet to index the products of renamed categories by their new words.
      const reworded = await readRewordedPaths(session, build);
      const waiting = new Set<number>();
      for await (const { type, documents } of readDocuments(session, database)) {
        for (const document of documents) {
          const position = toPosition(toDocumentType(type, document), document.id);
          if (isBelow(reworded, document)) waiting.add(position);
          for (const word of new Set(toDocumentWords(document))) ledger.add(position, word);
        }
      }
      for await (const entries of dialect.entries(session, build)) {
        for (const { position, word } of entries) ledger.takeOff(position, word);
      }
      const lines = ledger
        .differing()
        .filter(position => !waiting.has(position))
        .map(
          position =>
            `${getDocumentType(position)} ${getDocumentId(position)} is indexed under words that differ from its text`,
        );
      // Nor are the words of renamed categories kept for misspelt searches, or removed, before that.
      if (reworded.length === 0 && !(await spelling.isWhole(session)))
        lines.push('the words for searches with typing errors differ from the indexed words');
      return lines;
    },
    async repair(session) {
      const index = createSearchIndex(database);
      for (const statement of dialect.clear()) await session.run(statement.compile(build));
      for await (const { type, documents } of readDocuments(session, database)) {
        const split = documents.map(document => ({
          id: document.id,
          words: toDocumentWords(document).join(' '),
          archived: document.archived === true,
        }));
        await index.addMany(session, type, split);
      }
      await spelling.rebuild(session);
      await index.compact(session);
      for (const collection of [searchCollection, rewordedCollection])
        createCollectionVersions(database).advance(session, collection);
    },
  };
}
