/**
 * Indexes scripts without spaces by pairs of characters and by words of a dictionary, and folds letters of non-Latin
 * scripts. Only documents with such characters are indexed again. A release without this migration still reads and writes
 * single characters.
 */
import type { Migration } from './migration.ts';
import { writeAgain } from './search-again.ts';

/** Fractions, invisible characters within words, and scripts: Hebrew to Georgian, Khmer, and East Asian ones. */
const concerned =
  /[\u00ad\u00bc-\u00be\u02b9-\u02bc\u0590-\u10ff\u1780-\u17ff\u200c\u2150-\u215f\u2189\u2e80-\ua4cf\uf900-\ufdff\ufe70-\ufefc\uff66-\uff9f\u{20000}-\u{3ffff}]|\u200d|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/u;

export const unspacedScripts: Migration = {
  name: '0038-expand-unspaced-scripts',
  prepare: database => writeAgain(database, text => concerned.test(text)),
  async up() {},
};
