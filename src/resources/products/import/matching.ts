/** Which product has which sku and external id while a batch is planned, after the records so far. */

import { buildErrorDetail, createFieldError, HttpError } from '../../../http/errors.ts';
import { type Entry, parseVariants } from './entry.ts';
import { toIdentityKey } from './identity.ts';
import type { PreparedRecord } from './prepared.ts';

/** The key of an external id; no sku contains U+0000, so it differs from every sku. */
const toExternalKey = (externalId: string): string => `\0${externalId}`;

/** The key of a variant's sku, which finds the product of a record with neither sku nor external id. */
const toVariantKey = (sku: string): string => `\0\0${sku}`;

/** Whether only its variants identify the product of a record. */
export const isNamedByVariants = ({ row: { sku, external_id } }: PreparedRecord): boolean =>
  sku === null && external_id === null;

/** The state at the beginning of planning, which consumes it. */
export interface Owned {
  /** Existing products by sku, by `toExternalKey`, by `toVariantKey` of each variant, and by `toIdentityKey`. */
  readonly byKey: Map<string, Entry>;
  /** The product that a sku belongs to, directly or through a variant. */
  readonly skuOwners: Map<string, { readonly productId: number; readonly isVariant: boolean }>;
}

/** The products that any batch of a file has matched by sku: one bit each. */
export type MatchedProducts = ReturnType<typeof createMatchedProducts>;

/** The number of ids whose bits take 4 KiB. */
const idsTogether = 32_768;

