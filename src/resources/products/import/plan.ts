/** What a batch of an import will change: which records are new products, and which update one that is there. */

import { HttpError, invalid } from '../../../http/errors.ts';
import {
  createOf,
  type Entry,
  type ImportCreate,
  type ImportUpdate,
  lostUploadsOf,
  merged,
  type RequireFit,
  updateOf,
} from './entry.ts';
import type { PreparedRecord } from './prepared.ts';

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

/** What identifies the product that a record means: its sku, and what another system calls it. No sku holds U+0000. */
export const externalKey = (externalId: string): string => `\0${externalId}`;

/** What a plan is made against. */
export interface Known {
  /** The products that exist, by sku and by `externalKey`. */
  readonly byKey: Map<string, Entry>;
  /** Which product has a sku as its own, or as that of a variant. */
  readonly skuOwners: ReadonlyMap<string, { readonly productId: number; readonly isVariant: boolean }>;
  readonly requireFit: RequireFit;
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
  requireFit: RequireFit = () => undefined,
): ImportPlan => planAgainst({ byKey: new Map(), skuOwners: new Map(), requireFit }, records);

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
