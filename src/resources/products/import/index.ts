/**
 * Bulk writing of products: many records in one transaction. Each record creates a product, or updates the existing one
 * that it matches, if it differs. Totals, the search index, tags and attributes are written once per transaction.
 */

import type { Cause, Outbox } from '../../../events/outbox.ts';
import { createBulkInsert } from '../../../storage/bulk.ts';
import type { Database, Session, Transaction } from '../../../storage/database.ts';
import { computeChangeMoment } from '../../../storage/moments.ts';
import { createSearchIndex } from '../../../storage/search/index.ts';
import { createTableRows } from '../../../storage/table-rows.ts';
import { createProductTotals } from '../../../storage/totals.ts';
import { requireAttributes } from '../../attributes/rules.ts';
import { createDefinitionStore } from '../../attributes/store.ts';
import { type Categorized, createProductCategories, toCategoryColumns } from '../../categories/assign.ts';
import { createCategoryImageRemover } from '../../categories/images.ts';
import { createVariantInserter, type NewVariants } from '../../variants/bulk.ts';
import { createVariantStore } from '../../variants/store.ts';
import { mergeImages } from '../members/images.ts';
import {
  addUploads,
  createUploadReader,
  createUploadUseWriter,
  type ImageChange,
  type Uploads,
} from '../members/uploads.ts';
import {
  buildProductChange,
  createKeptProduct,
  type LockedProduct,
  type ProductRow,
  toProductRow,
  type WrittenRow,
  writtenColumns,
  writtenNames,
} from '../row.ts';
import { toSearchText } from '../search-text.ts';
import { createProductStore } from '../store.ts';
import { createIndexedRowsWriter } from '../writes/indexed.ts';
import { createVariantSummarizer } from '../writes/variant-summary.ts';
import type { ImportUpdate } from './entry.ts';
import { createCreationEventWriter } from './events.ts';
import { createExistingProductsReader } from './existing.ts';
import type { MatchedProducts } from './matching.ts';
import { type ImportPlan, type Known, planAgainst } from './plan.ts';
import { type PreparedRecord, toPreparedFields } from './prepared.ts';
import { createReleaser } from './release.ts';
import { summarizeVariants } from './variants.ts';

/** How a plan reads existing products: `lock` to apply the plan, `read` only to report it. */
type Mode = 'lock' | 'read';

