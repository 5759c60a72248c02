/** Records of one file that have the same sku: counted, and made one where the catalog may have the product already. */
import { fullGC } from 'bun:jsc';
import { type Mapping, mapRecord } from '../../files/map.ts';
import type { SourceRecord } from '../../files/read.ts';
import type { ImportRecord } from '../../resources/products/import/plain.ts';

/**
 * Tells whether a text came before. Two 32-bit hashes stand for each, in 8 bytes: a set of the texts themselves would
 * take ten times the memory. That two texts are taken for one is as good as impossible below a billion of them.
 */
export function repetitions(): { had(text: string): boolean } {
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

/** Skus, and records of theirs, that are kept at most: beyond that a record is taken as it comes. */
const mostRepeated = 200_000;
const mostHeld = 20_000;

/** The sku that a record says, be the rest of it right or not. */
export function skuOf({ value }: SourceRecord, mapping: Mapping): string | undefined {
  if (value === undefined) return undefined;
  const { sku } = mapRecord(value, mapping, ['sku']);
  return typeof sku === 'string' ? sku.trim() : undefined;
}

/** How often each sku occurs that occurs more than once. */
export async function findRepeated(
  batches: AsyncIterable<readonly SourceRecord[]>,
  mapping: Mapping,
): Promise<Map<string, number>> {
  const seen = repetitions();
  const repeated = new Map<string, number>();
  let read = 0;
  for await (const batch of batches) {
    for (const record of batch) {
      const sku = skuOf(record, mapping);
      if (sku === undefined || !seen.had(sku)) continue;
      const times = repeated.get(sku);
      if (times !== undefined || repeated.size < mostRepeated) repeated.set(sku, (times ?? 1) + 1);
    }
    // Left to itself the heap grows to several times what a batch needs.
    if (++read % 4 === 0) fullGC();
  }
  return repeated;
}

export interface Merger {
  /**
   * Takes a record in its place in the file.
   * @param record undefined when it was refused
   * @returns what is to be written now: the record, or all of its sku as one; undefined while another one follows
   */
  take(sku: string | undefined, record: ImportRecord | undefined): ImportRecord | undefined;
  /** What is left at the end: nothing, unless the file has changed since it was counted. */
  rest(): ImportRecord[];
}

/**
 * Makes the records of one sku one, in the place of the last of them: the later wins, and what it leaves out the
 * earlier one says. So a file that is imported again changes nothing, where its records one by one would change the
 * product back and forth.
 * @param repeated how often each sku comes that comes more than once; used up
 */
export function merger(repeated: Map<string, number>): Merger {
  const held = new Map<string, ImportRecord>();
  return {
    take(sku, record) {
      const left = sku === undefined ? undefined : repeated.get(sku);
      if (sku === undefined || left === undefined) return record;
      repeated.set(sku, left - 1);
      const earlier = held.get(sku);
      const merged =
        earlier !== undefined && record !== undefined ? { ...earlier, ...given(record) } : record;
      const whole = merged ?? earlier;
      if (left > 1 && whole !== undefined && (earlier !== undefined || held.size < mostHeld)) {
        held.set(sku, whole);
        return undefined;
      }
      held.delete(sku);
      return whole;
    },
    rest: () => [...held.values()],
  };
}

/** The fields that a record has itself, be they null. */
function given(record: ImportRecord): Partial<ImportRecord> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
