/**
 * Changes nothing itself. From this release on, products, variants and their events are stored in a form that earlier
 * releases cannot read (docs/decisions/0034), so those must not run beside this one. Existing rows keep their form.
 */
import type { Migration } from './migration.ts';

export const shortDocuments: Migration = {
  name: '0031-short-documents',
  async up() {},
};
