/** Which product has which sku and external id while a batch is planned: as the records so far leave them. */

import { buildErrorDetail, createFieldError, HttpError } from '../../../http/errors.ts';
import type { Entry } from './entry.ts';
import type { PreparedRecord } from './prepared.ts';

/** The key of an external id; no sku contains U+0000, so it differs from every sku. */
const toExternalKey = (externalId: string): string => `\0${externalId}`;

/** What identifies the product of a record with neither: the skus of its variants. */
const toVariantKey = (sku: string): string => `\0\0${sku}`;

/** Whether nothing but its variants says which product a record means. */
export const isNamedByVariants = ({ row: { sku, external_id } }: PreparedRecord): boolean =>
  sku === null && external_id === null;

/** What is known when the planning begins. Used up. */
export interface Owned {
  /** The products that exist, by sku, by `toExternalKey`, and by `toVariantKey` of each variant. */
  readonly byKey: Map<string, Entry>;
  /** Which product has a sku as its own, or as that of a variant. */
  readonly skuOwners: Map<string, { readonly productId: number; readonly isVariant: boolean }>;
}

/** The products that records of a file have matched by their sku, in all its batches: a bit for each. */
export type MatchedProducts = ReturnType<typeof createMatchedProducts>;

/** Ids of 4 KiB. */
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

/** @param wasMatched whether a record of an earlier batch has matched the product of this id by its sku */
export function createOwnership({ byKey, skuOwners }: Owned, wasMatched: (id: number) => boolean) {
  /** Those that records of this batch have matched by their sku. */
  const matched = new Set<Entry>();
  let renamed = 0;
  /** Skus of the products that records have matched so far, and of their variants. */
  const claimed = new Map<string, { readonly entry: Entry; readonly isVariant: boolean }>();

  /** @throws HttpError for a sku that is that of another product, or of a variant of it */
  function requireFree(entry: Entry, sku: string): void {
    const claim = claimed.get(sku);
    if (claim !== undefined && claim.entry !== entry)
      refuse(sku, claim.isVariant, describeEntry(claim.entry));
    if (claim !== undefined) return;
    const owner = skuOwners.get(sku);
    const isOther = owner !== undefined && owner.productId !== entry.stored?.stored.id;
    if (isOther) refuse(sku, owner.isVariant, `product ${owner.productId}`);
  }

  /**
   * A product gets another sku from one file to the next. Within one, records of several skus are several products: the
   * later would overwrite the earlier.
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
     * The product that a record means; undefined for a new one.
     * @throws HttpError when the sku is that of one product and the external id that of another, or where there are
     * only skus of variants, and these are of several products, or for an external id as `requireNotMatched` says
     */
    find(record: PreparedRecord): Entry | undefined {
      if (isNamedByVariants(record)) return findByVariants(record.variantSkus);
      const { sku, external_id } = record.row;
      const first = sku === null ? undefined : byKey.get(sku);
      const second = external_id === null ? undefined : byKey.get(toExternalKey(external_id));
      if (first === undefined && second !== undefined && sku !== null) requireNotMatched(second);
      if (first === undefined || second === undefined || first === second) return first ?? second;
      throw createFieldError('externalId', 'duplicate', 'belongs to a different product than the sku');
    },

    /**
     * Gives an entry what it has once a record is in, and to others what it has no longer.
     * @throws HttpError for a sku that another product or variant has
     */
    take(entry: Entry, next: Merged, { row, variantSkus }: PreparedRecord): void {
      if (row.sku !== null) requireFree(entry, row.sku);
      for (const sku of variantSkus) requireFree(entry, sku);
      const { sku } = getIdentity(next);
      if (sku !== null && next.slots?.some(({ fields }) => fields.sku === sku))
        refuse(sku, true, entry.stored === undefined ? 'the product itself' : describeEntry(entry));
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

    /** To be called once a record is in, be it that it changes nothing. */
    recordMatch(entry: Entry, { row }: PreparedRecord): void {
      if (row.sku !== null) matched.add(entry);
    },

    /** Ids of products that records have matched by their sku; those that they create have none yet. */
    getMatched: (): number[] => [...matched].flatMap(({ stored }) => stored?.stored.id ?? []),
    /** Products that have got another sku. */
    getRenamed: (): number => renamed,
  };
}

function refuse(sku: string, isVariant: boolean, of: string): never {
  const message = `"${sku}" is already the sku of ${isVariant ? `a variant of ${of}` : of}`;
  const details = [buildErrorDetail(['sku'], 'duplicate', message)];
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
