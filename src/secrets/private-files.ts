/** What DATA_DIR holds is for the service's own user only: the database, its secret, and mails with tokens. */
import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { getErrorMessage } from '../error-text.ts';

/** Permission bits of the group and of others. */
const forOthers = 0o077;
const sticky = 0o1000;
/** What the service writes into DATA_DIR, and what a file system of its own has there. */
const ownFile = /^(catalog\.db|jwt-secret)/;
const ownNames = /^(catalog\.db.*|jwt-secret|outbox|media|media-cache|lost\+found)$/;

export interface Permissions {
  /** What others could read, and cannot any more. */
  readonly tightened: readonly string[];
  /** What others can still read, each with the reason. */
  readonly open: readonly string[];
}

/**
 * Takes the rights of group and others from what earlier releases wrote under the umask of their time; new files are
 * private from the beginning (main.ts). To be called before the database is opened: SQLite gives its log the mode of
 * the database file. Links are not followed, and a folder that is shared with something else is left as it is.
 */
export function tightenPermissions(folder: string): Permissions {
  const tightened: string[] = [];
  const open: string[] = [];

  /** @returns whether others had rights */
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
  // Within a folder that no other user may enter the modes of files do not matter, and there may be many.
  if (box?.isDirectory() === true && tighten(outbox, box.mode)) tightenFiles(outbox, readNames(outbox));
  return { tightened, open };
}

/** Undefined for what is not there, or cannot be reached: then opening the database says why. */
function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** The names in a folder; none when there is no such folder, or it cannot be read. */
export function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
