/**
 * Decimal numbers and fractions with a unit are no longer found by all their digits: `2.5kg` by `25kg`. Only documents
 * with such a number are indexed again. A release without this migration still finds and writes them this way.
 */
import type { Migration } from './migration.ts';
import { writeAgain } from './search-again.ts';

const concerned = /\p{N}[./]\p{N}{1,60}\p{L}/u;

export const decimals: Migration = {
  name: '0044-expand-decimals',
  prepare: database => writeAgain(database, text => concerned.test(text)),
  async up() {},
};
