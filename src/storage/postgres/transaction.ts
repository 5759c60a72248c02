/** Runs one transaction on a reserved connection, and creates the sessions for its work. */
import type { CompiledQuery } from 'kysely';
import type { Session, Transaction } from '../database.ts';
import {
  arrangeDeferredRows,
  arrangeIncrements,
  type Leftovers,
  leaveItem,
  runEndings,
} from '../transactions.ts';
import { type CopySession, copyNew, mayBeCopied, sendRows, writeRows } from './bulk/copy.ts';
import type { Connection, Result } from './connection.ts';
import { translate } from './errors.ts';

/** Shows whether a transaction that failed may have been committed. */
export interface Progress {
  isCommitting: boolean;
}

/** Sends BEGIN together with the first statement. Closes the connection if ROLLBACK fails. */
export async function runTransaction<T>(
  connection: Connection,
  begin: string,
  work: (connection: Connection) => Promise<T>,
  progress: Progress,
): Promise<T> {
  const begun = connection.run(begin);
  // Awaited below; until then a failure must not count as unhandled.
  begun.catch(() => undefined);
  try {
    const result = await work(connection);
    await begun;
    progress.isCommitting = true;
    const { command } = await connection.run('commit');
    // PostgreSQL responds with ROLLBACK to the COMMIT of a failed transaction.
    if (command === 'ROLLBACK')
      throw new Error('A statement of the transaction failed, and its error was not handled.');
    return result;
  } catch (error) {
    await connection.run('rollback').catch(() => connection.close());
    throw error;
  }
}

/** Does the work that all transactions of a group have left for the end. */
export async function writeLeftovers(session: CopySession, all: readonly Leftovers[]): Promise<void> {
  const deferred = all.flatMap(left => left.deferred);
  const { done } = await sendRows(session, await arrangeDeferredRows(deferred));
  // The endings are sent after the rows, without waiting for them.
  const endings = runEndings(
    session,
    all.map(left => left.items),
  );
  await Promise.all([done, endings]);
  const increments = all.flatMap(left => left.increments);
  await writeRows(session, await arrangeIncrements(increments));
}

/** The session of one job. @param left collects the work that the job leaves for the end */
export function createTransaction(inner: CopySession, left: Leftovers): Transaction {
  return {
    ...inner,
    // A transaction that calls it names nothing that it touches: it shares none of the database with others.
    separate: () => undefined,
    async insert(query) {
      const row = await inner.first(addReturningId(query));
      if (row === undefined) throw new Error('INSERT … RETURNING gave no row');
      return row.id;
    },
    async insertMany(into, rows) {
      if (mayBeCopied([{ statement: into, rows }])) return copyNew(inner, into, rows);
      const added: { id: number }[] = [];
      for (const query of into.statements(rows)) added.push(...(await inner.all(addReturningId(query))));
      // Ids are assigned in the order of the rows, but RETURNING may return them in another order.
      return added.map(({ id }) => id).sort((a, b) => a - b);
    },
    pick: (lookup, key) => inner.first(lookup.statement([key])),
    writeMany: (statement, rows) => writeRows(inner, [{ statement, rows }]),
    increment: (counter, amount) => void left.increments.push({ counter, amount }),
    writeDeferred: (statement, rows) => void left.deferred.push({ statement, rows }),
    atEnd: (ending, item) => leaveItem(left.items, ending, item),
    onCommit: effect => void left.effects.push(effect),
  };
}

/** Runs the work of one transaction, including what it leaves for its end. */
export async function complete<T>(
  inner: CopySession,
  work: (session: Transaction) => Promise<T>,
  left: Leftovers,
): Promise<T> {
  const result = await work(createTransaction(inner, left));
  await writeLeftovers(inner, [left]);
  return result;
}

/** @param clause of the INSERT, before RETURNING */
export function addReturningId(query: CompiledQuery<unknown>, clause = ''): CompiledQuery<{ id: number }> {
  // Boundary: the statement is extended as text; its rows are of the type named here.
  return { ...query, sql: `${query.sql}${clause} returning id` } as CompiledQuery<{ id: number }>;
}

export function createSession(connection: Pick<Connection, 'run'>, server: string): Session {
  const runQuery = async <Row>(query: CompiledQuery<Row>): Promise<Row[] & Pick<Result, 'count'>> => {
    try {
      // Boundary to the driver, which types no rows: Kysely has derived Row from the query and the tables.
      return (await connection.run(query.sql, query.parameters)) as Row[] & Pick<Result, 'count'>;
    } catch (error) {
      throw translate(error, server);
    }
  };
  return {
    all: runQuery,
    first: async query => (await runQuery(query))[0],
    run: async query => (await runQuery(query)).count ?? 0,
  };
}

export function createCopySession(connection: Pick<Connection, 'run' | 'copy'>, server: string): CopySession {
  return {
    ...createSession(connection, server),
    async copy(table, columns, data) {
      const names = columns.map(name => `"${name}"`).join(', ');
      try {
        await connection.copy(`copy "${table}" (${names}) from stdin`, data);
      } catch (error) {
        throw translate(error, server);
      }
    },
  };
}
