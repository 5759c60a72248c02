/** Slices of work by their number: with a clock of which each reading is later than a slice lasts, each piece of work takes a turn. */
import { spyOn } from 'bun:test';

/** Milliseconds from one reading of the clock to the next. */
const step = 20;

/** How many turns of the event loop are requested while something is done. */
export async function countTurns(work: () => Promise<unknown>): Promise<number> {
  // What this turn has left of its time is not that of the other clock.
  await new Promise(resolve => setImmediate(resolve));
  let now = performance.now();
  const clock = spyOn(performance, 'now').mockImplementation(() => {
    now += step;
    return now;
  });
  const turns = spyOn(globalThis, 'setImmediate');
  try {
    await work();
    return turns.mock.calls.length;
  } finally {
    clock.mockRestore();
    turns.mockRestore();
  }
}
