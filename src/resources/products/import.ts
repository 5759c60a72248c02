/**
 * Bulk writing of products: many records in one transaction, each one created, or matched by its sku with a
 * product that exists and updated where it differs. The bookkeeping of store.ts (version of the collection,
 * kept totals) is done once per transaction.
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { ErrorDetail } from '../../http/errors.ts';
import { detailsOf } from '../../http/schema.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepared } from '../../storage/prepared.ts';
import { searchIndex } from '../../storage/search-index.ts';
import { collectionVersions, productTotals, type TotalChange } from '../../storage/totals.ts';
import { createdEvents } from './import-events.ts';
import { type ImportRecord, plainRecord } from './import-plain.ts';
import { createProduct, type ProductFields, type Rating } from './schema.ts';
import { searchTextOf } from './search-text.ts';
import { type ProductRow, productJson, productOf, rowOf, type StoredProduct } from './store.ts';

export type { ImportRecord } from './import-plain.ts';

export interface ImportCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

/** What a batch will change. */
export interface ImportPlan {
  readonly creates: readonly ProductFields[];
  readonly updates: readonly ImportUpdate[];
  readonly counts: ImportCounts;
}

interface ImportUpdate {
  readonly stored: StoredProduct;
  readonly createdAt: number;
  readonly rating: Rating;
  readonly before: ProductFields;
  readonly after: ProductFields;
}

export interface ProductImporter {
  /** Reads what is there and decides what to do; writes nothing. Without `lock` the plan cannot be carried out. */
  plan(session: Session, records: readonly ImportRecord[], lock?: 'lock'): Promise<ImportPlan>;
  /**
   * Carries a plan out, in the transaction that made it.
   * @throws StorageError `unique` when someone else has created one of the skus since (PostgreSQL only)
   */
  apply(session: Transaction, plan: ImportPlan, cause: Cause): Promise<void>;
}

/** Checks one mapped record with the create schema: its fields, or what is wrong with it. */
export function checkRecord(input: Readonly<Record<string, unknown>>): ImportRecord | readonly ErrorDetail[] {
  if (plainRecord(input)) return input;
  const result = createProduct.safeParse(input);
  return result.success ? result.data : detailsOf(result.error);
}

/** A plan for records that meet no product at all: what a batch does to an empty catalog. */
export function planWithout(records: readonly ImportRecord[], defaultCurrency: string): ImportPlan {
  return planAgainst(new Map(), records, defaultCurrency);
}

const collection = 'products';

/** Rows per INSERT, largest first: at 8 parameters a row far below what either database allows. */
const insertSizes = [500, 50, 1] as const;
/** Skus per look-up; a shorter list is filled up, so that there is one statement to prepare. */
const lookUpSize = 500;

/** @param defaultCurrency of products that are created and name none */
export function productImporter(
  database: Database,
  outbox: Outbox,
  defaultCurrency: string,
): ProductImporter {
  const { build, dialect } = database;
  const versions = collectionVersions(database);
  const totals = productTotals(database);
  const search = searchIndex(database);
  const inserts = insertSizes.map(size => ({ size, query: insertOf(database, size) }));
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
    async plan(session, records, lock) {
      const skus = new Set<string>();
      for (const { sku } of records) if (sku != null) skus.add(sku);
      // Sorted: two imports lock the same products in the same order.
      return planAgainst(
        await existing(session, [...skus].sort(), lock === 'lock'),
        records,
        defaultCurrency,
      );
    },

    async apply(session, { creates, updates }, cause) {
      if (creates.length === 0 && updates.length === 0) return;
      versions.advance(session, collection);
      const now = cause.at;
      const rows = creates.map(fields => rowOf(fields, now));
      const ids: number[] = [];
      for (const { size, query } of inserts) {
        const end = rows.length - (rows.length % size);
        for (let start = 0; start < end; start += size) {
          ids.push(...(await session.insertMany(query(rows.slice(start, start + size)), size)));
        }
        rows.splice(0, end);
      }
      await created(session, ids, cause);
      const documents = creates.map((fields, index) => ({ id: ids[index] ?? 0, ...searchTextOf(fields) }));
      await search.addMany(session, 'product', documents);
      // All at once: PostgreSQL gets them in one go instead of one round trip each.
      await Promise.all(
        updates.map(async ({ stored, before, after, createdAt, rating }) => {
          const { id } = stored;
          await search.change(session, 'product', searchTextOf(before), { id, ...searchTextOf(after) });
          const row = rowOf(after, now, createdAt, rating);
          await session.run(update({ id, ...row }));
          const documents = {
            before: productJson(stored),
            after: productJson({ id, document: row.document }),
          };
          const change = { resource: 'product', resourceId: id, action: 'updated', ...documents };
          await outbox.record(session, change, cause);
        }),
      );
      for (const change of changesOf(creates, updates)) totals.change(session, change);
    },
  };
}

