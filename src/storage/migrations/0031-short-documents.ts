/**
 * Changes nothing by itself: from here on products, variants and their events are stored in a form that releases before
 * cannot read (docs/decisions/0034), so that these must not go on beside this one. What is stored already stays.
 */
import type { Migration } from './migration.ts';

export const shortDocuments: Migration = {
  name: '0031-short-documents',
  async up() {},
};
