/** One check of the database, and the repair of the derived data that it covers. */
import type { Database, Session, Transaction } from '../../storage/database.ts';

export type Storage = Pick<Database, 'build' | 'dialect'>;

export interface Check {
  /** What is checked, such as `totals of products`. */
  readonly name: string;
  /** @returns a line for each problem */
  find(session: Session): Promise<string[]>;
  /** Rebuilds derived data from its source; undefined where the checked data has no other source. */
  readonly repair?: (session: Transaction, now: number) => Promise<void>;
}
