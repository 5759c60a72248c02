/** The smallest of very many numbers, without keeping or sorting the others. */

/** More than these are selected from all at once instead: see keys.ts. */
export const mostSelected = 1000;

export interface Selection {
  /** To be called with ascending ids. */
  offer(id: number, number: number): void;
  /** The smallest in ascending order; of equal ones those first that the order has first. */
  taken(): { readonly id: number; readonly number: number }[];
}

/** @param wanted how many; @param descending of equal numbers the larger id comes first */
export function selection(wanted: number, descending: boolean): Selection {
  const capacity = 2 * wanted + 64;
  const numbers = new Float64Array(capacity);
  const ids = new Uint32Array(capacity);
  let length = 0;
  let edge = Number.POSITIVE_INFINITY;
  const sign = descending ? -1 : 1;

  function smallest() {
    const all = Array.from({ length }, (_, index) => ({ id: ids[index] ?? 0, number: numbers[index] ?? 0 }));
    return all.sort((a, b) => a.number - b.number || sign * (a.id - b.id)).slice(0, wanted);
  }

  function keepSmallest(): void {
    const kept = smallest();
    for (const [index, { id, number }] of kept.entries()) {
      ids[index] = id;
      numbers[index] = number;
    }
    length = kept.length;
    edge = kept.at(-1)?.number ?? edge;
  }

  return {
    offer(id, number) {
      // Of equal numbers a later id comes before those that are there only where the order descends.
      if (number > edge || (number === edge && !descending)) return;
      ids[length] = id;
      numbers[length++] = number;
      if (length === capacity) keepSmallest();
    },
    taken: smallest,
  };
}
