/**
 * Statements of an embedded database run on the event loop, each to completion, so a long series of them is run in
 * slices. The transaction keeps its own connection, which nothing else uses during those turns.
 */
import type { Session } from '../storage/database.ts';
import { takeTurn } from './index.ts';

/** @returns a session that yields to the event loop before a statement, if work since the last turn took long */
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
