/** `catalog restore`: replaces the embedded database with a backup. */
import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { loadConfig } from '../../config.ts';
import { getSecretFile } from '../../secrets/index.ts';
import { checkDataFolder, getEmbeddedFile } from '../../storage/open.ts';
import { checkRestorable, putInPlace } from '../../storage/sqlite/files/restore.ts';
import { createPartialFile } from '../output-file.ts';
import { escapeUnprintable, formatQuantity } from '../terminal/index.ts';
import { type Command, parse, requireOnePositional } from '../usage.ts';
import { copyInThread } from './thread.ts';

export const command: Command = {
  help: `Usage: catalog restore FILE

Replaces the embedded database in DATA_DIR with FILE, a copy made by catalog backup. Stop the service first: the
command refuses to run while another process has the database open. FILE is copied and verified before anything is
changed, and is not modified. The former database stays in DATA_DIR as catalog.db.before-restore-TIME, with its log,
until you remove it. The next start migrates a backup of an earlier release.

A backup does not contain the file jwt-secret in DATA_DIR: restore the one that belongs to it, or all users must sign
in again.

With DATABASE_URL the database is in PostgreSQL: use pg_restore or psql.

The copy is written into the folder catalog.db.PID.partial of DATA_DIR, and moved from there when it is complete. A
signal that ends the restore (SIGTERM, SIGINT, SIGHUP) removes it and changes nothing; the next restore removes one left
by a killed process.

Exit status: 0 the database was restored; 1 the restore failed, and nothing was changed;
2 the command line is wrong.`,

  async run(args) {
    const file = requireOnePositional(parse(args, {}, true).positionals, 'FILE');
    const config = loadConfig(process.env);
    if (config.DATABASE_URL !== undefined)
      throw new Error('the database is PostgreSQL (DATABASE_URL): restore it with pg_restore or psql');
    requireFile(file);
    const made = checkDataFolder(config);
    const database = getEmbeddedFile(config);
    const { products, former } = await restoreInto(database, file, made);
    console.log(
      `${database} is ${escapeUnprintable(file)} now: ${formatQuantity(products, 'product')}, integrity checked`,
    );
    if (former !== undefined)
      console.log(`the former database is ${former}; remove it when you no longer need it`);
    if (config.JWT_SECRET === undefined && !existsSync(getSecretFile(config.DATA_DIR)))
      console.log(
        'DATA_DIR has no jwt-secret: restore the one that belongs to this backup, or all users must sign in again',
      );
    return 0;
  },
};

/** Refuses folders and devices. A file that is missing or is not a database is refused later, when it is read. */
function requireFile(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile()) return;
  const kind = stat.isDirectory() ? 'a folder' : 'not a file';
  throw new Error(`${file} is ${kind}; name a copy made by catalog backup`);
}

/** @param made the uppermost folder created for the database; removed, with those below it, if the restore fails */
async function restoreInto(database: string, file: string, made: string | undefined) {
  try {
    return await restore(database, file);
  } catch (error) {
    if (made !== undefined) removeEmpty(dirname(resolve(database)), made);
    throw error;
  }
}

/** @returns also where the former database is now; undefined when there was none */
async function restore(database: string, file: string) {
  checkRestorable(file, database);
  const partial = createPartialFile(database, 'restore');
  try {
    const products = (await copyInThread({ command: 'restore', from: file, to: partial.path })) ?? 0;
    const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    return { products, former: putInPlace(partial.path, database, stamp) };
  } finally {
    partial.remove();
  }
}

/** Removes folders that are empty, from `folder` up to `uppermost`. */
function removeEmpty(folder: string, uppermost: string): void {
  if (readdirSync(folder).length > 0) return;
  rmdirSync(folder);
  if (folder !== uppermost) removeEmpty(dirname(folder), uppermost);
}
