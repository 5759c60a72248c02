/** What a check of a database asks in the words of its dialect. */
import type { RawBuilder } from 'kysely';
import type { Builder, Session } from './database.ts';

/** A column that refers to the rows of another table. */
export interface Reference {
  readonly child: string;
  readonly column: string;
  readonly parent: string;
  readonly target: string;
}

export interface DialectChecks {
  /** What a session does first whose statements may take long. */
  readonly patient: readonly RawBuilder<unknown>[];
  /**
   * Reads everything. @param quick leaves out what takes longest: whether indexes have all rows
   * @returns a line for each part that is damaged, a few at most
   */
  damage(session: Session, build: Builder, quick: boolean): Promise<string[]>;
  /** All references that the schema declares. */
  readonly references: RawBuilder<Reference>;
  /** What a repair does first: others may not write meanwhile. */
  readonly beforeRepair: readonly RawBuilder<unknown>[];
  /** Builds all indexes anew; none where that is the business of the server's own tools. */
  readonly rebuildIndexes: readonly RawBuilder<unknown>[];
}
