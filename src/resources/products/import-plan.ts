/** What a batch of an import will change: which records are new products, and which update one that is there. */
import type { ImportRecord } from './import-plain.ts';
import type { PreparedRecord } from './import-prepared.ts';
import type { ProductFields, Rating } from './schema.ts';
import { productOf, type StoredProduct } from './store.ts';

export interface ImportCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

export interface ImportPlan {
  readonly creates: readonly ImportCreate[];
  readonly updates: readonly ImportUpdate[];
  readonly counts: ImportCounts;
  /** Words that the records of the import had not had before. */
  readonly newWords: readonly string[];
}

export interface ImportCreate {
  readonly fields: ProductFields;
  /** The words it is found by; undefined when the fields are not those of one record alone. */
  readonly words: string | undefined;
}

export interface ImportUpdate {
  readonly stored: StoredProduct;
  readonly createdAt: number;
  readonly rating: Rating;
  readonly before: ProductFields;
  readonly after: ProductFields;
}

/** A product while a batch is planned: as it will be once the records so far are in. */
export interface Entry {
  readonly stored: Pick<ImportUpdate, 'stored' | 'createdAt' | 'rating'> | undefined;
  readonly before: ProductFields;
  fields: ProductFields;
  words: string | undefined;
}

/** The entry of a product that exists. */
export function entryOf(row: StoredProduct): Entry {
  const { id: _id, createdAt, updatedAt: _updatedAt, rating, ...fields } = productOf(row);
  const stored = { stored: row, createdAt: Date.parse(createdAt), rating };
  return { stored, before: fields, fields, words: undefined };
}

/** A plan for records that meet no product at all: what a batch does to an empty catalog. */
export function planWithout(records: readonly PreparedRecord[], defaultCurrency: string): ImportPlan {
  return planAgainst(new Map(), records, defaultCurrency);
}

/**
 * Takes the records one after another, so that of two with one sku the later has the last word.
 * @param bySku the products that exist; the new ones are added
 */
export function planAgainst(
  bySku: Map<string, Entry>,
  records: readonly PreparedRecord[],
  defaultCurrency: string,
): ImportPlan {
  const created: Entry[] = [];
  const updated = new Set<Entry>();
  const newWords: string[] = [];
  let [changes, unchanged] = [0, 0];
  for (const { fields: record, words, newWords: own } of records) {
    // Also those of a record that changes nothing: nobody will tell them again.
    for (const word of own) newWords.push(word);
    const entry = record.sku == null ? undefined : bySku.get(record.sku);
    if (entry === undefined) {
      const fields = newFields(record, defaultCurrency);
      const fresh: Entry = { stored: undefined, before: fields, fields, words };
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
    entry.words = undefined;
    changes += 1;
    if (entry.stored !== undefined) updated.add(entry);
  }
  const updates: ImportUpdate[] = [];
  for (const { stored, before, fields } of updated) {
    if (stored !== undefined) updates.push({ ...stored, before, after: fields });
  }
  return {
    creates: created,
    updates,
    counts: { created: created.length, updated: changes, unchanged },
    newWords,
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
