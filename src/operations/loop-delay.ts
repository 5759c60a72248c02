/** Measures the event loop delay: how late due callbacks run. All requests of a process share one thread. */
import { createHistogram } from 'node:perf_hooks';

/** Delays in seconds, since the last reading. */
interface LoopDelays {
  readonly p99: number;
  readonly longest: number;
}

export type LoopDelay = ReturnType<typeof createLoopDelay>;

/** Milliseconds between two readings of the clock. */
const resolution = 20;
const nanoseconds = 1e9;

/** Avoids `monitorEventLoopDelay`: in Bun a process has only one, and disabling it disables it for all users. */
export function createLoopDelay() {
  const histogram = createHistogram();
  let due = performance.now() + resolution;
  const timer = setInterval(() => {
    const now = performance.now();
    histogram.record(Math.max(1, Math.round((now - due) * 1e6)));
    due = now + resolution;
  }, resolution);
  // The server keeps the process alive.
  timer.unref();
  return {
    /** The delays since the last reading; starts the next measurement. */
    read(): LoopDelays {
      const isMeasured = histogram.count > 0;
      const delays = {
        p99: isMeasured ? histogram.percentile(99) / nanoseconds : 0,
        longest: isMeasured ? histogram.max / nanoseconds : 0,
      };
      histogram.reset();
      return delays;
    },
    stop(): void {
      clearInterval(timer);
    },
  };
}
