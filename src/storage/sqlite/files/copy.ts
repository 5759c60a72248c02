/** Makes a consistent copy of an SQLite database while other processes may be writing to it. */
import { Database as Connection } from 'bun:sqlite';
import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { getErrorMessage } from '../../../error-text.ts';
import { useLog } from '../journal-mode.ts';

/**
 * Makes a copy, verifies it, and waits until it is on the disk. Blocks its thread until then.
 * @param copy a file that does not exist; an incomplete one is left there when this throws
 * @throws Error with one line when there is no database, or the copy cannot be written or is damaged
 */
export function copySqlite(database: string, copy: string): void {
  if (!existsSync(database)) throw new Error(`there is no database ${database}`);
  vacuumInto(database, copy);
  inspect(copy);
  sync(copy);
}

function vacuumInto(database: string, copy: string): void {
  using connection = new Connection(database, { readwrite: true, strict: true });
  // Without the log, writers would have to wait for the copy.
  useLog(connection);
  try {
    // One read transaction: the copy shows one state, and writers do not wait for it.
    connection.run('VACUUM INTO ?', [copy]);
  } catch (error) {
    throw new Error(`cannot write ${copy}: ${getErrorMessage(error)}`);
  }
}

function inspect(copy: string): void {
  using connection = new Connection(copy, { readonly: true, strict: true });
  verify(connection);
}

/** Maximum number of problems that a message names; a damaged database may have thousands. */
const named = 5;

/** @throws Error with one line when pages or indexes of the database are damaged */
export function verify(connection: Connection): void {
  const found = connection.query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${named})`).all();
  const wrong = found.map(row => row.integrity_check.replaceAll(/\s+/g, ' ')).filter(line => line !== 'ok');
  if (wrong.length > 0) throw new Error(`the copy is damaged: ${wrong.join('; ')}`);
}

/** Waits until the file is on the disk. */
export function sync(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
