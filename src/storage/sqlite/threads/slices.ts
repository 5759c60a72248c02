/**
 * Statements of SQLite run on the event loop, each to its end: many of them one after another are done in slices. The
 * transaction stays what it is: it has a connection of its own, which nothing else uses meanwhile.
 */
import { createSlices, type Slices } from '../../../slices.ts';
import type { Session } from '../../database.ts';

export interface Sliced extends Session, Slices {}

/** @returns the session, giving the event loop a turn before a statement when those since the last took long */
export function wrapInSlices({ all, first, run }: Session): Sliced {
  const slices = createSlices();
  const { turn } = slices;
  return {
    ...slices,
    async all(query) {
      const due = turn();
      if (due !== undefined) await due;
      return all(query);
    },
    async first(query) {
      const due = turn();
      if (due !== undefined) await due;
      return first(query);
    },
    async run(query) {
      const due = turn();
      if (due !== undefined) await due;
      return run(query);
    },
  };
}
