/**
 * Statements of an embedded database run on the event loop, each to its end: many of them one after another are done in
 * slices. A transaction stays what it is: it has a connection of its own, which nothing else uses meanwhile.
 */
import type { Session } from '../storage/database.ts';
import { takeTurn } from './index.ts';

/** @returns the session, giving the event loop a turn before a statement when what was done since the last took long */
export function wrapInSlices({ all, first, run }: Session): Session {
  return {
    async all(query) {
      const due = takeTurn();
      if (due !== undefined) await due;
      return all(query);
    },
    async first(query) {
      const due = takeTurn();
      if (due !== undefined) await due;
      return first(query);
    },
    async run(query) {
      const due = takeTurn();
      if (due !== undefined) await due;
      return run(query);
    },
  };
}
