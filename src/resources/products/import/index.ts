/**
 * Bulk writing of products: many records in one transaction, each one created, or matched by its sku with a
 * product that exists and updated where it differs. The bookkeeping of store.ts (kept totals) is
 * done once per transaction.
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Cause, Outbox } from '../../../events/outbox.ts';
import { bulkInsert } from '../../../storage/bulk.ts';
import type { Database, Session, Transaction } from '../../../storage/database.ts';
import { momentOfChange } from '../../../storage/moments.ts';
import { prepared } from '../../../storage/prepared.ts';
import { searchIndex } from '../../../storage/search/index.ts';
import { productTotals, type TotalChange } from '../../../storage/totals.ts';
import { type ProductRow, productJson, rowOf, type StoredProduct } from '../row.ts';
import { searchTextOf } from '../search-text.ts';
import { productTags, type TagChange } from '../tags.ts';
import { createdEvents } from './events.ts';
import { type Entry, entryOf, type ImportPlan, type ImportUpdate, planAgainst, planWithout } from './plan.ts';
import type { PreparedRecord } from './prepared.ts';

/**
 * How a plan sees the products that have the records' skus: `lock` so that it can be carried out, `read` only to
 * tell, `blind` as if there were none.
 */
export type Look = 'lock' | 'read' | 'blind';

export interface ProductImporter {
  /** Reads what is there, as `look` says, and decides what to do; writes nothing. */
  plan(session: Session, records: readonly PreparedRecord[], look: Look): Promise<ImportPlan>;
  /**
   * Carries a plan out, in the transaction that made it.
   * @param words those of the plan's records that a search may misspell
   * @throws StorageError `unique` when the plan was blind to one of the skus, or someone else has created it since
   */
  apply(session: Transaction, plan: ImportPlan, words: readonly string[], cause: Cause): Promise<void>;
}

/** Rows per INSERT, largest first: at 8 parameters a row far below what either database allows. */
const insertSizes = [500, 50, 1] as const;
/** Skus per look-up; a shorter list is filled up, so that there is one statement to prepare. */
const lookUpSize = 500;

export function productImporter(database: Database, outbox: Outbox): ProductImporter {
  const { build, dialect } = database;
  const totals = productTotals(database);
  const search = searchIndex(database);
  const writeTags = productTags(database);
  const insert = bulkInsert(build, 'products', insertSizes, columnNames);
  const update = updateOf(database);
  const created = createdEvents(database);
  const anyProduct = sql<{ id: number }>`select id from products limit 1`.compile(build);
  const bySku = lookUp(sql``);
  const bySkuForUpdate = lookUp(dialect.forUpdate);

  function lookUp(ending: RawBuilder<unknown>): CompiledQuery<StoredProduct & { sku: string }> {
    const placeholders = sql.join(Array.from({ length: lookUpSize }, () => null));
    return sql<StoredProduct & { sku: string }>`select id, document, updated_at, sku from products
      where sku in (${placeholders}) order by id ${ending}`.compile(build);
  }

  async function existing(session: Session, skus: readonly string[], lock: boolean) {
    const entries = new Map<string, Entry>();
    const [first] = skus;
    const query = lock ? bySkuForUpdate : bySku;
    if (first === undefined || (await session.first(anyProduct)) === undefined) return entries;
    for (let start = 0; start < skus.length; start += lookUpSize) {
      const parameters = skus.slice(start, start + lookUpSize);
      while (parameters.length < lookUpSize) parameters.push(first);
      const rows = await session.all<StoredProduct & { sku: string }>({ ...query, parameters });
      for (const row of rows) entries.set(row.sku, entryOf(row));
    }
    return entries;
  }

  return {
    async plan(session, records, look) {
      if (look === 'blind') return planWithout(records);
      const skus = new Set<string>();
      for (const { row } of records) if (row.sku !== null) skus.add(row.sku);
      // Sorted: two imports lock the same products in the same order.
      return planAgainst(await existing(session, [...skus].sort(), look === 'lock'), records);
    },

    async apply(session, { creates, updates, counts }, words, cause) {
      if (creates.length === 0 && updates.length === 0) return;
      search.keep(session, words);
      // Of records that no product is made of, words may be in no document.
      if (counts.updated + counts.unchanged > 0) search.release(session, words);
      const now = cause.at;
      const rows = creates.map(create =>
        'prepared' in create ? create.prepared.row : rowOf(create.fields, now),
      );
      const totalled = rows.map(({ status, category }) => ({ status, category, change: 1 }));
      const values = rows.map(row => columnNames.map(name => row[name]));
      const ids = await session.insertMany(insert, values);
      await created(session, ids, cause);
      const documents = creates.map((create, index) => {
        const id = ids[index] ?? 0;
        return 'prepared' in create
          ? { id, words: create.prepared.words }
          : { id, ...searchTextOf(create.fields) };
      });
      const tags: TagChange[] = updates.map(({ stored, before, after }) => ({
        id: stored.id,
        before: before.tags,
        after: after.tags,
      }));
      for (const [index, create] of creates.entries()) {
        const after = 'prepared' in create ? create.prepared.tags : create.fields.tags;
        tags.push({ id: ids[index] ?? 0, before: [], after });
      }
      writeTags(session, tags);
      await search.addMany(session, 'product', documents);
      // All at once: PostgreSQL gets them in one go instead of one round trip each.
      await Promise.all(
        updates.map(async ({ stored, before, after, createdAt, rating }) => {
          const { id } = stored;
          await search.change(session, 'product', searchTextOf(before), { id, ...searchTextOf(after) });
          const row = rowOf(after, momentOfChange(now, stored.updated_at), createdAt, rating);
          await session.run(update({ id, ...row }));
          const documents = {
            before: productJson(stored),
            after: productJson({ id, document: row.document }),
          };
          const change = { resource: 'product', resourceId: id, action: 'updated', ...documents };
          await outbox.record(session, change, cause);
        }),
      );
      for (const change of [...totalled, ...changesOf(updates)]) totals.change(session, change);
    },
  };
}

const changesOf = (updates: readonly ImportUpdate[]): TotalChange[] =>
  updates.flatMap(({ before, after }) => [
    { status: before.status, category: before.category, change: -1 },
    { status: after.status, category: after.category, change: 1 },
  ]);

/** Every column of a row but its id; a record, so that a new column cannot be forgotten here. */
const columns: { readonly [Column in keyof ProductRow]: true } = {
  name: true,
  price: true,
  status: true,
  category: true,
  sku: true,
  created_at: true,
  updated_at: true,
  document: true,
};
// Boundary: Object.keys types its result as string[]; the record above has these keys and no others.
const columnNames = Object.keys(columns) as (keyof ProductRow)[];

function updateOf({ build }: Database) {
  type Values = { [Column in keyof ProductRow]: ProductRow[Column] } & { id: number };
  return prepared<Values, unknown>(argument => ({
    compile: () =>
      sql`update products set ${sql.join(
        columnNames.map(name => sql`${sql.ref(name)} = ${argument[name]}`),
      )} where id = ${argument.id}`.compile(build),
  }));
}
