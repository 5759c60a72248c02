/** Puts a copy of an SQLite database in the place of one that is not in use. */
import { Database as Connection, SQLiteError } from 'bun:sqlite';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  readlinkSync,
  realpathSync,
  renameSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { getErrorMessage } from '../../../error-text.ts';
import { readNames } from '../../../secrets/private-files.ts';
import { leaveLog } from '../journal-mode.ts';
import { flushFolder } from '../threads/flush.ts';
import { sync, verify } from './copy.ts';

/** What SQLite keeps beside a database; those of another one would be played into the copy. */
const besides = ['-wal', '-shm', '-journal'] as const;

/** @throws Error with one line when there is no copy, it is the database itself, or that is in use */
export function checkRestorable(copy: string, database: string): void {
  if (!existsSync(copy)) throw new Error(`there is no file ${copy}`);
  if (existsSync(database) && realpathSync(copy) === realpathSync(database)) {
    throw new Error(`${copy} is the database itself; name a backup`);
  }
  refuseUsed(database);
}

/**
 * Copies the copy, verifies what it has written, and waits until that is on the disk. Blocks the thread that it runs in for
 * as long as it takes.
 * @param temporary a file that does not exist; what was written of it stays there when this throws
 * @param accepts throws when the copy is not a database of this program
 * @returns how many products it has
 * @throws Error with one line when the copy is damaged or no catalog, or cannot be written
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
 * Gives what was prepared the database's name. The former database stays beside it under another one, with its log.
 * @param stamp ends the name of the former database
 * @returns where the former database is now; undefined when there was none
 * @throws Error with one line when the database is in use: copying may have taken long
 */
export function putInPlace(temporary: string, database: string, stamp: string): string | undefined {
  refuseUsed(database);
  const former = moveAway(database, chooseFreeName(`${database}.before-restore-${stamp}`));
  renameSync(temporary, database);
  flushFolder(dirname(resolve(database)));
  return former;
}

/** With its log, if the copy is of a database that was in use: what has yet to be copied from it counts. */
function takeCopy(copy: string, temporary: string): void {
  for (const suffix of ['', '-wal', '-journal']) {
    if (!existsSync(`${copy}${suffix}`)) continue;
    copyFileSync(`${copy}${suffix}`, `${temporary}${suffix}`, constants.COPYFILE_EXCL);
    chmodSync(`${temporary}${suffix}`, 0o600);
  }
}

/** @returns how many products it has */
function inspect(copy: string, temporary: string, accepts: (migrations: readonly string[]) => void): number {
  try {
    using connection = new Connection(temporary, { readwrite: true, strict: true });
    // Copies the log into the file and removes it.
    connection.run('PRAGMA journal_mode = DELETE');
    verify(connection);
    const isCatalog = connection.query("select 1 from sqlite_schema where name = 'migrations'").get();
    if (isCatalog === null) throw new Error('it is not a Catalog database: it has no table of migrations');
    const names = connection.query<{ name: string }, []>('select name from migrations').all();
    accepts(names.map(({ name }) => name));
    return (
      connection.query<{ total: number }, []>('select count(*) as total from products').get()?.total ?? 0
    );
  } catch (error) {
    throw new Error(`${copy} was not restored: ${getErrorMessage(error)}`);
  }
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

/** By SQLite's own locks; a database that cannot be read has none, and may be the reason for the restore. */
function isFree(database: string): boolean {
  try {
    return leaveLog(database);
  } catch (error) {
    if (error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? '')) return false;
    return true;
  }
}

/** The process that has the file open, where the system can say it. */
function findOpener(file: string): string | undefined {
  return readNames('/proc').find(pid => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false;
    const folder = `/proc/${pid}/fd`;
    return readNames(folder).some(descriptor => readTarget(`${folder}/${descriptor}`) === file);
  });
}

function readTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

/** Two restores may come within the second that a stamp names. */
function chooseFreeName(name: string): string {
  let free = name;
  for (let number = 2; existsSync(free); number++) free = `${name}-${number}`;
  return free;
}

/** By a second name first: there is no moment at which a start would find no database, and make an empty one. */
function moveAway(database: string, former: string): string | undefined {
  if (existsSync(database)) linkSync(database, former);
  for (const suffix of besides) {
    if (existsSync(`${database}${suffix}`)) renameSync(`${database}${suffix}`, `${former}${suffix}`);
  }
  return existsSync(former) ? former : undefined;
}
