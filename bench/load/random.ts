/** Pseudo-random numbers that are the same in every run. */
export interface Random {
  /** 0 ≤ x < 1 */
  next(): number;
  /** minimum ≤ n ≤ maximum */
  integer(minimum: number, maximum: number): number;
  pick<T>(values: readonly [T, ...T[]]): T;
}

/** The generator mulberry32. */
export function random(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    integer: (minimum, maximum) => minimum + Math.floor(next() * (maximum - minimum + 1)),
    pick: values => values[Math.floor(next() * values.length)] ?? values[0],
  };
}
