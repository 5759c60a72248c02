/**
 * Writes products, with all that changes in the same transaction: tags, attributes, categories and images, the totals,
 * the search index, and the event.
 */
import type { Cause, Outbox } from '../../../events/outbox.ts';
import { createBulkInsert, createPartialUpdate } from '../../../storage/bulk.ts';
import type { Database, Transaction } from '../../../storage/database.ts';
import { createSearchIndex } from '../../../storage/search/index.ts';
import type { createProductTotals } from '../../../storage/totals.ts';
import { takeTurn } from '../../../turns/index.ts';
import { type createProductCategories, toCategoryColumns } from '../../categories/assign.ts';
import { createCategoryImageRemover } from '../../categories/images.ts';
import { computeMoment, hasSamePlaces, normalizeCategories } from '../categories.ts';
import { createUploadUseWriter } from '../members/uploads.ts';
import {
  buildProductChange,
  type LockedProduct,
  productJson,
  productOf,
  type StoredProduct,
  toProductFields,
  toProductRow,
  toWrittenProduct,
  type WrittenRow,
  writtenColumns,
  writtenNames,
} from '../row.ts';
import type { ProductFields } from '../schema.ts';
import { hasSameTexts, toSearchText } from '../search-text.ts';
import { createIndexedRowsWriter } from './indexed.ts';
import { createRowBuilder, type ProductChange, type Sent, type Written } from './rows.ts';
import { createVariantImageRemover } from './variant-images.ts';
import { createVariantSummarizer } from './variant-summary.ts';

/** The parts shared with reads. */
interface Shared {
  readonly totals: ReturnType<typeof createProductTotals>;
  readonly categories: ReturnType<typeof createProductCategories>;
}

export function createProductWrites(database: Database, outbox: Outbox, { totals, categories }: Shared) {
  const { build } = database;
  const search = createSearchIndex(database);
  const writeIndexedRows = createIndexedRowsWriter(database, categories);
  const summarize = createVariantSummarizer(database);
  const rowAfter = createRowBuilder(summarize);
  const clearLostVariantImages = createVariantImageRemover(database, outbox);
  const clearLostCategoryImages = createCategoryImageRemover(database, outbox);
  const writeUses = createUploadUseWriter(database);
  const insertRow = createBulkInsert(database, 'products', writtenColumns, { sizes: [1] });
  const { created_at: _, ...updatedColumns } = writtenColumns;
  const writeChanged = createPartialUpdate(database, 'products', updatedColumns, changedTogether);

  /**
   * @param check called when no category can be renamed any more, before anything is written
   * @throws StorageError `unique` if the sku or the external id is taken
   */
  async function insert(
    session: Transaction,
    sent: ProductFields,
    cause: Cause,
    check?: () => Promise<void>,
  ): Promise<StoredProduct> {
    const fields = normalizeCategories(sent);
    // Both at once: PostgreSQL receives them together, in this order.
    await Promise.all([categories.share(session), check?.()]);
    const known = await categories.find(session, [fields], cause);
    const { members, row } = toWrittenProduct(fields, computeMoment(cause.at, known));
    const columns = toCategoryColumns(fields, known);
    const written = { ...row, ...columns };
    const [id] = await session.insertMany(insertRow, [writtenNames.map(name => written[name])]);
    if (id === undefined) throw new Error('a new product was given no id');
    totals.change(session, undefined, written);
    const { document, updated_at } = row;
    const stored = { id, document, updated_at, value: { id, ...members } };
    await writeIndexedRows(session, [{ id, before: undefined, after: fields }], known);
    await search.add(session, 'product', { id, ...toSearchText(fields) });
    await outbox.record(session, buildProductChange('created', undefined, stored), cause);
    return stored;
  }

  /** Writes new fields to locked products; returns them as stored. */
  async function update(
    session: Transaction,
    changes: readonly ProductChange[],
    cause: Cause,
  ): Promise<StoredProduct[]> {
    const sent: Sent[] = [];
    for (const change of changes) {
      await takeTurn();
      const [old, fields] = [productOf(change.before), normalizeCategories(change.fields)];
      sent.push({ ...change, old, fields, isMoved: !hasSamePlaces(fields, old) });
    }
    const named = sent.flatMap(({ fields, isMoved }) => (isMoved ? [fields] : []));
    const known = await categories.find(session, named, cause);
    const all: Written[] = [];
    for (const change of sent) {
      await takeTurn();
      all.push({ ...change, ...(await rowAfter(session, change, known, cause.at)) });
    }
    await writeChanged(
      session,
      all.map(({ before, columns, row }) => ({ id: before.id, before: columns, after: row })),
    );
    const stored: StoredProduct[] = [];
    for (const one of all) {
      await takeTurn();
      stored.push(await writeDependents(session, one, cause));
    }
    await writeIndexedRows(
      session,
      all.map(({ before: { id }, old, fields }) => ({ id, before: old, after: fields })),
      known,
    );
    return stored;
  }

  /** Writes everything that depends on a product's row. */
  async function writeDependents(
    session: Transaction,
    { before, old, fields, members, row }: Written,
    cause: Cause,
  ): Promise<StoredProduct> {
    const { id } = before;
    const uses = { before: old.images, after: members.images };
    await writeUses(session, [{ id, ...uses }], row.updated_at);
    if (old.variantCount > 0) await clearLostVariantImages(session, id, uses, cause);
    await clearLostCategoryImages(session, id, uses, cause);
    totals.change(session, { ...before, status: old.status }, row);
    const after = { id, document: row.document, updated_at: row.updated_at, value: { id, ...members } };
    if (!hasSameTexts(old, fields))
      await search.change(session, 'product', toSearchText(old), { id, ...toSearchText(fields) });
    await outbox.record(session, buildProductChange('updated', before, after), cause);
    return after;
  }

  async function remove(session: Transaction, before: LockedProduct, cause: Cause): Promise<void> {
    const old = productOf(before);
    const { id } = old;
    const uses = { before: old.images, after: [] };
    await writeUses(session, [{ id, ...uses }], cause.at);
    await clearLostCategoryImages(session, id, uses, cause);
    await session.run(build.deleteFrom('products').where('id', '=', id).compile());
    await writeIndexedRows(session, [{ id, before: old, after: undefined }]);
    totals.change(session, { ...before, status: old.status }, undefined);
    await search.remove(session, 'product', { id, ...toSearchText(old) });
    await outbox.record(session, buildProductChange('deleted', before, undefined), cause);
  }

  /**
   * Writes the summary of a locked product's variants, if it has changed.
   * @param added the change in the number of variants
   */
  async function updateVariantSummary(
    session: Transaction,
    before: LockedProduct,
    added: number,
    cause: Cause,
  ): Promise<void> {
    const old = productOf(before);
    const variantCount = old.variantCount + added;
    const fields = toProductFields(old, before.base_price);
    const next = await summarize(session, before, old, fields, { count: variantCount });
    const { document } = toProductRow(next.fields, Date.parse(old.updatedAt), next.kept);
    if (productJson({ id: before.id, document }) !== productJson(before))
      await update(session, [{ before, fields, variantCount }], cause);
  }

  return { insert, update, remove, updateVariantSummary };
}

/** Groups of columns that change together. */
const changedTogether: readonly (readonly (keyof WrittenRow)[])[] = [
  ['name'],
  ['price', 'base_price'],
  ['status', 'available'],
  ['category_id', 'further_categories'],
  ['sku', 'brand', 'gtin', 'external_id'],
  ['variant_count'],
];
