/**
 * Long work on the event loop, done in slices: all requests of a process share one thread, and would wait for the whole.
 */

/** Milliseconds of one slice. A piece of work that cannot be divided may make it longer. */
const sliceMs = 10;

export interface Slices {
  /** Says that the event loop has just had a turn. */
  begin(): void;
  /** Called between two pieces of work: when the slice is over, resolves once the event loop has had a turn. */
  turn(): Promise<void> | undefined;
}

/** The slices of one piece of long work; the first begins now. */
export function slices(): Slices {
  let begun = performance.now();
  const begin = (): void => {
    begun = performance.now();
  };
  async function next(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve));
    begin();
  }
  return { begin, turn: () => (performance.now() - begun > sliceMs ? next() : undefined) };
}
