/**
 * Turns of the event loop, of which each thread has one. Long work requests a turn between any two pieces. All long
 * work together gets ten milliseconds of each turn; the rest waits in one queue. A slice for each task would hold up
 * the loop by as many slices as there are tasks, or parts of them. No other module keeps state
 * (docs/decisions/0041-one-queue-for-turns.md).
 */

/** Milliseconds of long work in one turn. A piece that cannot be divided may exceed it. */
const sliceMs = 10;
/** The most entries of the queue that are served in one turn; between turns the loop does other work. */
const maxPerTurn = 64;

/**
 * Creates a function that takes turns from one queue. Called before or between pieces of work, it resolves in a turn
 * that has time left, or returns undefined if the current one has.
 * @param isInOrder nothing overtakes waiting work, even when there is time for it
 */
export function createTurnQueue({ isInOrder }: { readonly isInOrder: boolean }) {
  const waiting: (() => void)[] = [];
  /** When work of this turn first checked the time; undefined before. */
  let begun: number | undefined;
  /** Callbacks of this turn that have yet to run. */
  let steps = 0;

  const end = (): void => {
    begun = undefined;
  };
  function hasTime(): boolean {
    const now = performance.now();
    if (begun === undefined) {
      begun = now;
      setImmediate(end);
    }
    return now - begun <= sliceMs;
  }
  // One callback for each waiter, since its work continues as soon as its promise is fulfilled.
  function schedule(): void {
    steps = Math.min(waiting.length, maxPerTurn);
    setImmediate(takeFirst);
    for (let count = 1; count < steps; count++) setImmediate(takeNext);
    setImmediate(end);
  }
  // However long the turn was held up, one waiter continues.
  function takeFirst(): void {
    begun = performance.now();
    runOne();
  }
  function takeNext(): void {
    if (hasTime()) runOne();
    else countStep();
  }
  function runOne(): void {
    waiting.shift()?.();
    countStep();
  }
  function countStep(): void {
    steps -= 1;
    if (steps === 0 && waiting.length > 0) schedule();
  }
  function wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    if (steps === 0) schedule();
    return promise;
  }
  return (): Promise<void> | undefined =>
    (isInOrder && waiting.length > 0) || !hasTime() ? wait() : undefined;
}

/** The queue of all long work. */
export const takeTurn = createTurnQueue({ isInOrder: false });
