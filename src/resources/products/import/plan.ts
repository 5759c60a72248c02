/** What a batch of an import will change: which records are new products, and which update one that is there. */

import { isDeepStrictEqual } from 'node:util';
import { HttpError, invalid } from '../../../http/errors.ts';
import type { Attributed } from '../../attributes/rules.ts';
import type { StoredVariant } from '../../variants/row.ts';
import type { VariantFields } from '../../variants/schema.ts';
import { placed } from '../categories.ts';
import { imagesOf, mediaPath } from '../members/images.ts';
import { type LockedProduct, productOf, fieldsOf as writtenOf } from '../row.ts';
import { refuseBelowReserved } from '../rules.ts';
import type { Product, ProductFields } from '../schema.ts';
import { isGiven, optional, type PreparedRecord } from './prepared.ts';
import {
  completeOptions,
  isChanged,
  mergedSlots,
  type Slot,
  slotsOf,
  type VariantRecord,
  withoutLostImages,
} from './variants.ts';

export interface ImportCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

export interface ImportPlan {
  readonly creates: readonly ImportCreate[];
  readonly updates: readonly ImportUpdate[];
  readonly counts: ImportCounts;
  readonly refused: readonly RefusedRecord[];
  /** Images that are uploads to another catalog, and not here. */
  readonly lostUploads: number;
}

/** A record that does not fit what the catalog has. */
interface RefusedRecord {
  readonly record: PreparedRecord;
  readonly error: HttpError;
}

/** A new product: as its one record has prepared it, or with the fields that several records have come to. */
type ImportCreate =
  | { readonly prepared: PreparedRecord }
  | { readonly fields: ProductFields; readonly variants: readonly VariantFields[] };

export interface ImportUpdate {
  readonly stored: LockedProduct;
  readonly product: Product;
  readonly before: ProductFields;
  readonly after: ProductFields;
  readonly inserts: readonly VariantFields[];
  readonly changes: readonly { readonly before: StoredVariant; readonly fields: VariantFields }[];
}

/** A product while a batch is planned: as it will be once the records so far are in. */
export interface Entry {
  /** Undefined for a new one. */
  readonly stored: Pick<ImportUpdate, 'stored' | 'product' | 'before'> | undefined;
  /** The only record of a new one. */
  prepared: PreparedRecord | undefined;
  /** Undefined while `prepared` says it. */
  fields: ProductFields | undefined;
  /** Its variants, of those that have been read; undefined where no record says anything of them. */
  slots: readonly Slot[] | undefined;
  /** Records that have changed it so far. */
  changes: number;
}

/** The entry of a product that exists. @param variants its own, where a record may say something of them */
export function entryOf(row: LockedProduct, variants?: readonly StoredVariant[]): Entry {
  const product = productOf(row);
  const fields = writtenOf(product, row.base_price);
  const stored = { stored: row, product, before: fields };
  return {
    stored,
    prepared: undefined,
    fields,
    slots: variants === undefined ? undefined : slotsOf(variants),
    changes: 0,
  };
}

/** What tells which product a record means: its sku, and what another system calls it. No sku holds U+0000. */
export const externalKey = (externalId: string): string => `\0${externalId}`;

/** What a plan is made against. */
export interface Known {
  /** The products that exist, by sku and by `externalKey`. */
  readonly byKey: Map<string, Entry>;
  /** Which product has a sku as its own, or as that of a variant. */
  readonly skuOwners: ReadonlyMap<string, { readonly productId: number; readonly isVariant: boolean }>;
  /** @throws HttpError for attributes that do not fit what is defined */
  requireFit(after: Attributed, before?: Attributed): void;
}

/**
 * Takes the records one after another, so that of two with one sku the later has the last word. A record whose sku no
 * product has is the product that its external id names, if there is one.
 */
