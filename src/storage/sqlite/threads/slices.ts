/**
 * Statements of SQLite run on the event loop, each to its end. Many of them one after another would keep everybody
 * else waiting, so the loop gets a turn in between. The transaction stays what it is: it has a connection of its own,
 * which nobody else uses meanwhile.
 */
import type { Session } from '../../database.ts';

/** Milliseconds of statements without a turn of the event loop; a single statement may take longer. */
const sliceMs = 10;

export interface Sliced extends Session {
  /** Says that the event loop has just had a turn. */
  begin(): void;
}

/** @returns the session, giving the event loop a turn before a statement when those since the last took long */
export function sliced({ all, first, run }: Session): Sliced {
  let begun = performance.now();
  const isOver = (): boolean => performance.now() - begun > sliceMs;
  const begin = (): void => {
    begun = performance.now();
  };
  async function turn(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve));
    begin();
  }
  return {
    begin,
    async all(query) {
      if (isOver()) await turn();
      return all(query);
    },
    async first(query) {
      if (isOver()) await turn();
      return first(query);
    },
    async run(query) {
      if (isOver()) await turn();
      return run(query);
    },
  };
}
