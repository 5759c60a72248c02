/** The queries of products: how they are found, listed and locked. What writes them is in writes/. */
import { sql } from 'kysely';
import type { Outbox } from '../../events/outbox.ts';
import type { Reply } from '../../http/response/reply.ts';
import {
  buildReadColumns,
  buildShownProduct,
  productsWithPaths,
  type ReadProduct,
  toShownRow,
} from '../../storage/categories/shown.ts';
import { type CachedRows, createCachedRows } from '../../storage/changes/rows.ts';
import { buildVersion } from '../../storage/changes/versions.ts';
import type { Columns } from '../../storage/columns/index.ts';
import {
  type Database,
  type Lookup,
  largestId,
  type Session,
  type Transaction,
} from '../../storage/database.ts';
import { createLister, type Lister } from '../../storage/list/index.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createReaderById, lockInParts, prepareByKeys } from '../../storage/together.ts';
import { createProductTotals } from '../../storage/totals.ts';
import { createProductCategories } from '../categories/assign.ts';
import {
  buildLockedColumns,
  buildStoredColumns,
  type LockedProduct,
  productJson,
  productOf,
  products,
  type StoredProduct,
  shownProductRow,
  storedOf,
} from './row.ts';
import { createProductWrites, type ProductWrites } from './writes/index.ts';

export interface ProductStore extends ProductWrites {
  find(session: Session, id: number): Promise<StoredProduct | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Transaction, id: number): Promise<LockedProduct | undefined>;
  /** In order of id, as every transaction locks them; ids that do not exist are left out. */
  lockMany(session: Session, ids: readonly number[]): Promise<LockedProduct[]>;
  readonly list: Lister<StoredProduct>;
  /** Those that are read again and again, each with the response that shows it. */
  readonly rows: CachedRows<StoredProduct, Reply>;
}

/** How lists of products are read. */
const listed = {
  table: 'products',
  isCategorized: true,
  rangeColumn: 'price',
  inOrder: {
    orders: ['id', 'price', 'created_at'],
    filters: ['category', 'status', 'brand', 'available'],
  },
  countedColumns: ['brand', 'name', 'available'],
} as const;

/** @param columns in memory, where lists are filtered by attributes */
export function createProductStore(database: Database, outbox: Outbox, columns?: Columns): ProductStore {
  const { build, dialect } = database;
  const totals = createProductTotals(database);
  const categories = createProductCategories(database, outbox);
  const shown = buildStoredColumns(dialect);
  const locked = buildLockedColumns(dialect);

  const byId = prepareQuery<{ id: number }, StoredProduct>(
    build,
    ({ id }) => sql`select ${shown} from products where id = ${id}`,
  );
  const forUpdate: Lookup<number, LockedProduct> = {
    statement: prepareByKeys(size =>
      sql<LockedProduct>`select ${locked} from products where id in (${sql.join(new Array(size).fill(null))})
        order by id ${dialect.forUpdate}`.compile(build),
    ),
    keyOf: ({ id }) => id,
  };
  // PostgreSQL refuses to compare with what its integers cannot hold; no product has such an id.
  const keepPossible = (ids: readonly number[]) => ids.filter(id => id >= 1 && id <= largestId);
  const buildLockQuery = (ids: readonly number[]) =>
    sql<LockedProduct>`select ${locked} from products where id in (${sql.join(ids)})
      order by id ${dialect.forUpdate}`.compile(build);

  const version = buildVersion(dialect, products.name);
  const buildRowsQuery = prepareByKeys(size =>
    sql<
      ReadProduct & { version: number }
    >`select products.id, ${buildReadColumns(dialect)}, ${version} as version
      from ${productsWithPaths}
      where products.id in (${sql.join(new Array(size).fill(null))})`.compile(build),
  );
  const readOne = createReaderById(database, buildRowsQuery);

  const rows = createCachedRows<StoredProduct, Reply>(database, {
    collection: products,
    rowOf: storedOf,
    shownRow: shownProductRow,
    textOf: productJson,
    read: async id => {
      const row = await readOne(id);
      return row && toShownRow(row);
    },
  });

  return {
    find: (session, id) => session.first(byId({ id })),
    async lock(session, id) {
      // Both at once: PostgreSQL gets them in one go, in this order.
      const [, row] = await Promise.all([categories.share(session), session.pick(forUpdate, id)]);
      return row && { ...row, value: productOf(row) };
    },
    async lockMany(session, ids) {
      if (keepPossible(ids).length === 0) return [];
      await categories.share(session);
      return lockInParts(session, keepPossible(ids), buildLockQuery);
    },
    rows,
    list: createLister<StoredProduct>(database, {
      ...listed,
      columns: { ...buildShownProduct(dialect) },
      rowsById: async (session, ids) => (await session.all(buildRowsQuery(ids))).map(toShownRow),
      collection: products,
      rows,
      keptTotal: totals.total,
      ...(columns === undefined ? {} : { inMemory: columns }),
    }),

    ...createProductWrites(database, outbox, { totals, categories }),
  };
}
