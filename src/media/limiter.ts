/**
 * Limits how much is decoded at once. Decoded pixels take four bytes each, and work on them takes processors. A job
 * that would take too much of either waits for its turn; if too many jobs wait, it is refused.
 */
import { availableParallelism } from 'node:os';
import { HttpError } from '../http/errors.ts';

const maxWaiting = 200;

export type Limiter = ReturnType<typeof createLimiter>;

interface Job {
  readonly pixels: number;
  begin(): void;
}

// One processor is left to the event loop.
const processors = Math.max(1, availableParallelism() - 1);

/** @param budget the most pixels at once, except for a single job; @param maxJobs the most jobs at once */
export function createLimiter(budget: number, maxJobs = processors) {
  const waiting: Job[] = [];
  let [jobs, held] = [0, 0];

  const fits = (pixels: number): boolean => jobs === 0 || (jobs < maxJobs && held + pixels <= budget);
  function begin({ pixels, begin: started }: Job): void {
    jobs += 1;
    held += pixels;
    started();
  }
  function end(pixels: number): void {
    jobs -= 1;
    held -= pixels;
    for (let next = waiting[0]; next !== undefined && fits(next.pixels); next = waiting[0]) {
      waiting.shift();
      begin(next);
    }
  }
  return {
    /** Runs work that holds this many pixels. @throws HttpError 503 when too many jobs wait already */
    async run<T>(pixels: number, work: () => Promise<T>): Promise<T> {
      if (waiting.length >= maxWaiting) {
        throw new HttpError('SERVICE_BUSY', {
          message: 'Too many images are waiting to be processed; retry after the time in Retry-After.',
          headers: { 'Retry-After': '2' },
        });
      }
      await new Promise<void>(resolve => {
        const job = { pixels, begin: resolve };
        if (waiting.length === 0 && fits(pixels)) begin(job);
        else waiting.push(job);
      });
      try {
        return await work();
      } finally {
        end(pixels);
      }
    },
  };
}
