/** Records of one file that have the same sku or external id: counted, and written together where the product may exist. */
import { fullGC } from 'bun:jsc';
import { createRecordMapper, type MapOptions } from '../../files/cells/mapper.ts';
import type { SourceRecord } from '../../files/read.ts';
import type { ImportRecord } from '../../resources/products/import/prepared.ts';

/**
 * Whether a text came before; the next time it has. Two 32-bit hashes stand for each, in 8 bytes: a set of the texts
 * themselves would take ten times the memory. That two texts are taken for one is as good as impossible below a billion
 * of them.
 */
export function createRepetitions(): { had(text: string): boolean } {
  let slots = new Uint32Array(2 * 65_536);
  let used = 0;

  /** @returns whether the pair was there; if not, it is now */
  function put(table: Uint32Array, first: number, second: number): boolean {
    const mask = table.length / 2 - 1;
    for (let at = first & mask; ; at = (at + 1) & mask) {
      const [a, b] = [table[2 * at], table[2 * at + 1]];
      if (a === first && b === second) return true;
      if (a !== 0 || b !== 0) continue;
      table[2 * at] = first;
      table[2 * at + 1] = second;
      return false;
    }
  }
  function grow(): void {
    const larger = new Uint32Array(2 * slots.length);
    for (let at = 0; at < slots.length; at += 2) {
      const [a = 0, b = 0] = [slots[at], slots[at + 1]];
      if (a !== 0 || b !== 0) put(larger, a, b);
    }
    slots = larger;
  }
  return {
    had(text) {
      // A slot that is taken is never all 0.
      const known = put(slots, (Bun.hash.xxHash32(text) | 1) >>> 0, Bun.hash.murmur32v3(text) >>> 0);
      if (!known && ++used * 4 > slots.length) grow();
      return known;
    },
  };
}

/** Keys that are kept at most, records of theirs, and the length of their text: beyond that a record is taken as it comes. */
const mostRepeated = 200_000;
const mostHeld = 20_000;
const mostText = 16 * 1024 * 1024;
/** Records and variants of one key that are written together: as many as the largest transaction of an import has. */
const mostTogether = 6000;

/** What identifies the product that is meant: its sku, or without one what another system calls it. */
export function getRecordKey(fields: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (fields === undefined) return undefined;
  const { sku, externalId } = fields;
  if (typeof sku === 'string') return sku.trim();
  // No sku holds U+0000.
  return typeof externalId === 'string' ? `\0${externalId.trim()}` : undefined;
}

/** Whether the key of a record is its sku. */
export const isSku = (key: string): boolean => !key.startsWith('\0');

/** How often each key occurs that occurs more than once. */
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
      const key = value === undefined ? undefined : getRecordKey(mapper.map(value, columns));
      if (key === undefined || !seen.had(key)) continue;
      const times = repeated.get(key);
      if (times !== undefined || repeated.size < mostRepeated) repeated.set(key, (times ?? 1) + 1);
    }
    // Left to itself the heap grows to several times what a batch needs.
    if (++read % 4 === 0) fullGC();
  }
  return repeated;
}

/** A checked record, and where it comes from. */
export interface Checked {
  readonly record: ImportRecord;
  /** The line of the file on which it starts. */
  readonly line: number;
  /** Its own text; empty where that is not wanted. */
  readonly raw: string;
}

/** Records of one key that wait for the last of them. */
interface Group {
  /** As text: the objects take several times the memory, and keep the parts of the file alive that they were cut from. */
  readonly texts: string[];
  readonly names: Set<string>;
  weight: number;
}

/**
 * Gathers the records of one key in the place of the last of them, each as it is. Within one transaction what they
 * change and change back is no change: so a file that is imported again changes nothing, where in transactions of
 * their own its records would change the product back and forth.
 * @param repeated how often each key comes that comes more than once; used up
 */
export function createGatherer(repeated: Map<string, number>) {
  const groups = new Map<string, Group>();
  /** Which group has a record that names a sku or external id. */
  const named = new Map<string, string>();
  let [held, length] = [0, 0];

  function hold(key: string, checked: Checked): Group {
    const group = groups.get(key) ?? { texts: [], names: new Set(), weight: 0 };
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
    const { texts, names } = groups.get(key) ?? { texts: [], names: [] };
    groups.delete(key);
    for (const name of names) named.delete(name);
    held -= texts.length;
    for (const text of texts) length -= text.length;
    // Boundary: hold has made the text, of what the schema lets through.
    return texts.map(text => JSON.parse(text) as Checked);
  }

  /** Which of two products has a sku in the end depends on their order: what waits and names it goes first. */
  function releaseOthers(key: string | undefined, { record }: Checked): Checked[] {
    if (named.size === 0) return [];
    const keys = new Set(getNames(record).flatMap(name => named.get(name) ?? []));
    return [...keys].flatMap(other => (other === key ? [] : release(other)));
  }

  return {
    /**
     * Takes a record in its place in the file.
     * @param checked undefined when it was refused
     * @returns what is to be written now, one after another in one transaction: the record, or all of its key; nothing
     * while another one follows
     */
    take(key: string | undefined, checked: Checked | undefined): readonly Checked[] {
      const others = checked === undefined ? [] : releaseOthers(key, checked);
      const left = key === undefined ? undefined : repeated.get(key);
      if (key === undefined || left === undefined)
        return checked === undefined ? others : [...others, checked];
      if (left > 1) repeated.set(key, left - 1);
      else repeated.delete(key);
      const group = checked === undefined ? groups.get(key) : hold(key, checked);
      const hasRoom = held <= mostHeld && length <= mostText && (group?.weight ?? 0) < mostTogether;
      return left > 1 && hasRoom ? others : [...others, ...release(key)];
    },
    /** What is left at the end: nothing, unless the file has changed since it was counted. */
    rest: () => [...groups.keys()].flatMap(release),
  };
}

/** What a record names that only one product, or one variant, can have. No sku holds U+0000. */
function getNames({ sku, externalId, variants = [] }: ImportRecord): string[] {
  const names = variants.flatMap(variant => variant.sku ?? []);
  if (sku != null) names.push(sku);
  if (externalId != null) names.push(`\0${externalId}`);
  return names;
}
