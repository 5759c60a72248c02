/**
 * Bulk writing of products: many records in one transaction. Each record creates a product, or updates the existing one
 * that it matches, if it differs. Totals, the search index, tags and attributes are written once per transaction.
 */

import type { Cause, Outbox } from '../../../events/outbox.ts';
import type { Database, Session, Transaction } from '../../../storage/database.ts';
import { createSearchIndex } from '../../../storage/search/index.ts';
import { requireAttributes } from '../../attributes/rules.ts';
import { createDefinitionStore } from '../../attributes/store.ts';
import type { CategoriesByPath } from '../../categories/assign.ts';
import { createVariantStore } from '../../variants/store.ts';
import { addUploads, createUploadReader, type Uploads } from '../members/uploads.ts';
import { createKeptProduct, type LockedProduct, toWrittenProduct } from '../row.ts';
import { toSearchText } from '../search-text.ts';
import { createProductStore } from '../store.ts';
import type { ImportCreate, ImportUpdate } from './entry.ts';
import { createCreationEventWriter } from './events.ts';
import { createExistingProductsReader } from './existing.ts';
import type { MatchedProducts } from './matching.ts';
import { type ImportPlan, type Known, planAgainst } from './plan.ts';
import { collectMisspeltWords, type PreparedRecord, toPreparedFields } from './prepared.ts';
import { createReleaser } from './release.ts';
import { summarizeVariants } from './variants.ts';

/** How a plan reads existing products: `lock` to apply the plan, `read` only to report it. */
type Mode = 'lock' | 'read';

export function createProductImporter(database: Database, outbox: Outbox) {
  const search = createSearchIndex(database);
  const release = createReleaser(database);
  const created = createCreationEventWriter(database);
  const definitions = createDefinitionStore(database, outbox);
  const products = createProductStore(database, outbox);
  const variants = createVariantStore(database, outbox, products);
  const existing = createExistingProductsReader(database, variants);
  const readUploads = createUploadReader(database);

  /** @param known has the categories of all products after their updates */
  async function update(
    session: Transaction,
    updates: readonly ImportUpdate[],
    { uploads, known, cause }: { uploads: Uploads; known: CategoriesByPath; cause: Cause },
  ): Promise<void> {
    const changes = updates.map(({ stored, after }) => ({
      before: stored,
      fields: after,
      isOwnPrice: true,
      images: addUploads(stored.value.images, after.images, uploads),
      writesVariants: true,
    }));
    const changed = await products.update(session, changes, cause, known);
    await Promise.all(updates.map((one, index) => changeVariants(session, one, changed[index], cause)));
  }

  async function changeVariants(
    session: Transaction,
    { inserts, changes }: ImportUpdate,
    changed: LockedProduct | undefined,
    cause: Cause,
  ): Promise<void> {
    let product = changed;
    if (product !== undefined && changes.length > 0) {
      await variants.update(session, product, changes, cause);
      if (inserts.length > 0) product = await products.lock(session, product.id);
    }
    if (product !== undefined && inserts.length > 0) await variants.insert(session, product, inserts, cause);
  }

  return {
    findIds: existing.findIds,

    /**
     * Reads the existing products, in the given mode, and decides what to change; writes nothing.
     * @param matched the products that earlier batches of the same file have matched
     */
    async plan(session: Session, records: readonly PreparedRecord[], mode: Mode, matched?: MatchedProducts) {
      if (mode === 'lock') await products.shareCategories(session);
      const wasMatched: Known['wasMatched'] = id => matched?.has(id) === true;
      const owned = await existing.read(session, records, mode);
      // After the locks, for which the transaction may have waited: definitions name the paths of categories.
      const defined = await definitions.seenBy(session);
      const requireFit: Known['requireFit'] = (after, before) => requireAttributes(defined, after, before);
      const images = records.flatMap(one => (one.hasUploads ? toPreparedFields(one).images : []));
      const uploads = await readUploads(session, images, mode);
      return planAgainst({ ...owned, requireFit, uploads, wasMatched }, records);
    },

    /**
     * Applies a plan, in the transaction that made it.
     * @param records those of the plan
     * @returns the ids of the products that were created
     * @throws StorageError `unique` if another client has since created a product with one of the skus
     */
    async apply(
      session: Transaction,
      { creates, updates, counts, refused, uploads }: ImportPlan,
      records: readonly PreparedRecord[],
      cause: Cause,
    ): Promise<readonly number[]> {
      if (creates.length === 0 && updates.length === 0) return [];
      const words = collectMisspeltWords(records);
      search.keep(session, words);
      // The words of records that created no product may be in no document.
      if (counts.updated + counts.unchanged + refused.length > 0) search.release(session, words);
      const now = cause.at;
      await products.shareCategories(session);
      const made = creates.map(create => toNewProduct(create, now, uploads));
      const named = [...made.map(({ fields }) => fields), ...updates.map(({ after }) => after)];
      const known = await products.findCategories(session, named, cause);
      await release(session, updates);
      const ids = await products.insertRows(session, made, known, cause);
      await created(session, ids, cause);
      const placed = made.map((one, index) => ({ ...one, id: ids[index] ?? 0 }));
      await variants.insertFirst(session, placed, cause);
      await search.addMany(
        session,
        'product',
        placed.map(({ id, text }) => ({ id, ...text })),
      );
      await update(session, updates, { uploads, known, cause });
      return ids;
    },
  };
}

/** What is written for a new product. */
function toNewProduct(create: ImportCreate, now: number, uploads: Uploads) {
  if ('prepared' in create) {
    const { row, words } = create.prepared;
    const text = { words, archived: row.status === 'archived' };
    return { row, fields: create.prepared, text, variants: [], images: [] };
  }
  const { fields, variants } = create;
  const kept = { ...createKeptProduct(now), images: addUploads([], fields.images, uploads) };
  const summary = variants.length === 0 ? {} : { variants: summarizeVariants(variants, fields.price) };
  const { row, members } = toWrittenProduct(fields, now, { ...kept, ...summary });
  return { row, fields, text: toSearchText(fields), variants, images: members.images };
}
