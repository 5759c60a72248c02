/** What a batch of an import will change: which records are new products, and which update one that is there. */

import { productOf, type StoredProduct } from '../row.ts';
import type { ProductFields, Rating } from '../schema.ts';
import { isGiven, type PreparedRecord } from './prepared.ts';

export interface ImportCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

export interface ImportPlan {
  readonly creates: readonly ImportCreate[];
  readonly updates: readonly ImportUpdate[];
  readonly counts: ImportCounts;
}

/** A new product: as its one record has prepared it, or with the fields that several records have come to. */
type ImportCreate = { readonly prepared: PreparedRecord } | { readonly fields: ProductFields };

export interface ImportUpdate {
  readonly stored: StoredProduct;
  readonly createdAt: number;
  readonly rating: Rating;
  readonly before: ProductFields;
  readonly after: ProductFields;
}

/** A product while a batch is planned: as it will be once the records so far are in. */
export interface Entry {
  /** Undefined for a new one. */
  readonly stored:
    | (Pick<ImportUpdate, 'stored' | 'createdAt' | 'rating'> & { before: ProductFields })
    | undefined;
  /** The only record of a new one. */
  prepared: PreparedRecord | undefined;
  /** Undefined while `prepared` says it. */
  fields: ProductFields | undefined;
  /** Records that have changed it so far. */
  changes: number;
}

/** The entry of a product that exists. */
export function entryOf(row: StoredProduct): Entry {
  const { id: _id, createdAt, updatedAt: _updatedAt, rating, ...fields } = productOf(row);
  const stored = { stored: row, createdAt: Date.parse(createdAt), rating, before: fields };
  return { stored, prepared: undefined, fields, changes: 0 };
}

/** A plan for records that meet no product at all: what a batch does to an empty catalog. */
export function planWithout(records: readonly PreparedRecord[]): ImportPlan {
  return planAgainst(new Map(), records);
}

/**
 * Takes the records one after another, so that of two with one sku the later has the last word.
 * @param bySku the products that exist; the new ones are added
 */
export function planAgainst(bySku: Map<string, Entry>, records: readonly PreparedRecord[]): ImportPlan {
  const created: Entry[] = [];
  const updated = new Set<Entry>();
  let [changes, unchanged] = [0, 0];
  for (const prepared of records) {
    const { sku } = prepared.row;
    const entry = sku === null ? undefined : bySku.get(sku);
    if (entry === undefined) {
      const fresh: Entry = { stored: undefined, prepared, fields: undefined, changes: 0 };
      created.push(fresh);
      if (sku !== null) bySku.set(sku, fresh);
      continue;
    }
    const before = fieldsOf(entry);
    const after = mergedFields(before, prepared);
    if (sameFields(after, before)) {
      unchanged += 1;
      continue;
    }
    entry.fields = after;
    entry.prepared = undefined;
    entry.changes += 1;
    changes += 1;
    if (entry.stored !== undefined) updated.add(entry);
  }
  const updates: ImportUpdate[] = [];
  for (const entry of updated) {
    if (entry.stored === undefined) continue;
    const after = fieldsOf(entry);
    if (sameFields(after, entry.stored.before)) {
      // Changed and changed back: nothing is to be written.
      changes -= entry.changes;
      unchanged += entry.changes;
    } else updates.push({ ...entry.stored, after });
  }
  const counts = { created: created.length, updated: changes, unchanged };
  return { creates: created.map(createOf), updates, counts };
}

const createOf = (entry: Entry): ImportCreate =>
  entry.prepared === undefined ? { fields: fieldsOf(entry) } : { prepared: entry.prepared };

function fieldsOf({ fields, prepared }: Entry): ProductFields {
  if (fields !== undefined) return fields;
  if (prepared === undefined) throw new Error('an entry has neither fields nor a record');
  return preparedFields(prepared);
}

function preparedFields({ row }: PreparedRecord): ProductFields {
  const {
    id: _id,
    createdAt: _created,
    updatedAt: _updated,
    rating: _rating,
    ...own
  } = productOf({
    id: 0,
    ...row,
  });
  return own;
}

/** A field left out keeps its value; an explicit null removes it. */
function mergedFields(before: ProductFields, record: PreparedRecord): ProductFields {
  const own = preparedFields(record);
  const given = (field: Parameters<typeof isGiven>[1]) => (isGiven(record, field) ? own : before);
  return {
    name: own.name,
    price: own.price,
    currency: given('currency').currency,
    status: given('status').status,
    description: given('description').description,
    sku: before.sku,
    category: given('category').category,
    tags: given('tags').tags,
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
