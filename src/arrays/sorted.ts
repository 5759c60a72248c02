/** Sorted lists: binary search, and merging. */

/** How many of the first places of a list come before what is sought; `isBefore` holds for these and no others. */
export function countWhile(length: number, isBefore: (place: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of elements of an ascending list that are smaller than `number`. */
export const countBefore = (numbers: ArrayLike<number>, number: number): number =>
  countWhile(numbers.length, place => (numbers[place] ?? 0) < number);

/**
 * Merges elements into a list by the numbers that both are sorted by; of equal ones, those of the list come first.
 */
export function mergeInOrder(
  list: Iterable<number> & ArrayLike<number>,
  others: readonly number[],
  numberOf: (element: number) => number,
): Uint32Array<ArrayBuffer> {
  const merged = new Uint32Array(list.length + others.length);
  let [length, other] = [0, 0];
  for (const element of list) {
    for (
      let next = others[other];
      next !== undefined && numberOf(next) < numberOf(element);
      next = others[++other]
    )
      merged[length++] = next;
    merged[length++] = element;
  }
  for (; other < others.length; other++) merged[length++] = others[other] ?? 0;
  return merged;
}

/** The numbers of all lists in ascending order, each once. */
export const mergeDistinct = (lists: readonly (readonly number[])[]): number[] =>
  [...new Set(lists.flat())].sort((a, b) => a - b);
