/**
 * The queries of variants. Each change locks the product first, then the variant. It also updates the product's summary
 * of its variants (products/writes/variant-summary.ts), if that has changed.
 */
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Reply } from '../../http/response/reply.ts';
import { createCachedRows } from '../../storage/changes/rows.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import { type Database, maxId, type Session, type Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import type { Condition } from '../../storage/list/request.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
import { searchCollection } from '../../storage/search/index.ts';
import { takeTurn } from '../../turns/index.ts';
import { mapInSlices } from '../../turns/slices.ts';
import { type Stock, toKeptStock, toStockFields } from '../products/members/stock.ts';
import type { LockedProduct } from '../products/row.ts';
import type { ProductStore } from '../products/store.ts';
import { createAllVariants } from './all.ts';
import {
  buildVariantChange,
  type StoredVariant,
  shownVariantRow,
  storedVariantOf,
  toKeptVariant,
  toVariantFields,
  toVariantRow,
  type VariantRow,
  variantJson,
  variantNames,
  variantOf,
  variants,
} from './row.ts';
import type { VariantFields } from './schema.ts';
import { buildVariantStatements, storedColumns } from './statements.ts';
import { createTakenVariants, type WrittenVariant } from './taken.ts';

export interface VariantChange {
  readonly before: StoredVariant;
  /** Omitted if only the stock changes. */
  readonly fields?: VariantFields;
  /** Including reserved pieces, which clients cannot set. */
  readonly stock?: Stock | null;
}

/** The variants of a new product; each must have a distinct combination of options. */
interface NewVariants {
  readonly id: number;
  readonly variants: readonly VariantFields[];
}

export type VariantStore = ReturnType<typeof createVariantStore>;

