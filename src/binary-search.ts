/** Binary search in sorted lists. */

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
