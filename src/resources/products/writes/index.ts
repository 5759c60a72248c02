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
import { sendInSlices } from '../../../turns/slices.ts';
import {
  type CategoriesByPath,
  createProductCategories,
  toCategoryColumns,
} from '../../categories/assign.ts';
import { computeMoment, hasSamePlaces, normalizeCategories } from '../categories.ts';
import type { Image } from '../members/images.ts';
import {
  buildProductChange,
  type LockedProduct,
  type ProductRow,
  productOf,
  type StoredProduct,
  toWrittenProduct,
  type WrittenRow,
  writtenColumns,
  writtenNames,
} from '../row.ts';
import type { ProductFields } from '../schema.ts';
import { hasSameTexts, toSearchTextInSlices } from '../search-text.ts';
import { createImageFollower } from './images.ts';
import { createIndexedRowsWriter, type IndexedFields } from './indexed.ts';
import { createRowBuilder, type ProductChange, type Sent, type Written } from './rows.ts';
import { createSummaryRowBuilder, createSummaryUpdater, createVariantSummarizer } from './variant-summary.ts';

interface NewProduct {
  readonly row: ProductRow;
  readonly fields: IndexedFields;
  readonly images: readonly Image[];
}

/** @param totals as those that lists read */
export function createProductWrites(
  database: Database,
  outbox: Outbox,
  totals: ReturnType<typeof createProductTotals>,
) {
  const { build } = database;
  const categories = createProductCategories(database, outbox);
  const search = createSearchIndex(database);
  const writeIndexedRows = createIndexedRowsWriter(database, categories);
  const summarize = createVariantSummarizer(database);
  const rowAfter = createRowBuilder(summarize);
  const followImages = createImageFollower(database, outbox);
  const into = createBulkInsert(database, 'products', writtenColumns);
  const { created_at: _, ...updatedColumns } = writtenColumns;
  const writeChanged = createPartialUpdate(database, 'products', updatedColumns, changedTogether);

  /**
   * Inserts products with all that their rows imply, but neither their texts for searches nor their events.
   * @param known has all their categories
   * @returns the ids, in the order of the products
   * @throws StorageError `unique` if a sku or an external id is taken
   */
  async function insertRows(
    session: Transaction,
    products: readonly NewProduct[],
    known: CategoriesByPath,
    cause: Cause,
  ): Promise<number[]> {
    const rows = products.map(
      ({ row, fields }): WrittenRow => ({ ...row, ...toCategoryColumns(fields, known) }),
    );
    const values = rows.map(row => writtenNames.map(name => row[name]));
    const ids = await session.insertMany(into, values);
    for (const row of rows) totals.change(session, undefined, row);
    const changes = ids.map((id, index) => ({ id, before: undefined, after: products[index]?.fields }));
    await writeIndexedRows(session, changes, known);
    for (const [index, id] of ids.entries()) {
      const after = products[index]?.images ?? [];
      if (after.length > 0) await followImages(session, { id, before: [], after }, cause);
    }
    return ids;
  }

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
    const [id] = await insertRows(session, [{ row, fields, images: members.images }], known, cause);
    if (id === undefined) throw new Error('a new product was given no id');
    const { document, updated_at } = row;
    const stored = { id, document, updated_at, value: { id, ...members } };
    await search.add(session, 'product', { id, ...(await toSearchTextInSlices(fields)) });
    await outbox.record(session, buildProductChange('created', undefined, stored), cause);
    return stored;
  }

  /**
   * Writes new fields to locked products.
   * @param given all categories that the fields name, if the caller has found them already
   * @returns the products as stored
   */
  async function update(
    session: Transaction,
    changes: readonly ProductChange[],
    cause: Cause,
    given?: CategoriesByPath,
  ): Promise<LockedProduct[]> {
    const sent: Sent[] = [];
    for (const change of changes) {
      await takeTurn();
      const [old, fields] = [productOf(change.before), normalizeCategories(change.fields)];
      sent.push({ ...change, old, fields, isMoved: !hasSamePlaces(fields, old) });
    }
    const named = sent.flatMap(({ fields, isMoved }) => (isMoved ? [fields] : []));
    const known = given ?? (await categories.find(session, named, cause));
    // All at once: PostgreSQL receives them together, instead of in one round trip each.
    const all = await Promise.all(
      await sendInSlices(sent, change => rowAfter(session, change, known, cause.at)),
    );
    await writeChanged(
      session,
      all.map(({ before, columns, row }) => ({ id: before.id, before: columns, after: row })),
    );
    const stored = await Promise.all(await sendInSlices(all, one => writeDependents(session, one, cause)));
    await outbox.recordAll(
      session,
      stored.map((after, index) => buildProductChange('updated', all[index]?.before, after)),
      cause,
    );
    await writeIndexedRows(
      session,
      all.map(({ before: { id }, old, fields }) => ({ id, before: old, after: fields })),
      known,
    );
    return stored;
  }

  /** Writes everything that depends on a product's row, except its event. */
  async function writeDependents(
    session: Transaction,
    { before, old, fields, members, row, writesVariants }: Written,
    cause: Cause,
  ): Promise<LockedProduct> {
    const { id } = before;
    const withVariants = old.variantCount > 0 && writesVariants !== true;
    await followImages(session, { id, before: old.images, after: members.images, withVariants }, cause);
    totals.change(session, { ...before, status: old.status }, row);
    if (!hasSameTexts(old, fields)) {
      const [had, has] = [await toSearchTextInSlices(old), await toSearchTextInSlices(fields)];
      await search.change(session, 'product', had, { id, ...has });
    }
    const { document, updated_at, category_id, base_price } = row;
    return { ...before, document, updated_at, category_id, base_price, value: { id, ...members } };
  }

  async function remove(session: Transaction, before: LockedProduct, cause: Cause): Promise<void> {
    const old = productOf(before);
    const { id } = old;
    await followImages(session, { id, before: old.images, after: [] }, cause);
    await session.run(build.deleteFrom('products').where('id', '=', id).compile());
    await writeIndexedRows(session, [{ id, before: old, after: undefined }]);
    totals.change(session, { ...before, status: old.status }, undefined);
    await search.remove(session, 'product', { id, ...(await toSearchTextInSlices(old)) });
    await outbox.record(session, buildProductChange('deleted', before, undefined), cause);
  }

  return {
    shareCategories: categories.share,
    findCategories: categories.find,
    insertRows,
    insert,
    update,
    remove,
    updateVariantSummary: createSummaryUpdater(createSummaryRowBuilder(summarize), update),
  };
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