export function planAgainst(
  { byKey, skuOwners, requireFit }: Known,
  records: readonly PreparedRecord[],
): ImportPlan {
  const created: Entry[] = [];
  const updated = new Set<Entry>();
  const refused: RefusedRecord[] = [];
  const claims = skuClaims(skuOwners);
  let [changes, unchanged, lostUploads] = [0, 0, 0];
  for (const prepared of records) {
    try {
      const keys = keysOf(prepared);
      const found = foundBy(keys, byKey);
      const entry = found ?? {
        stored: undefined,
        prepared: undefined,
        fields: undefined,
        slots: undefined,
        changes: 0,
      };
      const next = merged(entry, prepared, requireFit);
      claims.take(entry, prepared);
      if (prepared.hasUploads) lostUploads += lostUploadsOf(entry, prepared);
      for (const key of keys) if (found === undefined || !byKey.has(key)) byKey.set(key, entry);
      if (found !== undefined && next === undefined) {
        unchanged += 1;
        continue;
      }
      Object.assign(entry, next);
      if (found === undefined) created.push(entry);
      else {
        entry.changes += 1;
        changes += 1;
        if (entry.stored !== undefined) updated.add(entry);
      }
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      refused.push({ record: prepared, error });
    }
  }
  const updates: ImportUpdate[] = [];
  for (const entry of updated) {
    const update = updateOf(entry);
    if (update !== undefined) updates.push(update);
    else {
      // Changed and changed back: nothing is to be written.
      changes -= entry.changes;
      unchanged += entry.changes;
    }
  }
  const counts = { created: created.length, updated: changes, unchanged };
  return { creates: created.map(createOf), updates, counts, refused, lostUploads };
}

/** @throws HttpError when the sku is that of one product and the external id that of another */
function foundBy(keys: readonly string[], byKey: Known['byKey']): Entry | undefined {
  const [first, second] = keys.flatMap(key => byKey.get(key) ?? []);
  if (second === undefined || first === second) return first;
  throw invalid('externalId', 'duplicate', 'is that of another product than the sku');
}

function keysOf({ row: { sku, external_id } }: PreparedRecord): string[] {
  const keys = sku === null ? [] : [sku];
  if (external_id !== null) keys.push(externalKey(external_id));
  return keys;
}

/** A plan for records that meet no product at all: what a batch does to an empty catalog. */
export const planWithout = (
  records: readonly PreparedRecord[],
  requireFit: Known['requireFit'] = () => undefined,
): ImportPlan => planAgainst({ byKey: new Map(), skuOwners: new Map(), requireFit }, records);

/** What an entry is once a record is in; undefined when that changes nothing. @throws HttpError */
function merged(
  entry: Entry,
  record: PreparedRecord,
  requireFit: Known['requireFit'],
): Pick<Entry, 'prepared' | 'fields' | 'slots'> | undefined {
  const isNew = entry.fields === undefined && entry.prepared === undefined;
  const variants = record.variants === '' ? undefined : variantsOf(record);
  if (isNew && variants === undefined && !record.hasUploads) {
    requireFit(record);
    return { prepared: record, fields: undefined, slots: undefined };
  }
  const before = isNew ? undefined : fieldsOf(entry);
  const own = mergedFields(before, entry.stored, record);
  const { slots, options } = withVariants(entry, before, own, variants);
  const after = { ...own, options };
  requireFit(after, before);
  if (entry.stored !== undefined) refuseBelowReserved(entry.stored.product.stock, after.stock);
  const isSame = before !== undefined && sameFields(after, before);
  if (isSame && (slots === entry.slots || !slots?.some(isChanged))) return undefined;
  return { prepared: undefined, fields: after, slots };
}

// Boundary: the thread that reads has checked them, and made text of them.
const variantsOf = ({ variants }: PreparedRecord): VariantRecord[] => JSON.parse(variants) as VariantRecord[];

function withVariants(
  { slots }: Entry,
  before: ProductFields | undefined,
  own: ProductFields,
  variants: readonly VariantRecord[] | undefined,
): { slots: readonly Slot[] | undefined; options: ProductFields['options'] } {
  if (variants === undefined && (slots === undefined || slots.length === 0))
    return { slots, options: own.options };
  const next =
    variants === undefined ? withoutLostImages(slots ?? [], own) : mergedSlots(slots ?? [], variants, own);
  return { slots: next, options: [...completeOptions(before?.options ?? [], own.options, next)] };
}

