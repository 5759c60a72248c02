/** The queries of products. */
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Reply } from '../../http/response/reply.ts';
import { type CachedRows, cachedRows } from '../../storage/changes/rows.ts';
import { type Database, largestId, type Session, type Transaction } from '../../storage/database.ts';
import { type Lister, lister } from '../../storage/list/index.ts';
import { momentOfChange } from '../../storage/moments.ts';
import { prepared } from '../../storage/prepared.ts';
import { searchIndex } from '../../storage/search/index.ts';
import { productTotals } from '../../storage/totals.ts';
import {
  type ProductRow,
  productJson,
  productOf,
  products,
  rowOf,
  type StoredProduct,
  storedOf,
} from './row.ts';
import type { ProductFields } from './schema.ts';
import { searchTextOf } from './search-text.ts';
import { productTags, type TagChange } from './tags.ts';

export interface ProductStore {
  find(session: Session, id: number): Promise<StoredProduct | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Session, id: number): Promise<StoredProduct | undefined>;
  /** In order of id; ids that do not exist are left out. One statement: all as they are at one moment. */
  findMany(session: Session, ids: readonly number[]): Promise<StoredProduct[]>;
  lockMany(session: Session, ids: readonly number[]): Promise<StoredProduct[]>;
  readonly list: Lister<StoredProduct>;
  /** Those that are read again and again, each with the response that shows it. */
  readonly rows: CachedRows<StoredProduct, Reply>;
  /** @throws StorageError `unique` when the sku is taken */
  insert(session: Transaction, fields: ProductFields, cause: Cause): Promise<StoredProduct>;
  /** Writes new fields over products that are locked; gives them as they are then stored. */
  update(session: Transaction, changes: readonly ProductChange[], cause: Cause): Promise<StoredProduct[]>;
  remove(session: Transaction, before: StoredProduct, cause: Cause): Promise<void>;
}

export interface ProductChange {
  readonly before: StoredProduct;
  readonly fields: ProductFields;
}

export function productStore(database: Database, outbox: Outbox): ProductStore {
  const { build, dialect } = database;
  const totals = productTotals(database);
  const search = searchIndex(database);
  const writeTags = productTags(database);
  const columns = ['id', 'document', 'updated_at'] as const;

  const byId = prepared<{ id: number }, StoredProduct>(argument =>
    build.selectFrom('products').select(columns).where('id', '=', argument.id),
  );
  const byIdForUpdate = prepared<{ id: number }, StoredProduct>(argument =>
    build.selectFrom('products').select(columns).where('id', '=', argument.id).modifyEnd(dialect.forUpdate),
  );
  type Values = { [Column in keyof ProductRow]: ProductRow[Column] };
  const insertOne = prepared<Values, unknown>(argument =>
    build.insertInto('products').values({
      name: argument.name,
      price: argument.price,
      status: argument.status,
      category: argument.category,
      sku: argument.sku,
      created_at: argument.created_at,
      updated_at: argument.updated_at,
      document: argument.document,
    }),
  );

  const updateOne = prepared<Values & { id: number }, unknown>(argument =>
    build
      .updateTable('products')
      .set({
        name: argument.name,
        price: argument.price,
        status: argument.status,
        category: argument.category,
        sku: argument.sku,
        created_at: argument.created_at,
        updated_at: argument.updated_at,
        document: argument.document,
      })
      .where('id', '=', argument.id),
  );

  function many(ids: readonly number[]) {
    // PostgreSQL refuses to compare with what its integers cannot hold; no product has such an id.
    const possible = ids.filter(id => id >= 1 && id <= largestId);
    if (possible.length === 0) return undefined;
    return build.selectFrom('products').select(columns).where('id', 'in', possible).orderBy('id');
  }

  const record = (
    session: Transaction,
    action: string,
    before: StoredProduct | undefined,
    after: StoredProduct | undefined,
    cause: Cause,
  ) =>
    outbox.record(
      session,
      {
        resource: 'product',
        resourceId: (after ?? before)?.id ?? 0,
        action,
        before: before === undefined ? null : productJson(before),
        after: after === undefined ? null : productJson(after),
      },
      cause,
    );

  const rows = cachedRows<StoredProduct, Reply>(database, {
    collection: products,
    rowOf: storedOf,
    textOf: productJson,
    read: id => database.read.first(byId({ id })),
  });

  return {
    find: (session, id) => session.first(byId({ id })),
    lock: (session, id) => session.first(byIdForUpdate({ id })),
    async findMany(session, ids) {
      const query = many(ids);
      return query === undefined ? [] : session.all(query.compile());
    },
    // In order of id, so that two bulk updates never deadlock.
    async lockMany(session, ids) {
      const query = many(ids);
      return query === undefined ? [] : session.all(query.modifyEnd(dialect.forUpdate).compile());
    },
    rows,
    list: lister<StoredProduct>(database, {
      table: 'products',
      columns: ['document', 'updated_at'],
      collection: products,
      rows,
      keptTotal: totals.total,
      rangeColumn: 'price',
    }),

    async insert(session, fields, cause) {
      const row = rowOf(fields, cause.at);
      const id = await session.insert(insertOne(row));
      totals.change(session, { status: row.status, category: row.category, change: 1 });
      const stored = { id, document: row.document, updated_at: cause.at };
      writeTags(session, [{ id, before: [], after: fields.tags }]);
      await search.add(session, 'product', { id, ...searchTextOf(fields) });
      await record(session, 'created', undefined, stored, cause);
      return stored;
    },

    async update(session, changes, cause) {
      const stored: StoredProduct[] = [];
      const tags: TagChange[] = [];
      for (const { before, fields } of changes) {
        const old = productOf(before);
        const at = momentOfChange(cause.at, before.updated_at);
        const row = rowOf(fields, at, Date.parse(old.createdAt), old.rating);
        await session.run(updateOne({ id: before.id, ...row }));
        tags.push({ id: before.id, before: old.tags, after: fields.tags });
        totals.change(session, { status: old.status, category: old.category, change: -1 });
        totals.change(session, { status: row.status, category: row.category, change: 1 });
        const after = { id: before.id, document: row.document, updated_at: at };
        await search.change(session, 'product', searchTextOf(old), {
          id: before.id,
          ...searchTextOf(fields),
        });
        await record(session, 'updated', before, after, cause);
        stored.push(after);
      }
      writeTags(session, tags);
      return stored;
    },

    async remove(session, before, cause) {
      const old = productOf(before);
      const { status, category, tags } = old;
      await session.run(build.deleteFrom('products').where('id', '=', before.id).compile());
      writeTags(session, [{ id: before.id, before: tags, after: [] }]);
      totals.change(session, { status, category, change: -1 });
      await search.remove(session, 'product', { id: before.id, ...searchTextOf(old) });
      await record(session, 'deleted', before, undefined, cause);
    },
  };
}
