/**
 * Documents with words of letters and digits are also found by the parts of these: `WH-1000XM5` by `xm5`. Only such
 * documents are written again. A program that lacks this finds and writes them by their whole words.
 */
import { sql } from 'kysely';
import { lockedProduct } from '../categories/shown.ts';
import { categoryTree } from '../categories/tree.ts';
import { collectionVersions } from '../changes/versions.ts';
import type { Transaction } from '../database.ts';
import {
  placeOf,
  positionOf,
  rewordedCollection,
  type SearchDocument,
  searchCollection,
  searchIndex,
  wordsOfDialect,
} from '../search/index.ts';
import { lettersAndDigits } from '../search/text/joined.ts';
import { wordsOf } from '../search/text/split.ts';
import { shownFields } from '../search/text/words.ts';
import type { Migration } from './migration.ts';
import { type DocumentSource, documentSources } from './search-documents.ts';

export const partsOfWords: Migration = {
  name: '0033-expand-parts-of-words',

  async prepare(database) {
    // Each of these transactions waits for rows that others hold for as long as a migration does (MIGRATION_TIMEOUT).
    const { build, dialect } = database;
    const [index, words, tree] = [searchIndex(database), wordsOfDialect(database), categoryTree(database)];
    let isChanged = false;

    async function writeSome({ type, read }: DocumentSource, session: Transaction, last?: SearchDocument) {
      await tree.share(session);
      const documents = await read(session, last);
      const mixed = documents.filter(hasMixedWords);
      if (mixed.length > 0) {
        const positions = mixed.map(document => sql.lit(positionOf(placeOf(type, document), document.id)));
        await session.run(words.remove(sql.join(positions)).compile(build));
        await index.addMany(session, type, mixed);
        isChanged = true;
      }
      return documents.at(-1);
    }

    for (const source of documentSources(build, lockedProduct(dialect).document, dialect.forUpdate)) {
      let last: SearchDocument | undefined;
      do last = await database.exclusively(session => writeSome(source, session, last));
      while (last !== undefined);
    }
    if (!isChanged) return;
    await database.exclusively(async session => {
      await index.compact(session);
      for (const collection of [searchCollection, rewordedCollection])
        collectionVersions(database).advance(session, collection);
    });
  },

  async up() {},
};

function hasMixedWords(document: SearchDocument): boolean {
  const text = [document.title, document.body, ...shownFields(document)].join(' ');
  return wordsOf(text).some(word => lettersAndDigits(word).length > 0);
}
