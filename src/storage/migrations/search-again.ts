/** Writes documents to the search index again if their texts are now split into different words. */
import { sql } from 'kysely';
import { buildLockedProduct } from '../categories/shown.ts';
import { createCategoryTree } from '../categories/tree.ts';
import { createCollectionVersions } from '../changes/versions.ts';
import type { Database, Transaction } from '../database.ts';
import {
  createSearchIndex,
  getDialectWords,
  rewordedCollection,
  type SearchDocument,
  searchCollection,
  toDocumentType,
  toPosition,
} from '../search/index.ts';
import { getShownFields, toDocumentWords } from '../search/text/words.ts';
import { createDocumentSources, type DocumentSource, type OldDocument } from './search-documents.ts';

/**
 * Uses several transactions, each of which waits for locked rows for as long as a migration does (MIGRATION_TIMEOUT).
 * @param isConcerned whether a document with this text, its title or another, is written again
 * @param getBefore the document with all words that it may have been written under, if some are no longer any document's
 */
export async function writeAgain(
  database: Database,
  isConcerned: (text: string, document: OldDocument) => boolean,
  getBefore?: (document: OldDocument) => SearchDocument,
): Promise<void> {
  const { build, dialect } = database;
  const [index, words, tree] = [
    createSearchIndex(database),
    getDialectWords(database),
    createCategoryTree(database),
  ];
  let isChanged = false;

  async function writeSome({ type, read }: DocumentSource, session: Transaction, last?: SearchDocument) {
    await tree.share(session);
    const documents = await read(session, last);
    const concerned = documents.filter(document =>
      getTexts(getBefore?.(document) ?? document).some(text => isConcerned(text, document)),
    );
    if (concerned.length > 0) {
      const positions = concerned.map(document =>
        sql.lit(toPosition(toDocumentType(type, document), document.id)),
      );
      await session.run(words.remove(sql.join(positions)).compile(build));
      await index.addMany(session, type, concerned);
      if (getBefore !== undefined)
        for (const document of concerned) index.release(session, toDocumentWords(getBefore(document)));
      isChanged = true;
    }
    return documents.at(-1);
  }

  for (const source of createDocumentSources(
    build,
    buildLockedProduct(dialect).document,
    dialect.forUpdate,
  )) {
    let last: SearchDocument | undefined;
    do last = await database.exclusively(session => writeSome(source, session, last));
    while (last !== undefined);
  }
  if (!isChanged) return;
  await database.exclusively(async session => {
    await index.compact(session);
    for (const collection of [searchCollection, rewordedCollection])
      createCollectionVersions(database).advance(session, collection);
  });
}

const getTexts = (document: SearchDocument): readonly string[] => [
  document.title,
  document.body,
  ...getShownFields(document),
];
