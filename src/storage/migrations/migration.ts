/** What a migration is. */
import type { Database, Transaction } from '../database.ts';

export interface Migration {
  readonly name: string;
  up(session: Transaction, database: Pick<Database, 'build' | 'dialect'>): Promise<void>;
}
