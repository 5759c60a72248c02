/**
 * Removes words for searches with typing errors that no document has. Earlier migrations indexed documents by other
 * words and kept the former ones, so that searches corrected words to them.
 */
import { createCollectionVersions } from '../changes/versions.ts';
import { createDialectSpelling, searchCollection } from '../search/index.ts';
import type { Migration } from './migration.ts';

export const fewerSpellings: Migration = {
  name: '0045-expand-fewer-spellings',
  async up(session, database) {
    if (await createDialectSpelling(database).removeUnused(session))
      createCollectionVersions(database).advance(session, searchCollection);
  },
};
