/**
 * Requests in turns of the event loop. What arrives together is handed over together: a thousand readers of a megabyte
 * would keep the loop from everything else for seconds. So the requests of one turn get a slice of time; those that
 * come after it wait for the next turns, in their order, and those that bypass the queue pass them.
 */

/** Milliseconds of requests in one turn; the last one that is begun may make it longer. */
const sliceMs = 10;
/** Requests that are looked at in one turn at most: the loop looks after other things as often. */
const mostInTurn = 64;

type Serve = () => Response | Promise<Response>;

export interface Turns {
  /** Serves a request: at once when it bypasses the queue or there is time. */
  enter(bypassesQueue: boolean, serve: Serve): Response | Promise<Response>;
}

export function createTurns(): Turns {
  const waiting: (() => void)[] = [];
  /** Steps of this turn that have yet to come. */
  let steps = 0;
  /** When the requests of this turn began; undefined before the first. */
  let begun: number | undefined;

  const end = (): void => {
    begun = undefined;
  };
  function hasTime(): boolean {
    const now = performance.now();
    if (begun === undefined) {
      begun = now;
      setImmediate(end);
    }
    return now - begun < sliceMs;
  }
  // A callback for each, since what a request has to do goes on after `serve`, and its response is written then.
  function step(): void {
    steps -= 1;
    if (hasTime()) waiting.shift()?.();
    if (steps === 0 && waiting.length > 0) schedule();
  }
  function schedule(): void {
    steps = Math.min(waiting.length, mostInTurn);
    for (let count = 0; count < steps; count++) setImmediate(step);
  }
  function serveLater(serve: Serve): Promise<Response> {
    const { promise, resolve } = Promise.withResolvers<Response>();
    waiting.push(() => resolve(serve()));
    if (steps === 0) schedule();
    return promise;
  }
  return {
    enter: (bypassesQueue, serve) =>
      bypassesQueue || (waiting.length === 0 && hasTime()) ? serve() : serveLater(serve),
  };
}
