/** Binary search in sorted lists. */

/** The number of elements of an ascending list that are smaller than `number`. */
export function countBefore(numbers: ArrayLike<number>, number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
