/** Counters per caller in a window of fixed length; all are dropped when the next window begins. */
import { createBoundedMap } from '../../bounded-map.ts';
import type { Clock } from '../../ports/clock.ts';

/** Maximum number of callers counted; beyond it the least recently seen are dropped. */
export const subjectLimit = 200_000;

/** @param seconds the length of a window */
export function createWindow<Counted extends object>(seconds: number, clock: Clock) {
  // Objects instead of numbers: incrementing one leaves the map unchanged.
  let counted = createBoundedMap<string, Counted>(subjectLimit);
  let start = 0;
  return {
    /** Starts the next window if it is time. @returns the end of the current one, in seconds since the epoch */
    turn(): number {
      const now = Math.floor(clock.now() / 1000);
      const current = now - (now % seconds);
      if (current !== start) {
        start = current;
        counted = createBoundedMap(subjectLimit);
      }
      return start + seconds;
    },
    /** The start of the current window, in seconds since the epoch. */
    start: () => start,
    find: (subject: string): Counted | undefined => counted.get(subject),
    ensure: (subject: string, create: () => Counted): Counted => counted.getOrCreate(subject, create),
    /** The number of callers counted. */
    size: () => counted.size(),
  };
}
