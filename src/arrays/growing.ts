/** Arrays of numbers that grow as needed. */

/** A larger copy, with room for at least this many numbers; those that are added are 0. */
export function growArray(numbers: Uint32Array, least: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(least, Math.ceil(numbers.length * 1.5)));
  larger.set(numbers);
  return larger;
}

/** Collects very many numbers: converting a list of a million to a typed array would take a tenth of a second. */
export function createGrowingArray() {
  let numbers = new Uint32Array(4096);
  let count = 0;
  return {
    push(value: number): void {
      if (count === numbers.length) numbers = growArray(numbers, count + 1);
      numbers[count++] = value;
    },
    count: () => count,
    /** The numbers so far, without a copy. */
    values: () => numbers.subarray(0, count),
  };
}
