/** The session that a job gets, and what the job leaves for the end of its transaction. */
import { takeTurn } from '../../turns/index.ts';
import type { Bulk } from '../bulk.ts';
import type { Transaction } from '../database.ts';
import { indexTable } from '../search/sqlite.ts';
import { createLeftovers, type Leftovers, leaveItem } from '../transactions.ts';
import type { Connected } from './connected.ts';
import type { Merging } from './merging.ts';

/** The only connection that writes; its session works in slices. */
export interface Writer extends Connected {
  readonly merging: Merging;
  /** Seconds that it waits for other processes that write. */
  readonly patience: number;
}

/** What a job has left so far. */
export interface Left extends Leftovers {
  /** Whether one of its statements may have changed anything. */
  hasWritten: boolean;
  /** The approximate number of bytes that it has written, and left for the end. */
  written: number;
  /** Whether it must be the only one of its group. */
  isSeparate: boolean;
}

export const createLeft = (): Left => ({
  ...createLeftovers(),
  hasWritten: false,
  written: 0,
  isSeparate: false,
});

/** A job that must be the only one of its group has to wait for the next one. */
export class LaterGroup extends Error {}

/** The size of a value that is not text, and the overhead of a text. */
const valueBytes = 16;

function countWritten(values: readonly unknown[]): number {
  let bytes = valueBytes * values.length;
  for (const value of values) if (typeof value === 'string') bytes += value.length;
  return bytes;
}

/** Up to this many rows, the bytes of all are counted; of more rows, those of a sample. */
const countedRows = 200;

function countRows(rows: readonly (readonly unknown[])[]): number {
  const step = Math.ceil(rows.length / countedRows);
  let bytes = 0;
  for (let index = 0; index < rows.length; index += step) bytes += step * countWritten(rows[index] ?? []);
  return bytes;
}

/** The writer's session for one job; it throws once the job has ended. @param isFirst whether it begins its group */
export function createTransaction(
  writer: Writer,
  left: Left,
  { isFirst, isOpen }: { readonly isFirst: boolean; readonly isOpen: () => boolean },
): Transaction {
  const { session } = writer;
  const check = () => {
    if (!isOpen()) throw new Error('A session was used after its transaction had ended.');
  };
  const noteWritten = (values: readonly unknown[]): void => {
    left.hasWritten = true;
    left.written += countWritten(values);
  };
  return {
    separate() {
      check();
      if (!isFirst) throw new LaterGroup();
      left.isSeparate = true;
    },
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
    // A statement that fails has changed nothing: SQLite undoes it.
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
        // Within a statement of the only writer ids are consecutive, and SQLite reports the id of the last row.
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

/** Whether a statement only reads; an INSERT … RETURNING also returns rows. */
const isRead = (text: string): boolean => text.startsWith('select');