export function createMatchedProducts() {
  const pieces = new Map<number, Uint8Array>();
  const toPlace = (id: number) => ({ piece: Math.floor(id / idsTogether), at: id % idsTogether });
  return {
    has(id: number): boolean {
      const { piece, at } = toPlace(id);
      return (((pieces.get(piece)?.[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;
    },
    add(ids: Iterable<number>): void {
      for (const id of ids) {
        const { piece, at } = toPlace(id);
        const bits = pieces.get(piece) ?? new Uint8Array(idsTogether / 8);
        bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
        pieces.set(piece, bits);
      }
    },
  };
}

type Merged = Pick<Entry, 'prepared' | 'fields' | 'slots'>;

/** @param wasMatched whether a record of an earlier batch has matched the product with this id by sku */
export function createOwnership({ byKey, skuOwners }: Owned, wasMatched: (id: number) => boolean) {
  /** The entries that records of this batch have matched by sku. */
  const matched = new Set<Entry>();
  let renamed = 0;
  /** Skus of the products that records have matched so far, and of their variants. */
  const claimed = new Map<string, { readonly entry: Entry; readonly isVariant: boolean }>();

  /** @throws HttpError for a sku of another product or of its variants */
  function requireFree(entry: Entry, sku: string, record: PreparedRecord): void {
    const claim = claimed.get(sku);
    if (claim !== undefined && claim.entry !== entry)
      refuse(sku, record, claim.isVariant, describeEntry(claim.entry));
    if (claim !== undefined) return;
    const owner = skuOwners.get(sku);
    const isOther = owner !== undefined && owner.productId !== entry.stored?.stored.id;
    if (isOther) refuse(sku, record, owner.isVariant, `product ${owner.productId}`);
  }

  /**
   * The sku of a product may change from one file to the next. Within one file, records with different skus are
   * different products: the later one would overwrite the earlier.
   * @throws HttpError for a product that an earlier record of the file has matched by its own sku
   */
  function requireNotMatched(entry: Entry): void {
    const { sku } = getIdentity(entry);
    const id = entry.stored?.stored.id;
    if (sku === null || !(matched.has(entry) || (id !== undefined && wasMatched(id)))) return;
    const message = `belongs to the product with sku "${sku}", which an earlier record of the file names`;
    throw createFieldError('externalId', 'duplicate', message);
  }

  function findByVariants(skus: readonly string[]): Entry | undefined {
    const [first, second] = new Set(skus.flatMap(sku => byKey.get(toVariantKey(sku)) ?? []));
    if (first === undefined || second === undefined) return first;
    const problem = `have skus of several products, ${describeEntry(first)} and ${describeEntry(second)} among them`;
    throw createFieldError('variants', 'duplicate', problem);
  }

  return {
    /**
     * The existing product that a record identifies; undefined for a new one.
     * @throws HttpError if sku and external id belong to different products, if skus of variants alone belong to
     *   several products, or for an external id as in `requireNotMatched`
     */
    find(record: PreparedRecord): Entry | undefined {
      const { identity } = record;
      if (identity !== undefined) return byKey.get(toIdentityKey(identity));
      if (isNamedByVariants(record)) return findByVariants(record.variantSkus);
      const { sku, external_id } = record.row;
      const first = sku === null ? undefined : byKey.get(sku);
      const second = external_id === null ? undefined : byKey.get(toExternalKey(external_id));
      if (first === undefined && second !== undefined && sku !== null) requireNotMatched(second);
      if (first === undefined || second === undefined || first === second) return first ?? second;
      throw createFieldError('externalId', 'duplicate', 'belongs to a different product than the sku');
    },

    /**
     * Registers the keys and skus of an entry after a record, and frees those that it no longer has.
     * @throws HttpError for a sku that another product or variant has
     */
    take(entry: Entry, next: Merged, record: PreparedRecord): void {
      const { row, variantSkus } = record;
      if (row.sku !== null) requireFree(entry, row.sku, record);
      for (const sku of variantSkus) requireFree(entry, sku, record);
      const { sku } = getIdentity(next);
      if (sku !== null && next.slots?.some(({ fields }) => fields.sku === sku))
        refuse(sku, record, true, entry.stored === undefined ? 'the product itself' : describeEntry(entry));
      const { sku: before } = getIdentity(entry);
      if (before !== null && sku !== null && before !== sku) renamed += 1;
      for (const key of getKeys(entry)) byKey.delete(key);
      for (const key of getKeys(next)) byKey.set(key, entry);
      for (const [had] of getSkus(entry)) {
        claimed.delete(had);
        skuOwners.delete(had);
      }
      for (const [has, isVariant] of getSkus(next)) claimed.set(has, { entry, isVariant });
    },

    /** Must be called after each record, even one that changes nothing. */
    recordMatch(entry: Entry, { row }: PreparedRecord): void {
      if (row.sku !== null) matched.add(entry);
    },

    /** Ids of products that records have matched by sku; new products have none yet. */
    getMatched: (): number[] => [...matched].flatMap(({ stored }) => stored?.stored.id ?? []),
    /** The number of products whose sku changed. */
    getRenamed: (): number => renamed,
  };
}

/** @param record has the sku, as its own or as that of a variant */
function refuse(sku: string, record: PreparedRecord, isVariant: boolean, of: string): never {
  const message = `"${sku}" is already the sku of ${isVariant ? `a variant of ${of}` : of}`;
  const index = record.row.sku === sku ? -1 : parseVariants(record).findIndex(one => one.sku === sku);
  const path = index === -1 ? ['sku'] : ['variants', index, 'sku'];
  const details = [buildErrorDetail(path, 'duplicate', message)];
  throw new HttpError('DUPLICATE', { message: `sku: ${message}`, details });
}

const describeEntry = ({ stored }: Entry): string =>
  stored === undefined ? 'another product of the file' : `product ${stored.stored.id}`;

const getIdentity = ({ fields, prepared }: Merged) => ({
  sku: fields === undefined ? (prepared?.row.sku ?? null) : fields.sku,
  externalId: fields === undefined ? (prepared?.row.external_id ?? null) : fields.externalId,
});

export function getKeys(entry: Merged): string[] {
  const { sku, externalId } = getIdentity(entry);
  const keys = sku === null ? [] : [sku];
  if (externalId !== null) keys.push(toExternalKey(externalId));
  for (const { fields } of entry.slots ?? []) if (fields.sku !== null) keys.push(toVariantKey(fields.sku));
  return keys;
}

function* getSkus(entry: Merged): Generator<[sku: string, isVariant: boolean]> {
  const { sku } = getIdentity(entry);
  if (sku !== null) yield [sku, false];
  for (const { fields } of entry.slots ?? []) if (fields.sku !== null) yield [fields.sku, true];
}
