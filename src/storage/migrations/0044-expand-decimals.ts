/**
 * Decimal numbers and fractions with a unit or in a size are no longer found by all their digits: `2.5kg` by `25kg`,
 * `M8x1.25` by `m8x125`. Only documents with such a number are indexed again. A release without this migration still
 * finds and writes them this way.
 */
import type { Migration } from './migration.ts';
import { writeAgain } from './search-again.ts';

/** A number with a unit, or the end of a size: `2.5kg`, `M8x1.25`. */
const concerned = /\p{N}[./]\p{N}{1,60}\p{L}|\p{N}x\p{N}{1,60}[./]\p{N}/iu;

export const decimals: Migration = {
  name: '0044-expand-decimals',
  prepare: database => writeAgain(database, text => concerned.test(text)),
  async up() {},
};
