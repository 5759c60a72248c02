/** Counts records of a file with the same sku or external id, and gathers them where the product may already exist. */
import { fullGC } from 'bun:jsc';
import { createRecordMapper, type MapOptions } from '../../files/cells/mapper.ts';
import type { SourceRecord } from '../../files/read.ts';
import { isObject } from '../../json-object.ts';
import { readExportIdentity, toIdentityKey } from '../../resources/products/import/identity.ts';
import type { ImportRecord } from '../../resources/products/import/prepared.ts';

/**
 * A set of texts: `had` returns whether a text was added before, and adds it. Only a hash of 53 bits is kept of each.
 * Among a million texts, two have the same once in 18,000 files: then a count is wrong by one.
 */
export function createRepetitions(): { had(text: string): boolean } {
  const hashes = new Set<number>();
  return {
    had(text) {
      const { size } = hashes;
      hashes.add(Bun.hash.xxHash32(text) * 2 ** 21 + (Bun.hash.murmur32v3(text) >>> 11));
      return hashes.size === size;
    },
  };
}

/** The most repeated keys, held records, and characters of their text; beyond that, records are not gathered. */
const maxRepeated = 200_000;
const maxHeld = 20_000;
const maxTextLength = 16 * 1024 * 1024;
/** At most this many records and variants of one key are written together: the largest transaction of an import. */
const maxTogether = 6000;

/**
 * Adds the identity of an exported product to a record without sku and external id.
 * @param value the record as the file has it
 */
export function addIdentity(
  fields: Record<string, unknown>,
  value: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (fields.sku != null || fields.externalId != null) return fields;
  const identity = readExportIdentity(value);
  if (identity !== undefined) fields.identity = identity;
  return fields;
}

/** The key that identifies the product: its sku, without one its external id, and with neither its identity. */
export function getRecordKey(fields: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (fields === undefined) return undefined;
  const { sku, externalId, identity } = fields;
  if (typeof sku === 'string') return sku.trim();
  // No sku contains U+0000, and no external id.
  if (typeof externalId === 'string') return `\0${externalId.trim()}`;
  const known = isObject(identity) ? readExportIdentity(identity) : undefined;
  return known === undefined ? undefined : toIdentityKey(known);
}

/** Whether the key of a record is its sku. */
export const isSku = (key: string): boolean => !key.startsWith('\0');

/** Whether the key of a record is its sku or external id, which it also has in a catalog without the product. */
export const isOwnKey = (key: string): boolean => !key.startsWith('\0\0');

/** The number of occurrences of each key that occurs more than once. */
export async function findRepeated(
  batches: AsyncIterable<readonly SourceRecord[]>,
  options: Pick<MapOptions, 'mapping' | 'set'>,
): Promise<Map<string, number>> {
  const mapper = createRecordMapper({ ...options, only: ['sku', 'externalId'] });
  const seen = createRepetitions();
  const repeated = new Map<string, number>();
  let read = 0;
  for await (const batch of batches) {
    for (const { value, columns } of batch) {
      const key =
        value === undefined ? undefined : getRecordKey(addIdentity(mapper.map(value, columns), value));
      if (key === undefined || !seen.had(key)) continue;
      const times = repeated.get(key);
      if (times !== undefined || repeated.size < maxRepeated) repeated.set(key, (times ?? 1) + 1);
    }
    // Without this, the heap grows to several times what a batch needs.
    if (++read % 4 === 0) fullGC();
  }
  return repeated;
}

/** A checked record and its origin. */
export interface Checked {
  readonly record: ImportRecord;
  /** The line of the file on which it starts. */
  readonly line: number;
  /** The source text of the record; empty if that is not wanted. */
  readonly raw: string;
}

/** Records of one key that are held until its last record has been read. */
interface Group {
  /** The records as text: objects take several times the memory, and keep parts of the file alive. */
  readonly texts: string[];
  readonly names: Set<string>;
  readonly manner: string;
  weight: number;
}

