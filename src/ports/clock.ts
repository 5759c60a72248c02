/** The time, as a dependency: tests move it instead of sleeping. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: Date.now };

/**
 * Whether less than this many milliseconds have passed since a moment. False for a future moment: it was recorded
 * before the clock was set back, so its age is unknown.
 */
export const isRecent = (since: number, milliseconds: number, now: number): boolean =>
  since <= now && now - since < milliseconds;

/** Milliseconds; more than automatic corrections of a clock. */
const usualCorrection = 60_000;

/** @returns a function that returns by how many seconds the clock was set forward since its last call; 0 up to 60 */
export function createJumpMeter(clock: Clock): () => number {
  const measure = () => clock.now() - performance.now();
  let last = measure();
  return () => {
    const ahead = measure() - last;
    last += ahead;
    return ahead > usualCorrection ? Math.round(ahead / 1000) : 0;
  };
}

/** How far the clocks of machines that share a database may differ, in milliseconds. */
export const maxClockSkewMs = 300_000;

/** Lengths of time, in milliseconds. */
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
