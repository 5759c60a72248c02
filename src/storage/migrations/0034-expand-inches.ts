/**
 * Documents with marks for inches are found by the unit: `27"` by `27 inch`. Only such documents are written again.
 * A program without this migration finds and writes them by the number.
 */
import { findInchMarks } from '../search/text/inches.ts';
import type { Migration } from './migration.ts';
import { writeAgain } from './search-again.ts';

export const inches: Migration = {
  name: '0034-expand-inches',
  prepare: database => writeAgain(database, text => findInchMarks(text).length > 0),
  async up() {},
};
