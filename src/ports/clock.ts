/** The time, as a dependency: tests move it instead of sleeping. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: Date.now };

/** Lengths of time, in milliseconds. */
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
