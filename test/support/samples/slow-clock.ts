/** Counts slices of work with a clock that advances by more than a slice at each reading: each slice takes a turn. */
import { spyOn } from 'bun:test';

/** Milliseconds from one reading of the clock to the next. */
const step = 20;

/** The number of turns of the event loop that `work` requests. */
export async function countTurns(work: () => Promise<unknown>): Promise<number> {
  // The current turn still measures its time by the real clock.
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