/** Skus that the batch gives to products and variants, beside those that others have. */
function skuClaims(owners: Known['skuOwners']) {
  const claimed = new Map<string, { readonly entry: Entry; readonly isVariant: boolean }>();
  return {
    /** @throws HttpError for a sku that is that of another product, or of a variant of it */
    take(entry: Entry, record: PreparedRecord): void {
      const id = entry.stored?.stored.id;
      const refuse = (sku: string, isVariant: boolean, of: string) => {
        const message = `"${sku}" is that of ${isVariant ? `a variant of ${of}` : of}`;
        const details = [{ field: 'sku', pointer: '#/sku', code: 'duplicate', message }];
        throw new HttpError('DUPLICATE', { message: `sku: ${message}`, details });
      };
      const check = (sku: string, asVariant: boolean) => {
        const owner = owners.get(sku);
        const isOther = owner !== undefined && (owner.productId !== id || owner.isVariant !== asVariant);
        if (isOther) refuse(sku, owner.isVariant, `product ${owner.productId}`);
        const claim = claimed.get(sku);
        const isTaken = claim !== undefined && (claim.entry !== entry || claim.isVariant !== asVariant);
        if (isTaken) refuse(sku, claim.isVariant, 'another product of the file');
      };
      const own = record.row.sku;
      if (own !== null) check(own, false);
      for (const sku of record.variantSkus) check(sku, true);
      if (own !== null) claimed.set(own, { entry, isVariant: false });
      for (const sku of record.variantSkus) claimed.set(sku, { entry, isVariant: true });
    },
  };
}

function updateOf(entry: Entry): ImportUpdate | undefined {
  if (entry.stored === undefined) return undefined;
  const after = fieldsOf(entry);
  const changed = (entry.slots ?? []).filter(isChanged);
  if (changed.length === 0 && sameFields(after, entry.stored.before)) return undefined;
  return {
    ...entry.stored,
    after,
    inserts: changed.filter(({ stored }) => stored === undefined).map(({ fields }) => fields),
    changes: changed.flatMap(({ stored, fields }) =>
      stored === undefined ? [] : [{ before: stored, fields }],
    ),
  };
}

const createOf = (entry: Entry): ImportCreate =>
  entry.prepared === undefined
    ? { fields: fieldsOf(entry), variants: (entry.slots ?? []).map(({ fields }) => fields) }
    : { prepared: entry.prepared };

function fieldsOf({ fields, prepared }: Entry): ProductFields {
  if (fields !== undefined) return fields;
  if (prepared === undefined) throw new Error('an entry has neither fields nor a record');
  return preparedFields(prepared);
}

const preparedFields = ({ row }: PreparedRecord): ProductFields =>
  writtenOf(productOf({ id: 0, document: row.document }), null);

const isHere = (url: string | null | undefined, had: Product['images']): boolean =>
  url?.startsWith(mediaPath) !== true || had.some(image => image.url === url);

const lostUploadsOf = ({ stored }: Entry, record: PreparedRecord): number =>
  preparedFields(record).images.filter(({ url }) => !isHere(url, stored?.product.images ?? [])).length;

/** A field left out keeps its value; an explicit null removes it. @param before undefined for a new product */
function mergedFields(
  before: ProductFields | undefined,
  stored: Entry['stored'],
  record: PreparedRecord,
): ProductFields {
  const own = preparedFields(record);
  const had = stored?.product.images ?? [];
  // Uploads to another catalog are not here. A text that is left out stays.
  const sent = own.images
    .filter(({ url }) => isHere(url, had))
    .map(({ url, alt }) => ({ url, alt: alt ?? undefined }));
  const images = imagesOf(had, sent);
  if (before === undefined) return { ...own, images };
  const kept = optional.filter(field => !isGiven(record, field)).map(field => [field, before[field]]);
  return placed({
    ...own,
    images,
    // The price that is shown for its variants is not another one of its own.
    price: own.price === stored?.product.price ? stored.before.price : own.price,
    ...Object.fromEntries(kept),
    sku: own.sku ?? before.sku,
  });
}

function sameFields(a: ProductFields, b: ProductFields): boolean {
  return isDeepStrictEqual(a, b);
}
