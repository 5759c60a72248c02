/** What is counted of each caller in a window of fixed length; it is dropped as a whole when the next one begins. */
import { createBoundedMap } from '../../bounded-map.ts';
import type { Clock } from '../../ports/clock.ts';

/** How many callers are counted at most; beyond it those not seen for longest are forgotten. */
export const subjectLimit = 200_000;

/** @param seconds how long a window is */
export function createWindow<Counted extends object>(seconds: number, clock: Clock) {
  // Objects rather than numbers: adding to one leaves the map as it is.
  let counted = createBoundedMap<string, Counted>(subjectLimit);
  let start = 0;
  return {
    /** Begins the next window where it is time. @returns when the current one ends, in seconds since the epoch */
    turn(): number {
      const now = Math.floor(clock.now() / 1000);
      const current = now - (now % seconds);
      if (current !== start) {
        start = current;
        counted = createBoundedMap(subjectLimit);
      }
      return start + seconds;
    },
    /** When the current one has begun, in seconds since the epoch. */
    start: () => start,
    find: (subject: string): Counted | undefined => counted.get(subject),
    ensure: (subject: string, create: () => Counted): Counted => counted.getOrCreate(subject, create),
    /** Callers that are counted. */
    size: () => counted.size(),
  };
}