/** A product while a batch is planned: as it will be once the records so far are in. */
interface Entry {
  readonly stored: Pick<ImportUpdate, 'stored' | 'createdAt' | 'rating'> | undefined;
  readonly before: ProductFields;
  fields: ProductFields;
  changed: boolean;
}

function entryOf(row: StoredProduct): Entry {
  const { id: _id, createdAt, updatedAt: _updatedAt, rating, ...fields } = productOf(row);
  const stored = { stored: row, createdAt: Date.parse(createdAt), rating };
  return { stored, before: fields, fields, changed: false };
}

/** Takes the records one after another, so that of two with one sku the later has the last word. */
function planAgainst(
  bySku: Map<string, Entry>,
  records: readonly ImportRecord[],
  defaultCurrency: string,
): ImportPlan {
  const created: Entry[] = [];
  const updated = new Set<Entry>();
  let [changes, unchanged] = [0, 0];
  for (const record of records) {
    const entry = record.sku == null ? undefined : bySku.get(record.sku);
    if (entry === undefined) {
      const fields = newFields(record, defaultCurrency);
      const fresh: Entry = { stored: undefined, before: fields, fields, changed: false };
      created.push(fresh);
      if (record.sku != null) bySku.set(record.sku, fresh);
      continue;
    }
    const fields = mergedFields(entry.fields, record);
    if (sameFields(fields, entry.fields)) {
      unchanged += 1;
      continue;
    }
    entry.fields = fields;
    changes += 1;
    if (entry.stored !== undefined) updated.add(entry);
  }
  const updates: ImportUpdate[] = [];
  for (const { stored, before, fields } of updated) {
    if (stored !== undefined) updates.push({ ...stored, before, after: fields });
  }
  return {
    creates: created.map(entry => entry.fields),
    updates,
    counts: { created: created.length, updated: changes, unchanged },
  };
}

/** A field left out gets its default; an explicit null is kept, also as the currency. */
function newFields(record: ImportRecord, defaultCurrency: string): ProductFields {
  return {
    name: record.name,
    price: record.price,
    currency: record.currency === undefined ? defaultCurrency : record.currency,
    status: record.status ?? 'active',
    description: record.description ?? null,
    sku: record.sku ?? null,
    category: record.category ?? null,
    tags: record.tags ?? [],
  };
}

/** A field left out keeps its value; an explicit null removes it. */
function mergedFields(before: ProductFields, record: ImportRecord): ProductFields {
  return {
    name: record.name,
    price: record.price,
    currency: record.currency === undefined ? before.currency : record.currency,
    status: record.status === undefined ? before.status : (record.status ?? 'active'),
    description: record.description === undefined ? before.description : record.description,
    sku: before.sku,
    category: record.category === undefined ? before.category : record.category,
    tags: record.tags === undefined ? before.tags : (record.tags ?? []),
  };
}

function sameFields(a: ProductFields, b: ProductFields): boolean {
  return (
    a.name === b.name &&
    a.price === b.price &&
    a.currency === b.currency &&
    a.status === b.status &&
    a.description === b.description &&
    a.category === b.category &&
    a.tags.length === b.tags.length &&
    a.tags.every((tag, index) => tag === b.tags[index])
  );
}

function changesOf(creates: readonly ProductFields[], updates: readonly ImportUpdate[]): TotalChange[] {
  return [
    ...creates.map(({ status, category }) => ({ status, category, change: 1 })),
    ...updates.flatMap(({ before, after }) => [
      { status: before.status, category: before.category, change: -1 },
      { status: after.status, category: after.category, change: 1 },
    ]),
  ];
}

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

/** One INSERT of `size` rows, compiled once. */
function insertOf(
  { build }: Database,
  size: number,
): (rows: readonly ProductRow[]) => CompiledQuery<unknown> {
  const row = sql`(${sql.join(columnNames.map(() => null))})`;
  const template = sql`insert into products (${sql.join(columnNames.map(name => sql.ref(name)))})
    values ${sql.join(Array.from({ length: size }, () => row))}`.compile(build);
  return rows => {
    const parameters: unknown[] = [];
    for (const values of rows) for (const name of columnNames) parameters.push(values[name]);
    return { ...template, parameters };
  };
}

function updateOf({ build }: Database) {
  type Values = { [Column in keyof ProductRow]: ProductRow[Column] } & { id: number };
  return prepared<Values, unknown>(argument => ({
    compile: () =>
      sql`update products set ${sql.join(
        columnNames.map(name => sql`${sql.ref(name)} = ${argument[name]}`),
      )} where id = ${argument.id}`.compile(build),
  }));
}
