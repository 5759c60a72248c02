/**
 * Documents with words of letters and digits are also found by the parts of these: `WH-1000XM5` by `xm5`. Only such
 * documents are written again. A program that lacks this finds and writes them by their whole words.
 */
import { sql } from 'kysely';
import { shownProduct } from '../categories/shown.ts';
import { collectionVersions } from '../changes/versions.ts';
import {
  hasKeptWords,
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
import { canBeMisspelt, shownFields } from '../search/text/words.ts';
import type { Migration } from './migration.ts';
import { documentsOf, splitDocuments } from './search-documents.ts';

export const partsOfWords: Migration = {
  name: '0033-expand-parts-of-words',
  async up(session, database) {
    const { build } = database;
    const index = searchIndex(database);
    const words = wordsOfDialect(database);
    // Programs that go on beside this: what they write waits, so that nothing is written here by older texts.
    for (const statement of words.lock()) await session.run(statement.compile(build));
    const shown = shownProduct(database.dialect).document;
    // Each once: a transaction keeps what is passed to it in memory until its end.
    const changed = new Set<string>();
    let isChanged = false;
    for await (const { type, documents } of documentsOf(session, build, shown)) {
      const mixed = splitDocuments(documents.filter(hasMixedWords));
      if (mixed.length === 0) continue;
      const positions = mixed.map(document => sql.lit(positionOf(placeOf(type, document), document.id)));
      await session.run(words.remove(sql.join(positions)).compile(build));
      await index.addMany(session, type, mixed);
      for (const document of mixed) {
        if (hasKeptWords(placeOf(type, document)))
          for (const word of document.words.split(' ')) if (canBeMisspelt(word)) changed.add(word);
      }
      isChanged = true;
    }
    if (!isChanged) return;
    index.keep(session, [...changed]);
    await index.compact(session);
    for (const collection of [searchCollection, rewordedCollection])
      collectionVersions(database).advance(session, collection);
  },
};

function hasMixedWords(document: SearchDocument): boolean {
  const text = [document.title, document.body, ...shownFields(document)].join(' ');
  return wordsOf(text).some(word => lettersAndDigits(word).length > 0);
}
