/** The interface of migrations. */
import type { Database, Transaction } from '../database.ts';

export interface Migration {
  /**
   * A number and words. A migration that only adds, so that programs without it still read and write all they know, is
   * named `0018-expand-…`: those programs are not refused. Any other name keeps them out (contract).
   */
  readonly name: string;
  /**
   * Long work before `up`, in short transactions of its own, so that other running programs never wait for it for long.
   * It runs again from the beginning if the program ended during it, and two processes may run it at once.
   */
  readonly prepare?: (database: Database) => Promise<void>;
  up(session: Transaction, database: Pick<Database, 'build' | 'dialect'>): Promise<void>;
}
