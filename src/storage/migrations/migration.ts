/** What a migration is. */
import type { Database, Transaction } from '../database.ts';

export interface Migration {
  /**
   * A number and words. One that only adds, so that programs which lack it go on reading and writing all they know,
   * is named `0018-expand-…`: those programs are not refused. Any other name keeps them out (contract).
   */
  readonly name: string;
  up(session: Transaction, database: Pick<Database, 'build' | 'dialect'>): Promise<void>;
}
