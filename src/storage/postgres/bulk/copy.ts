/** Very many rows by COPY: the server parses no statement and plans nothing, and the driver binds no parameters. */
import { CompiledQuery } from 'kysely';
import { sendInSlices } from '../../../turns/slices.ts';
import type { Bulk, BulkInsert } from '../../bulk.ts';
import type { Session } from '../../database.ts';
import type { Deferred } from '../../transactions.ts';

/** Where rows can be copied to, too. */
export interface CopySession extends Session {
  /** @param data rows in COPY's text format, some at a time: the server reads the first while the next are made */
  copy(table: string, columns: readonly string[], data: Iterable<string>): Promise<void>;
}

/** Rows from which on a COPY costs less than statements that have been prepared. */
const manyRows = 200;

/** Rows that have been sent. */
interface Sent {
  /** Fulfilled when they have been written. */
  readonly done: Promise<unknown>;
}

/**
 * No statement waits for the one before it, which saves round trips; a COPY has the connection to itself.
 * @returns when all of them have been sent
 */
export async function sendRows(session: CopySession, parts: readonly Deferred[]): Promise<Sent> {
  const sent: Promise<unknown>[] = [];
  for (const { statement, rows } of parts) {
    if (isMany(statement, rows)) {
      await Promise.all(sent.splice(0));
      await session.copy(statement.table, statement.columns, toCopyText(rows));
    } else {
      const queries = statement.statements(rows);
      for (const one of await sendInSlices(queries, query => session.run(query))) sent.push(one);
    }
  }
  return { done: Promise.all(sent) };
}

export async function writeRows(session: CopySession, parts: readonly Deferred[]): Promise<void> {
  const { done } = await sendRows(session, parts);
  await done;
}

const isMany = (statement: Bulk, rows: readonly unknown[]): statement is BulkInsert =>
  statement.columns !== undefined && rows.length >= manyRows;

export const mayBeCopied = (parts: readonly Deferred[]): boolean =>
  parts.reduce((sum, { rows }) => sum + rows.length, 0) >= manyRows;

/** Ids of rows that are to be new in a table. */
export async function takeIds(session: Session, table: string, count: number): Promise<number[]> {
  // The name is looked up once, and the ids come as one text: a row of its own for each costs more than the id. It is
  // no statement that groups.ts takes for a read.
  const sequence = `with sequence as materialized (select pg_get_serial_sequence($1, 'id')::regclass as name)
    select string_agg(nextval(name)::text, ' ') as ids from sequence cross join generate_series(1, $2::integer)`;
  // Boundary: the statement's text says what its row is.
  const taken = await session.first(
    CompiledQuery.raw(sequence, [table, count]) as CompiledQuery<{ ids: string }>,
  );
  return (taken?.ids ?? '').split(' ').map(Number);
}

/** New rows of a table with an id: their ids, which are taken before since a COPY gives none back. */
export async function copyNew(
  session: CopySession,
  { table, columns }: BulkInsert,
  rows: readonly (readonly unknown[])[],
): Promise<number[]> {
  const ids = await takeIds(session, table, rows.length);
  await session.copy(table, ['id', ...columns], toCopyText(rows, ids));
  return ids;
}

/** Rows that are written at once: the server's work on them takes about as long as making the next. */
const rowsAtOnce = 250;

/**
 * Rows in COPY's text format: a line each, with tabs between the values.
 * @param ids first in each row, where they are not among its values
 */
function* toCopyText(rows: readonly (readonly unknown[])[], ids?: readonly number[]): Generator<string> {
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    let text = '';
    for (const [offset, row] of rows.slice(start, start + rowsAtOnce).entries()) {
      if (ids !== undefined) text += `${ids[start + offset]}\t`;
      for (let index = 0; index < row.length; index++) {
        if (index > 0) text += '\t';
        text += toCopyValue(row[index]);
      }
      text += '\n';
    }
    yield text;
  }
}

const special = /[\\\n\r\t]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function toCopyValue(value: unknown): string {
  if (value === null) return '\\N';
  if (typeof value !== 'string') return String(value);
  return special.test(value) ? value.replace(/[\\\n\r\t]/g, character => escapes[character] ?? '') : value;
}
