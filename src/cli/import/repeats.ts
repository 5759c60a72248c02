/** Records of one file that have the same sku: counted, and made one where the catalog may have the product already. */
import { fullGC } from 'bun:jsc';
import { type MapOptions, recordMapper } from '../../files/cells/mapper.ts';
import type { SourceRecord } from '../../files/read.ts';
import type { ImportRecord } from '../../resources/products/import/plain.ts';

/**
 * Whether a text came before. Two 32-bit hashes stand for each, in 8 bytes: a set of the texts themselves would
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

/** Keys, and records of theirs, that are kept at most: beyond that a record is taken as it comes. */
const mostRepeated = 200_000;
const mostHeld = 20_000;

/** What identifies the product that is meant: its sku, or without one what another system calls it. */
export function keyOf(fields: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (fields === undefined) return undefined;
  const { sku, externalId } = fields;
  if (typeof sku === 'string') return sku.trim();
  // No sku holds U+0000.
  return typeof externalId === 'string' ? `\0${externalId.trim()}` : undefined;
}

/** How often each key occurs that occurs more than once. */
export async function findRepeated(
  batches: AsyncIterable<readonly SourceRecord[]>,
  options: Pick<MapOptions, 'mapping' | 'set'>,
): Promise<Map<string, number>> {
  const mapper = recordMapper({ ...options, only: ['sku', 'externalId'] });
  const seen = repetitions();
  const repeated = new Map<string, number>();
  let read = 0;
  for await (const batch of batches) {
    for (const { value, columns } of batch) {
      const key = value === undefined ? undefined : keyOf(mapper.map(value, columns));
      if (key === undefined || !seen.had(key)) continue;
      const times = repeated.get(key);
      if (times !== undefined || repeated.size < mostRepeated) repeated.set(key, (times ?? 1) + 1);
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
   * @returns what is to be written now: the record, or all of its key as one; undefined while another one follows
   */
  take(key: string | undefined, record: ImportRecord | undefined): ImportRecord | undefined;
  /** What is left at the end: nothing, unless the file has changed since it was counted. */
  rest(): ImportRecord[];
}

/**
 * Makes the records of one key one, in the place of the last of them: the later wins, and what it leaves out the
 * earlier one says. So a file that is imported again changes nothing, where its records one by one would change the
 * product back and forth.
 * @param repeated how often each key comes that comes more than once; used up
 */
export function merger(repeated: Map<string, number>): Merger {
  const held = new Map<string, ImportRecord>();
  return {
    take(key, record) {
      const left = key === undefined ? undefined : repeated.get(key);
      if (key === undefined || left === undefined) return record;
      repeated.set(key, left - 1);
      const earlier = held.get(key);
      const merged =
        earlier !== undefined && record !== undefined ? { ...earlier, ...given(record) } : record;
      const whole = merged ?? earlier;
      if (left > 1 && whole !== undefined && (earlier !== undefined || held.size < mostHeld)) {
        held.set(key, whole);
        return undefined;
      }
      held.delete(key);
      return whole;
    },
    rest: () => [...held.values()],
  };
}

/** The fields that a record has itself, be they null. */
function given(record: ImportRecord): Partial<ImportRecord> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
