/** What the work of a transaction is given, and what it leaves. */
import { takeTurn } from '../../turns/index.ts';
import type { Bulk } from '../bulk.ts';
import type { Transaction } from '../database.ts';
import { indexTable } from '../search/sqlite.ts';
import { createLeftovers, type Leftovers, leaveItem } from '../transactions.ts';
import type { Connected } from './connected.ts';
import type { Merging } from './merging.ts';

/** The only connection that writes, in slices. */
export interface Writer extends Connected {
  /** Undefined in an import that has the file alone. */
  readonly merging: Merging | undefined;
  /** How long it waits for other processes that write, in seconds. */
  readonly patience: number;
}

/** What a job leaves while it works. */
export interface Left extends Leftovers {
  /** Whether a statement of its own has changed, or may have changed, anything. */
  hasWritten: boolean;
  /** About how many bytes it has given to statements, and left for the end. */
  written: number;
}

export const createLeft = (): Left => ({ ...createLeftovers(), hasWritten: false, written: 0 });

/** What a value takes that is not text, and a text besides its characters. */
const valueBytes = 16;

function countWritten(values: readonly unknown[]): number {
  let bytes = valueBytes * values.length;
  for (const value of values) if (typeof value === 'string') bytes += value.length;
  return bytes;
}

/** Rows whose bytes are all counted; of more rows only some are, as a sample. */
const countedRows = 200;

function countRows(rows: readonly (readonly unknown[])[]): number {
  const step = Math.ceil(rows.length / countedRows);
  let bytes = 0;
  for (let index = 0; index < rows.length; index += step) bytes += step * countWritten(rows[index] ?? []);
  return bytes;
}

/** The writer's session for one job, refusing to work once the job has ended. */
export function createTransaction(writer: Writer, left: Left, isOpen: () => boolean): Transaction {
  const { session } = writer;
  const check = () => {
    if (!isOpen()) throw new Error('A session was used after its transaction had ended.');
  };
  const noteWritten = (values: readonly unknown[]): void => {
    left.hasWritten = true;
    left.written += countWritten(values);
  };
  return {
    async all(query) {
      check();
      const rows = await session.all(query);
      left.hasWritten ||= !isRead(query.sql);
      return rows;
    },
    async first(query) {
      check();
      const row = await session.first(query);
      left.hasWritten ||= !isRead(query.sql);
      return row;
    },
    async pick(lookup, key) {
      check();
      return session.first(lookup.statement([key]));
    },
    // What fails has changed nothing: SQLite undoes a statement that it cannot complete.
    async run(query) {
      check();
      const changed = await session.run(query);
      noteWritten(query.parameters);
      return changed;
    },
    async insert(query) {
      check();
      const id = writer.insert(query);
      noteWritten(query.parameters);
      return id;
    },
    async insertMany(into, rows) {
      check();
      const ids: number[] = [];
      for (const query of into.statements(rows)) {
        const due = takeTurn();
        if (due !== undefined) await due;
        // One statement of the only writer gives ids one after another, and SQLite reports that of the last row.
        const last = writer.insert(query);
        noteWritten(query.parameters);
        const count = query.parameters.length / into.columns.length;
        for (let id = last - count + 1; id <= last; id++) ids.push(id);
      }
      return ids;
    },
    async writeMany(statement, rows) {
      check();
      left.hasWritten = true;
      left.written += countRows(rows);
      await writeMany(writer, statement, rows);
    },
    increment(counter, amount) {
      check();
      left.increments.push({ counter, amount });
    },
    writeDeferred(statement, rows) {
      check();
      left.written += countRows(rows);
      left.deferred.push({ statement, rows });
    },
    atEnd(ending, item) {
      check();
      leaveItem(left.items, ending, item);
    },
    onCommit(effect) {
      check();
      left.effects.push(effect);
    },
  };
}

export async function writeMany(
  { session, merging }: Pick<Writer, 'session' | 'merging'>,
  statement: Bulk,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const indexed = statement.table === indexTable ? merging : undefined;
  await indexed?.prepare();
  for (const query of statement.statements(rows)) {
    await session.run(query);
    indexed?.note(query);
  }
}

/** Whether a statement that gives rows changes none; an INSERT … RETURNING does. */
const isRead = (text: string): boolean => text.startsWith('select');
