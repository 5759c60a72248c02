/** What a migration is. */
import type { Database, Transaction } from '../database.ts';

export interface Migration {
  /**
   * A number and words. One that only adds, so that programs which lack it go on reading and writing all they know,
   * is named `0018-expand-…`: those programs are not refused. Any other name keeps them out (contract).
   */
  readonly name: string;
  /**
   * What takes long, before `up`: in short transactions of its own, so that programs which go on beside this one wait for
   * none of it for long. It is run again from its beginning when the program has ended meanwhile, and by two at once.
   */
  readonly prepare?: (database: Database) => Promise<void>;
  up(session: Transaction, database: Pick<Database, 'build' | 'dialect'>): Promise<void>;
}
