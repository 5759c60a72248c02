/** Writes very many rows by COPY, for which the server plans nothing and the driver binds no parameters. */
import { CompiledQuery } from 'kysely';
import { sendInSlices } from '../../../turns/slices.ts';
import type { Bulk, BulkInsert } from '../../bulk.ts';
import type { Session } from '../../database.ts';
import type { Deferred } from '../../transactions.ts';

/** A session that also supports COPY. */
export interface CopySession extends Session {
  /** @param data rows in COPY's text format, in parts: the server reads one part while the next is being made */
  copy(table: string, columns: readonly string[], data: Iterable<string>): Promise<void>;
}

/** With at least this many rows, COPY costs less than prepared statements. */
const manyRows = 200;

interface Sent {
  /** Fulfilled when the rows that were sent have been written. */
  readonly done: Promise<unknown>;
}

/**
 * Sends statements without waiting for the ones before, which saves round trips; a COPY has the connection to itself.
 * @returns when everything has been sent
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

/** Takes ids for new rows from the sequence of a table. */
export async function takeIds(session: Session, table: string, count: number): Promise<number[]> {
  // The name is looked up once, and the ids come as one text: one row per id costs more than the id. The statement
  // begins with WITH, so that groups.ts does not take it for a read.
  const sequence = `with sequence as materialized (select pg_get_serial_sequence($1, 'id')::regclass as name)
    select string_agg(nextval(name)::text, ' ') as ids from sequence cross join generate_series(1, $2::integer)`;
  // Boundary: the statement's text says what its row is.
  const taken = await session.first(
    CompiledQuery.raw(sequence, [table, count]) as CompiledQuery<{ ids: string }>,
  );
  return (taken?.ids ?? '').split(' ').map(Number);
}

/** Writes new rows and returns their ids, which are taken first, since COPY returns none. */
export async function copyNew(
  session: CopySession,
  { table, columns }: BulkInsert,
  rows: readonly (readonly unknown[])[],
): Promise<number[]> {
  const ids = await takeIds(session, table, rows.length);
  await session.copy(table, ['id', ...columns], toCopyText(rows, ids));
  return ids;
}

/** Rows in one part: the server's work on them takes about as long as making the next part. */
const rowsAtOnce = 250;

/**
 * Rows in COPY's text format: one per line, with tabs between the values.
 * @param ids put before the values of each row, if given
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
