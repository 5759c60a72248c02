/** Whether the time that a request takes grows as its length does, measured on a machine that others use too. */

/** Whatever takes less is not distinguished from noise; the event loop may be blocked for so long. */
const unnoticed = 50;
/** Four times the length takes four times as long when it is linear, and sixteen times when it is quadratic. */
const factor = 4;
const tolerated = 8;
/** The least of several counts: other processes only ever add time. */
const tries = 5;

/** Milliseconds, where the time grew more than linearly: of `length`, and of four times that. */
export interface Growth {
  readonly length: number;
  readonly milliseconds: number;
  readonly fourfold: number;
}

/**
 * @param run does the work for a text of this length
 * @returns undefined when four times the length takes at most eight times as long, or at most 50 ms
 */
export async function superlinearGrowth(
  run: (length: number) => unknown,
  length: number,
): Promise<Growth | undefined> {
  let fourfold = Number.POSITIVE_INFINITY;
  let milliseconds = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < tries; attempt++) {
    fourfold = Math.min(fourfold, await processorTime(() => run(length * factor)));
    if (fourfold <= unnoticed) return undefined;
    milliseconds = Math.min(milliseconds, await processorTime(() => run(length)));
    if (fourfold <= milliseconds * tolerated) return undefined;
  }
  return { length, milliseconds, fourfold };
}

/** @returns the processor times, where one work takes more than eight times as long as another, and more than 50 ms */
export async function excessiveTime(
  work: () => unknown,
  other: () => unknown,
): Promise<{ readonly milliseconds: number; readonly other: number } | undefined> {
  const least = { milliseconds: Number.POSITIVE_INFINITY, other: Number.POSITIVE_INFINITY };
  for (let attempt = 0; attempt < tries; attempt++) {
    least.milliseconds = Math.min(least.milliseconds, await processorTime(work));
    if (least.milliseconds <= unnoticed) return undefined;
    least.other = Math.min(least.other, await processorTime(other));
    if (least.milliseconds <= least.other * tolerated) return undefined;
  }
  return least;
}

/** Of the processor, in milliseconds: what waits because others use it too is not counted. */
export async function processorTime(work: () => unknown): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}
