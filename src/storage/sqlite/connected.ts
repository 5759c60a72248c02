/** The interface of an open connection to SQLite. */
import type { Database as Connection } from 'bun:sqlite';
import type { CompiledQuery } from 'kysely';
import type { Session } from '../database.ts';

/** A connection with a limited number of prepared statements. */
export interface Connected {
  readonly connection: Connection;
  readonly session: Session;
  /** The rows of a statement, without their types. */
  rows(query: Pick<CompiledQuery<unknown>, 'sql' | 'parameters'>): Promise<unknown[]>;
  /** Runs an INSERT. @returns the id of its row, or of the last of several rows */
  insert(query: CompiledQuery<unknown>): number;
  /** Runs a statement without parameters or rows. */
  execute(text: string): void;
  close(): void;
}