export function createProductImporter(database: Database, outbox: Outbox) {
  const totals = createProductTotals(database);
  const search = createSearchIndex(database);
  const categories = createProductCategories(database, outbox);
  const writeIndexedRows = createIndexedRowsWriter(database, categories);
  const summarize = createVariantSummarizer(database);
  const writeUses = createUploadUseWriter(database);
  const clearLostCategoryImages = createCategoryImageRemover(database, outbox);
  const insert = createBulkInsert(database, 'products', writtenColumns);
  const table = createTableRows<UpdatedRow>(database, 'products', writtenNames);
  const release = createReleaser(database);
  const created = createCreationEventWriter(database);
  const definitions = createDefinitionStore(database, outbox);
  const products = createProductStore(database, outbox);
  const variants = createVariantStore(database, outbox, products);
  const insertVariants = createVariantInserter(database, outbox);
  const existing = createExistingProductsReader(database, variants);
  const readUploads = createUploadReader(database);
  /** @param product its current state */
  async function changeVariants(
    session: Transaction,
    { inserts, changes }: ImportUpdate,
    product: LockedProduct,
    cause: Cause,
  ): Promise<void> {
    if (changes.length > 0) await variants.update(session, product, changes, cause);
    if (inserts.length === 0) return;
    const settled = changes.length > 0 ? await products.lock(session, product.id) : product;
    if (settled !== undefined) await variants.insert(session, settled, inserts, cause);
  }

  /** @returns the ids, in the order of the rows */
  function insertAll(session: Transaction, rows: readonly WrittenRow[]): Promise<number[]> {
    return session.insertMany(
      insert,
      rows.map(row => writtenNames.map(name => row[name])),
    );
  }

  return {
    /** The ids of the products with these skus. */
    findIds: existing.findIds,

    /**
     * Reads the existing products, in the given mode, and decides what to change; writes nothing.
     * @param matched the products that earlier batches of the same file have matched
     */
    async plan(session: Session, records: readonly PreparedRecord[], mode: Mode, matched?: MatchedProducts) {
      if (mode === 'lock') await categories.share(session);
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
     * @param words of the plan's records that a search may suggest for misspelt ones
     * @returns the ids of the products that were created
     * @throws StorageError `unique` if another client has since created a product with one of the skus
     */
    async apply(
      session: Transaction,
      { creates, updates, counts, refused, uploads }: ImportPlan,
      words: readonly string[],
      cause: Cause,
    ): Promise<readonly number[]> {
      if (creates.length === 0 && updates.length === 0) return [];
      search.keep(session, words);
      // The words of records that created no product may be in no document.
      if (counts.updated + counts.unchanged + refused.length > 0) search.release(session, words);
      const now = cause.at;
      await categories.share(session);
      const made = creates.map(create => ('prepared' in create ? create.prepared : create.fields));
      const known = await categories.find(session, [...made, ...updates.map(({ after }) => after)], cause);
      const rows = creates.map((create, index) => ({
        ...toNewRow(create, now, uploads),
        ...toCategoryColumns(made[index] ?? uncategorized, known),
      }));
      await release(session, updates);
      const ids = await insertAll(session, rows);
      for (const row of rows) totals.change(session, undefined, row);
      const changes = [
        ...ids.map((id, index) => ({ id, before: undefined, after: made[index] })),
        ...updates.map(({ stored: { id }, before, after }) => ({ id, before, after })),
      ];
      await writeIndexedRows(session, changes, known);
      await created(session, ids, cause);
      await insertVariants(session, collectVariants(creates, ids), cause);
      await writeUses(session, collectUses(creates, ids), now);
      const documents = creates.map((create, index) => {
        const id = ids[index] ?? 0;
        return 'prepared' in create
          ? { id, words: create.prepared.words, archived: create.prepared.row.status === 'archived' }
          : { id, ...toSearchText(create.fields) };
      });
      await search.addMany(session, 'product', documents);
      // All at once: PostgreSQL receives them together, instead of in one round trip each.
      await Promise.all(
        updates.map(async update => {
          const { stored, before, after, product } = update;
          const { id } = stored;
          const images = addUploads(product.images, after.images, uploads);
          const own = { ...product, images };
          const next = await summarize(session, stored, own, after, { ownPrice: after.price });
          await search.change(session, 'product', toSearchText(before), { id, ...toSearchText(after) });
          const row = toProductRow(next.fields, computeChangeMoment(now, stored.updated_at), next.kept);
          const written = { ...row, ...toCategoryColumns(after, known) };
          await table.update(session, id, written);
          totals.change(session, { ...stored, status: before.status }, written);
          const shown = mergeImages(images, after.images);
          await writeUses(session, [{ id, before: product.images, after: shown }], now);
          await clearLostCategoryImages(session, id, { before: product.images, after: shown }, cause);
          const change = buildProductChange('updated', stored, { id, document: row.document });
          await outbox.record(session, change, cause);
          await changeVariants(session, update, { ...stored, ...row }, cause);
        }),
      );
      return ids;
    },
  };
}

const uncategorized: Categorized = { category: null, categories: [] };

/** The row of a new product, including the summary of its variants. */
function toNewRow(create: ImportPlan['creates'][number], now: number, uploads: Uploads): ProductRow {
  if ('prepared' in create) return create.prepared.row;
  const { fields, variants } = create;
  const kept = { ...createKeptProduct(now), images: addUploads([], fields.images, uploads) };
  if (variants.length === 0) return toProductRow(fields, now, kept);
  return toProductRow(fields, now, { ...kept, variants: summarizeVariants(variants, fields.price) });
}

/** The images of new products, to record the use of uploads. */
const collectUses = (creates: ImportPlan['creates'], ids: readonly number[]): ImageChange[] =>
  creates.flatMap((create, index) =>
    'prepared' in create
      ? []
      : [
          {
            id: ids[index] ?? 0,
            before: [],
            after: create.fields.images.map(({ url }) => ({ url: url ?? '' })),
          },
        ],
  );

const collectVariants = (creates: ImportPlan['creates'], ids: readonly number[]): NewVariants[] =>
  creates.flatMap((create, index) =>
    'prepared' in create || create.variants.length === 0
      ? []
      : [{ productId: ids[index] ?? 0, variants: create.variants }],
  );

/** A mapped type, which prepared statements take, unlike an interface. */
type UpdatedRow = { readonly [Column in keyof WrittenRow]: WrittenRow[Column] } & { readonly id: number };
