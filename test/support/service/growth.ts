/** Whether the time of a request grows linearly with its length, measured on a machine that other processes use too. */

/** Milliseconds for which the event loop may be blocked. Shorter times cannot be distinguished from noise. */
const unnoticed = 50;
/** Four times the length takes four times as long when it is linear, and sixteen times when it is quadratic. */
const factor = 4;
const tolerated = 8;
/** The shortest of several tries counts, because other processes only ever add time. */
const tries = 5;

/** A superlinear growth: the milliseconds for a text of `length`, and for one four times as long. */
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

/** @returns both processor times if `work` takes more than eight times as long as the other, and more than 50 ms */
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

/** The processor time in milliseconds, which excludes waiting for other processes. */
export async function processorTime(work: () => unknown): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}
