/** The queries that find, list and lock products. The writes are in writes/. */
import { sql } from 'kysely';
import type { Outbox } from '../../events/outbox.ts';
import type { Reply } from '../../http/response/reply.ts';
import { createRowReader, prepareByKeys } from '../../storage/batched-lookups.ts';
import {
  buildReadColumns,
  buildShownProduct,
  productsWithPaths,
  type ReadProduct,
  toShownRow,
} from '../../storage/categories/shown.ts';
import { createCachedRows } from '../../storage/changes/rows.ts';
import { buildVersion } from '../../storage/changes/versions.ts';
import type { Columns } from '../../storage/columns/index.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createProductTotals } from '../../storage/totals.ts';
import { createProductLocks } from './locks.ts';
import {
  buildStoredColumns,
  type LockedProduct,
  productJson,
  productOf,
  products,
  type StoredProduct,
  shownProductRow,
  storedOf,
} from './row.ts';
import { createProductWrites } from './writes/index.ts';

export type ProductStore = ReturnType<typeof createProductStore>;

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

/** @param columns in memory, for lists filtered by attributes */
export function createProductStore(database: Database, outbox: Outbox, columns?: Columns) {
  const { build, dialect } = database;
  const totals = createProductTotals(database);
  const shown = buildStoredColumns(dialect);
  const locks = createProductLocks(database);

  const byId = prepareQuery<{ id: number }, StoredProduct>(
    build,
    ({ id }) => sql`select ${shown} from products where id = ${id}`,
  );
  const version = buildVersion(dialect, products.name);
  const buildRowsQuery = prepareByKeys(size =>
    sql<
      ReadProduct & { version: number }
    >`select products.id, ${buildReadColumns(dialect)}, ${version} as version
      from ${productsWithPaths}
      where products.id in (${sql.join(new Array(size).fill(null))})`.compile(build),
  );
  const readOne = createRowReader(database, { statement: buildRowsQuery, keyOf: ({ id }) => id });

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
    find: (session: Session, id: number) => session.first(byId({ id })),
    /** Finds a product and locks it until the transaction ends. */
    async lock(session: Transaction, id: number): Promise<LockedProduct | undefined> {
      const row = await locks.lock(session, id);
      return row && { ...row, value: productOf(row) };
    },
    lockMany: locks.lockMany,
    /** Frequently read products, each with its cached response. */
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

    ...createProductWrites(database, outbox, totals),
  };
}
