/**
 * Statements of an embedded database run on the event loop, each to completion, so a long series of them is run in
 * slices. The transaction keeps its own connection, which nothing else uses during those turns.
 */
import type { Session } from '../storage/database.ts';
import { takeTurn } from './index.ts';

/** @returns a session that yields to the event loop before a statement, if work since the last turn took long */
export const wrapInSlices = (session: Session): Session =>
  wrapSession(session, async send => {
    const due = takeTurn();
    if (due !== undefined) await due;
    return send();
  });

/** @param around runs each statement with what comes before or after it */
export function wrapSession(
  { all, first, run }: Session,
  around: <T>(send: () => Promise<T>) => Promise<T>,
): Session {
  return {
    all: query => around(() => all(query)),
    first: query => around(() => first(query)),
    run: query => around(() => run(query)),
  };
}