export function createVariantStore(
  database: Database,
  outbox: Outbox,
  products: Pick<ProductStore, 'updateVariantSummary'>,
) {
  const { build, dialect } = database;
  const versions = createCollectionVersions(database);
  const statements = buildVariantStatements(database);
  const { refuseTaken, makeRoom } = createTakenVariants(database, statements);
  const rows = createCachedRows<StoredVariant, Reply>(database, {
    collection: variants,
    rowOf: storedVariantOf,
    shownRow: shownVariantRow,
    textOf: variantJson,
    read: id => database.read.first(statements.versioned({ id })),
  });

  /** Invalidates cached searches, which find products by the codes of their variants. */
  function notifySearch(session: Transaction, before: Codes | undefined, after: Codes | undefined): void {
    if ((before?.sku ?? null) === (after?.sku ?? null) && (before?.gtin ?? null) === (after?.gtin ?? null))
      return;
    versions.advance(session, searchCollection);
  }

  /** @returns the rows with their ids @throws StorageError `unique` if a sku is taken */
  async function insertRows(
    session: Transaction,
    made: readonly VariantRow[],
    cause: Cause,
  ): Promise<StoredVariant[]> {
    if (made.length === 0) return [];
    const values = made.map(row => variantNames.map(name => row[name]));
    const ids = await session.insertMany(statements.insert, values);
    const stored = made.map((row, index) => ({ ...toStored(row), id: ids[index] ?? 0 }));
    const changes = stored.map(row => buildVariantChange('created', undefined, row));
    await outbox.recordAll(session, changes, cause);
    return stored;
  }

  /** Updates variants of one locked product, without its summary of them. @throws as `insert` */
  async function writeChanges(
    session: Transaction,
    changes: readonly VariantChange[],
    cause: Cause,
  ): Promise<StoredVariant[]> {
    const all = await mapInSlices(changes, change => toWrittenVariant(change, cause.at));
    await makeRoom(session, all);
    const stored: StoredVariant[] = [];
    for (const { before, old, fields, row } of all) {
      await takeTurn();
      notifySearch(session, old, fields);
      await session.run(statements.updateOne({ id: before.id, ...row }));
      stored.push({ ...toStored(row), id: before.id });
    }
    const recorded = stored.map((after, index) =>
      buildVariantChange('updated', changes[index]?.before, after),
    );
    await outbox.recordAll(session, recorded, cause);
    return stored;
  }

  return {
    /** Frequently read variants, each with its cached response. */
    rows,
    list: createLister<StoredVariant>(database, {
      table: 'product_variants',
      columns: ['document', 'updated_at'],
      collection: variants,
      rows,
      keptTotal: conditions => {
        const productId = findOnlyProduct(conditions);
        return productId === undefined ? undefined : statements.total({ productId });
      },
      countedColumns: ['available'],
    }),
    find: (session: Session, id: number) => session.first(statements.byId({ id })),
    /** Variants of any products; ids that do not exist are omitted. */
    async findMany(session: Session, ids: readonly number[]): Promise<StoredVariant[]> {
      if (ids.length === 0) return [];
      const query = build.selectFrom('product_variants').select(storedColumns).where('id', 'in', ids);
      return session.all(query.compile());
    },
    productOfSku: async (session: Session, sku: string) =>
      (await session.first(statements.bySku({ sku })))?.product_id,
    all: (session: Session, productId: number) => session.all(statements.allOf({ productId })),
    /** Locks variants of one product, itself locked, until the transaction ends; in order of id. */
    async lockMany(session: Session, productId: number, ids: readonly number[]): Promise<StoredVariant[]> {
      // PostgreSQL refuses values beyond the range of its integers; no variant has such an id.
      const possible = ids.filter(id => id >= 1 && id <= maxId);
      if (possible.length === 0) return [];
      const query = build.selectFrom('product_variants').select(storedColumns).where('id', 'in', possible);
      return session.all(
        query.where('product_id', '=', productId).orderBy('id').modifyEnd(dialect.forUpdate).compile(),
      );
    },

    /** @throws StorageError `unique` if a sku is taken, HttpError 409 if a combination of options is */
    async insert(session: Transaction, product: LockedProduct, all: readonly VariantFields[], cause: Cause) {
      const last = await session.first(statements.lastPosition({ productId: product.id }));
      // Of variants that name no place; of several, an import names all places.
      const position = Math.min((last?.position ?? 0) + 1, maxId);
      const kept = { productId: product.id, createdAt: cause.at, position, stock: toKeptStock(null) };
      const made = all.map(fields => toVariantRow(fields, cause.at, kept));
      for (const row of made) await refuseTaken(session, row);
      for (const fields of all) notifySearch(session, undefined, fields);
      const stored = await insertRows(session, made, cause);
      await products.updateVariantSummary(session, product, stored.length, cause);
      return stored;
    },

    /**
     * Inserts the variants of products that have none yet, but whose rows already have the summary of these variants.
     * @throws StorageError `unique` if a sku is taken
     */
    async insertFirst(session: Transaction, products: readonly NewVariants[], cause: Cause): Promise<void> {
      const kept = { createdAt: cause.at, stock: toKeptStock(null) };
      const made = products.flatMap(({ id: productId, variants }) =>
        variants.map((fields, index) =>
          toVariantRow(fields, cause.at, { ...kept, productId, position: index + 1 }),
        ),
      );
      await insertRows(session, made, cause);
    },

    writeChanges,

    /** Updates variants of one product, which may exchange skus and combinations. @throws as `insert` */
    async update(
      session: Transaction,
      product: LockedProduct,
      changes: readonly VariantChange[],
      cause: Cause,
    ): Promise<StoredVariant[]> {
      const stored = await writeChanges(session, changes, cause);
      await products.updateVariantSummary(session, product, 0, cause);
      return stored;
    },

    async remove(session: Transaction, product: LockedProduct, before: StoredVariant, cause: Cause) {
      await session.run(build.deleteFrom('product_variants').where('id', '=', before.id).compile());
      notifySearch(session, variantOf(before), undefined);
      await outbox.record(session, buildVariantChange('deleted', before, undefined), cause);
      await products.updateVariantSummary(session, product, -1, cause);
    },

    ...createAllVariants(database, outbox),
  };
}

function toWrittenVariant({ before, fields, stock }: VariantChange, now: number): WrittenVariant {
  const at = computeChangeMoment(now, before.updated_at);
  const old = variantOf(before);
  const kept = toKeptVariant(old);
  const written = fields ?? toVariantFields(old);
  const row =
    stock === undefined
      ? toVariantRow(written, at, kept)
      : toVariantRow({ ...written, stock: toStockFields(stock) }, at, { ...kept, stock: toKeptStock(stock) });
  return { before, old, fields: written, row };
}

const toStored = ({ document, updated_at }: VariantRow) => ({ document, updated_at });

type Codes = Pick<VariantFields, 'sku' | 'gtin'>;

/** The product id, if it is the only condition. */
function findOnlyProduct(conditions: readonly Condition[]): number | undefined {
  const [only, ...others] = conditions;
  if (only?.column !== 'product_id' || others.length > 0) return undefined;
  return typeof only.value === 'number' ? only.value : undefined;
}
