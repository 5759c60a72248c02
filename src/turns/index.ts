/**
 * Turns of the event loop, of which there is one in each thread. Long work asks for one between any two pieces: all of it
 * shares ten milliseconds of each turn, however much there is, and what has no time left waits in one queue. A slice for each
 * would hold up the loop by as many slices as there is work, or parts of it. No other module keeps state
 * (docs/decisions/0041-one-queue-for-turns.md).
 */

/** Milliseconds of long work in one turn. A piece of it that cannot be divided may make it longer. */
const sliceMs = 10;
/** Those in the queue that are looked at in one turn: the loop looks after other things as often. */
const mostInTurn = 64;

/**
 * What takes turns out of one queue: called between two pieces of work, or before one, it resolves in a turn that has time;
 * undefined where this one has.
 * @param isInOrder nothing passes what waits, even when there is time for it
 */
export function createTurnQueue({ isInOrder }: { readonly isInOrder: boolean }) {
  const waiting: (() => void)[] = [];
  /** When the first of this turn looked at the time; undefined before. */
  let begun: number | undefined;
  /** Callbacks of this turn that have yet to come. */
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
  // A callback for each that waits, since its work goes on when the promise is fulfilled.
  function schedule(): void {
    steps = Math.min(waiting.length, mostInTurn);
    setImmediate(takeFirst);
    for (let count = 1; count < steps; count++) setImmediate(takeNext);
    setImmediate(end);
  }
  // Whatever has held the turn up, one goes on.
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
