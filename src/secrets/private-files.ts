/** The contents of DATA_DIR are for the service's own user only: the database, its secret, and mails with tokens. */
import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { getErrorMessage } from '../error-text.ts';

/** Permission bits of the group and of others. */
const forOthers = 0o077;
const sticky = 0o1000;
/** The names that the service writes in DATA_DIR, and those at the root of a file system. */
const ownFile = /^(catalog\.db|jwt-secret)/;
const ownNames = /^(catalog\.db.*|jwt-secret|outbox|media|media-cache|lost\+found)$/;

export interface Permissions {
  /** Paths that other users could access, and no longer can. */
  readonly tightened: readonly string[];
  /** Paths that other users can still access, each with the reason. */
  readonly open: readonly string[];
}

/**
 * Removes the permissions of group and others from files that earlier releases wrote under the umask of the day; new
 * files are private from the beginning (main.ts). Call this before the database is opened: SQLite gives its log the
 * mode of the database file. Links are not followed, and a folder that is used for anything else is left as it is.
 */
export function tightenPermissions(folder: string): Permissions {
  const tightened: string[] = [];
  const open: string[] = [];

  /** @returns whether others had permissions */
  function tighten(path: string, mode: number): boolean {
    if ((mode & forOthers) === 0) return false;
    try {
      chmodSync(path, mode & 0o7777 & ~forOthers);
      tightened.push(path);
    } catch (error) {
      open.push(`${path}: ${getErrorMessage(error)}`);
    }
    return true;
  }

  function tightenFiles(within: string, names: readonly string[]): void {
    for (const name of names) {
      const path = join(within, name);
      const stat = findStats(path);
      if (stat?.isFile() === true) tighten(path, stat.mode);
    }
  }

  const names = readNames(folder);
  const stat = findStats(folder);
  if (stat?.isDirectory() === true && (stat.mode & forOthers) !== 0) {
    const foreign = names.find(name => !ownNames.test(name));
    if (foreign !== undefined) open.push(`${folder}: it also holds ${foreign}`);
    else if ((stat.mode & sticky) !== 0) open.push(`${folder}: it is shared (sticky)`);
    else tighten(folder, stat.mode);
  }
  tightenFiles(
    folder,
    names.filter(name => ownFile.test(name)),
  );
  const outbox = join(folder, 'outbox');
  const box = findStats(outbox);
  // In a folder that no other user may enter the modes of files do not matter, and there may be many files.
  if (box?.isDirectory() === true && tighten(outbox, box.mode)) tightenFiles(outbox, readNames(outbox));
  return { tightened, open };
}

/** Undefined for a path that does not exist or cannot be reached: opening the database reports that. */
function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** The names in a folder; empty if the folder does not exist or cannot be read. */
export function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