/**
 * Gathers the records of one key at the position of the last of them. If records change a value and change it back
 * within one transaction, nothing changes, so a second import of the file has no effect. In separate transactions
 * the records would change the product back and forth.
 * @param repeated the number of occurrences of each key that occurs more than once; modified
 */
export function createGatherer(repeated: Map<string, number>) {
  const groups = new Map<string, Group>();
  /** Sku or external id → the key of the group with a record that names it. */
  const named = new Map<string, string>();
  /** How records identify a product → the keys of the groups of such records. */
  const alike = new Map<string, Set<string>>();
  let [held, length] = [0, 0];
  /** Fewer once records identify products in several ways, since one of them may release all. */
  let most = maxHeld;

  function hold(key: string, checked: Checked): Group {
    const manner = readManner(checked.record);
    const group = groups.get(key) ?? { texts: [], names: new Set(), manner, weight: 0 };
    alike.getOrInsertComputed(group.manner, () => new Set()).add(key);
    const text = JSON.stringify(checked);
    group.texts.push(text);
    group.weight += 1 + (checked.record.variants?.length ?? 0);
    for (const name of getNames(checked.record)) {
      group.names.add(name);
      named.set(name, key);
    }
    groups.set(key, group);
    held += 1;
    length += text.length;
    return group;
  }

  function release(key: string): Checked[] {
    const { texts, names, manner } = groups.get(key) ?? { texts: [], names: [], manner: '' };
    groups.delete(key);
    alike.get(manner)?.delete(key);
    for (const name of names) named.delete(name);
    held -= texts.length;
    for (const text of texts) length -= text.length;
    // Boundary: hold wrote this text, from a checked record.
    return texts.map(text => JSON.parse(text) as Checked);
  }

  /**
   * Order decides which of two products ends up with a sku: held records that name it must go first. So must those that
   * identify their product in another way: it may be the same one.
   */
  function releaseOthers(key: string | undefined, { record }: Checked): Checked[] {
    if (groups.size === 0) return [];
    const keys = new Set(getNames(record).flatMap(name => named.get(name) ?? []));
    const manner = readManner(record);
    for (const [other, those] of alike) {
      if (other === manner) continue;
      most = maxTogether;
      for (const one of those) keys.add(one);
    }
    return [...keys].flatMap(other => (other === key ? [] : release(other)));
  }

  return {
    /**
     * Takes the next record of the file.
     * @param checked undefined when the record was refused
     * @returns the records to write now, in this order and in one transaction: this record, or all of its key; none
     * while more of its key follow
     */
    take(key: string | undefined, checked: Checked | undefined): readonly Checked[] {
      const others = checked === undefined ? [] : releaseOthers(key, checked);
      const left = key === undefined ? undefined : repeated.get(key);
      if (key === undefined || left === undefined)
        return checked === undefined ? others : [...others, checked];
      if (left > 1) repeated.set(key, left - 1);
      else repeated.delete(key);
      const group = checked === undefined ? groups.get(key) : hold(key, checked);
      const hasRoom = held <= most && length <= maxTextLength && (group?.weight ?? 0) < maxTogether;
      return left > 1 && hasRoom ? others : [...others, ...release(key)];
    },
    /** The records left at the end: none, unless the file has changed since its keys were counted. */
    rest: () => [...groups.keys()].flatMap(release),
  };
}

/** By what a record identifies its product: its sku, its external id, both, or neither. */
const readManner = ({ sku, externalId }: ImportRecord): string =>
  `${sku == null ? '' : 'sku'} ${externalId == null ? '' : 'externalId'}`;

/** The identifiers in a record that only one product, or one variant, can have. No sku contains U+0000. */
function getNames({ sku, externalId, variants = [] }: ImportRecord): string[] {
  const names = variants.flatMap(variant => variant.sku ?? []);
  if (sku != null) names.push(sku);
  if (externalId != null) names.push(`\0${externalId}`);
  return names;
}
