/** What a check is: one question about the database, and how to repair what is derived. */
import type { Database, Session, Transaction } from '../../storage/database.ts';

export type Storage = Pick<Database, 'build' | 'dialect'>;

export interface Check {
  /** What is looked at, as in `totals of products`. */
  readonly name: string;
  /** @returns a line for each thing that is wrong */
  find(session: Session): Promise<string[]>;
  /** Rebuilds it from what it is derived from; undefined where that is the only copy. */
  readonly repair?: (session: Transaction, now: number) => Promise<void>;
}
