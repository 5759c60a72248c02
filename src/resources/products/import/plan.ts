/** The changes of a batch of an import: which records create products, and which update existing ones. */

import { HttpError } from '../../../http/errors.ts';
import type { Uploads } from '../members/uploads.ts';
import {
  countLostUploads,
  createEntry,
  type Entry,
  type ImportCreate,
  type ImportUpdate,
  type MergeContext,
  mergeRecord,
  toCreate,
  toUpdate,
} from './entry.ts';
import { createOwnership, type Owned } from './matching.ts';
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
  /** The number of images that are uploads missing from the catalog. */
  readonly lostUploads: number;
  /** The uploads found in the catalog. */
  readonly uploads: Uploads;
  /** The number of products whose sku changes. */
  readonly renamed: number;
  /** Ids of products that records match by sku; new products have none yet. */
  readonly matched: readonly number[];
}

/** A record that conflicts with the catalog. */
interface RefusedRecord {
  readonly record: PreparedRecord;
  readonly error: HttpError;
}

/** The state and rules that a plan is made against. */
export interface Known extends Owned, MergeContext {
  /** Whether a record of an earlier batch has matched the product with this id by sku. */
  wasMatched(id: number): boolean;
}

/**
 * Applies the records in order, so that the later of two with the same sku wins. A record with an unknown sku matches
 * by external id, if it has one that is known; a record with neither matches by the skus of its variants.
 */
export function planAgainst(
  { requireFit, uploads, wasMatched, ...known }: Known,
  records: readonly PreparedRecord[],
): ImportPlan {
  const created: Entry[] = [];
  const updated = new Set<Entry>();
  const refused: RefusedRecord[] = [];
  const owned = createOwnership(known, wasMatched);
  let [changes, unchanged, lostUploads] = [0, 0, 0];
  for (const prepared of records) {
    try {
      const found = owned.find(prepared);
      const entry = found ?? createEntry();
      const next = mergeRecord(entry, prepared, { requireFit, uploads });
      if (next !== undefined) owned.take(entry, next, prepared);
      owned.recordMatch(entry, prepared);
      if (prepared.hasUploads) lostUploads += countLostUploads(entry, prepared, uploads);
      if (next === undefined) {
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
    const update = toUpdate(entry);
    if (update !== undefined) updates.push(update);
    else {
      // Changed and changed back: there is nothing to write.
      changes -= entry.changes;
      unchanged += entry.changes;
    }
  }
  const counts = { created: created.length, updated: changes, unchanged };
  const [renamed, matched] = [owned.getRenamed(), owned.getMatched()];
  const creates = created.map(toCreate);
  return { creates, updates, counts, refused, lostUploads, uploads, renamed, matched };
}

/** A plan for records that match no existing product, as in an empty catalog. */
export const planWithout = (records: readonly PreparedRecord[]): ImportPlan => {
  const nothing = { byKey: new Map(), skuOwners: new Map(), uploads: new Map() };
  return planAgainst({ ...nothing, wasMatched: () => false, requireFit: () => undefined }, records);
};
