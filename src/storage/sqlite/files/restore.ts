/** Replaces an SQLite database that is not in use by a copy. */
import { Database as Connection } from 'bun:sqlite';
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { getErrorCode, getErrorMessage } from '../../../error-text.ts';
import { readNames } from '../../../secrets/private-files.ts';
import { isUnused } from '../journal-mode.ts';
import { flushFolder } from '../threads/flush.ts';
import { sync, verify } from './copy.ts';
import { findDescriptor } from './descriptors.ts';

/** Files that SQLite keeps beside a database; it would apply those of the former database to the copy. */
const besides = ['-wal', '-shm', '-journal'] as const;

/** @throws Error with one line when there is no copy, the copy is the database itself, or the database is in use */
export function checkRestorable(copy: string, database: string): void {
  if (!existsSync(copy)) throw new Error(`there is no file ${copy}`);
  if (existsSync(database) && realpathSync(copy) === realpathSync(database)) {
    throw new Error(`${copy} is the database itself; name a backup`);
  }
  refuseUsed(database);
}

/**
 * Writes the copy to a temporary file, verifies that, and waits until it is on the disk. Blocks its thread until then.
 * @param temporary a file that does not exist; an incomplete one is left there when this throws
 * @param accepts throws when this program cannot use a database with these migrations
 * @returns how many products the copy has
 * @throws Error with one line when the copy is damaged or not a Catalog database, or the file cannot be written
 */
export function prepareRestored(
  copy: string,
  temporary: string,
  accepts: (migrations: readonly string[]) => void,
): number {
  takeCopy(copy, temporary);
  const products = inspect(copy, temporary, accepts);
  sync(temporary);
  return products;
}

/**
 * Renames the temporary file to the database. The former database stays beside it under another name, with its log.
 * @param stamp ends the name of the former database
 * @returns where the former database is now; undefined when there was none
 * @throws Error with one line when the database is now in use: copying may have taken long
 */
export function putInPlace(temporary: string, database: string, stamp: string): string | undefined {
  refuseUsed(database);
  giveToOwner(temporary, dirname(resolve(database)));
  const former = moveAway(database, chooseFreeName(`${database}.before-restore-${stamp}`));
  renameSync(temporary, database);
  flushFolder(dirname(resolve(database)));
  return former;
}

/** What root restores must belong to the user of the service, as the folder does: it could not open the file. */
function giveToOwner(file: string, folder: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  try {
    chownSync(file, uid, gid);
  } catch {
    // Root may lack this right, as on a network share; the start of the service then says what to change.
  }
}

/** Copies the log too, which the copy of a database in use may have: it holds transactions that the file lacks. */
function takeCopy(copy: string, temporary: string): void {
  for (const suffix of ['', '-wal', '-journal']) {
    if (!existsSync(`${copy}${suffix}`)) continue;
    copyFileSync(`${copy}${suffix}`, `${temporary}${suffix}`, constants.COPYFILE_EXCL);
    chmodSync(`${temporary}${suffix}`, 0o600);
  }
}

/** @returns how many products the copy has */
function inspect(copy: string, temporary: string, accepts: (migrations: readonly string[]) => void): number {
  try {
    using connection = new Connection(temporary, { readwrite: true, strict: true });
    // Copies the log into the file and removes it.
    connection.run('PRAGMA journal_mode = DELETE');
    verify(connection);
    const isCatalog = connection
      .query("select 1 from pragma_table_info('migrations') where name = 'applied_at'")
      .get();
    if (isCatalog === null) throw new Error('it is not a Catalog database: it has no table of migrations');
    const names = connection.query<{ name: string }, []>('select name from migrations').all();
    accepts(names.map(({ name }) => name));
    return (
      connection.query<{ total: number }, []>('select count(*) as total from products').get()?.total ?? 0
    );
  } catch (error) {
    throw new Error(`${copy} was not restored: ${describeFault(error)}`);
  }
}

function describeFault(error: unknown): string {
  const code = getErrorCode(error) ?? '';
  if (code === 'SQLITE_NOTADB') return 'it is not an SQLite database; decompress a compressed copy first';
  if (code.startsWith('SQLITE_CORRUPT')) return `it is damaged or cut off (${getErrorMessage(error)})`;
  return getErrorMessage(error);
}

/** @throws Error when another process has the database open */
export function refuseUsed(database: string): void {
  if (!existsSync(database)) return;
  const user = findOpener(realpathSync(database));
  if (user !== undefined || !isFree(database)) {
    const who = user === undefined ? 'another process' : `process ${user}`;
    throw new Error(`${database} is in use by ${who}; stop the service first. Nothing was changed`);
  }
}

/** Checks SQLite's locks. An unreadable database counts as free: it may be the reason for the restore. */
function isFree(database: string): boolean {
  try {
    return isUnused(database);
  } catch {
    return true;
  }
}

/** The process that has the file open; undefined when there is none, or /proc does not show it. */
function findOpener(file: string): string | undefined {
  const own = String(process.pid);
  return readNames('/proc').find(
    id => /^\d+$/.test(id) && id !== own && findDescriptor(id, file) !== undefined,
  );
}

/** Two restores within a second have the same stamp. */
function chooseFreeName(name: string): string {
  let free = name;
  for (let number = 2; existsSync(free); number++) free = `${name}-${number}`;
  return free;
}

/** Links the second name first: a start at any moment finds a database, and does not create an empty one. */
function moveAway(database: string, former: string): string | undefined {
  if (existsSync(database)) linkSync(database, former);
  for (const suffix of besides) {
    if (existsSync(`${database}${suffix}`)) renameSync(`${database}${suffix}`, `${former}${suffix}`);
  }
  return existsSync(former) ? former : undefined;
}
