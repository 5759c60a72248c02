/** The time, as a dependency: tests move it instead of sleeping. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: Date.now };

/**
 * Whether less than so many milliseconds have passed since then. A moment that is still to come was noted before the clock
 * was set back: how long ago is not known.
 */
export const isRecent = (since: number, milliseconds: number, now: number): boolean =>
  since <= now && now - since < milliseconds;

/** What clocks are corrected by without anyone's doing, and more, in milliseconds. */
const usualCorrection = 60_000;

/**
 * @returns a function that gives by how many seconds the clock has been set forward since it was last called; 0 where it
 * runs as time does
 */
export function createJumpMeter(clock: Clock): () => number {
  const measure = () => clock.now() - performance.now();
  let last = measure();
  return () => {
    const ahead = measure() - last;
    last += ahead;
    return ahead > usualCorrection ? Math.round(ahead / 1000) : 0;
  };
}

/** Lengths of time, in milliseconds. */
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
