/** Finds places in lists that are in order. */

/** How many of the ascending numbers come before one. */
export function countBefore(numbers: ArrayLike<number>, number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
