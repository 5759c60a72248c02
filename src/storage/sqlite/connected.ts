/** An open connection to SQLite, as those who use it see it. */
import type { Database as Connection } from 'bun:sqlite';
import type { CompiledQuery } from 'kysely';
import type { Session } from '../database.ts';

/** A connection with its prepared statements, each kept for as long as the connection lives. */
export interface Connected {
  readonly connection: Connection;
  readonly session: Session;
  /** The rows of a statement, whatever it reads. */
  rows(query: Pick<CompiledQuery<unknown>, 'sql' | 'parameters'>): Promise<unknown[]>;
  /** Runs an INSERT; gives the id of its row, or of the last of several. */
  insert(query: CompiledQuery<unknown>): number;
  /** Runs a statement without parameters or rows. */
  execute(text: string): void;
  close(): void;
}
