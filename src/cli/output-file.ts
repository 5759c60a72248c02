/**
 * The file that a command is to write: refused where it would take the place of one that is needed, and written under a
 * temporary name until it is whole.
 */
import {
  existsSync,
  fstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Config } from '../config.ts';
import { getErrorCode, getErrorMessage } from '../error-text.ts';
import { getSecretFile } from '../secrets/index.ts';
import { readNames } from '../secrets/private-files.ts';
import { getEmbeddedFile } from '../storage/open.ts';
import { listenForEnd } from './launcher.ts';
import { escapeUnprintable } from './terminal/printable.ts';

/** What the service keeps in DATA_DIR; beside these an operator may have files of his own there, such as backups. */
const kept = /^(catalog\.db(-.*|\.\d+\.partial|\.before-restore-.*)?|jwt-secret.*|outbox|media|media-cache)$/;

/**
 * @throws Error with one line when the file is a folder, lies in none, or is one of those that the service keeps in
 * DATA_DIR, by whatever path, symbolic link or further name
 */
export function refuseKept(file: string, config: Pick<Config, 'DATA_DIR'>): void {
  if (findStats(file)?.isDirectory() === true) throw new Error(`${file} is a folder; name a file`);
  const folder = findRealPath(dirname(resolve(file)));
  if (folder === undefined || findStats(folder)?.isDirectory() !== true) {
    throw new Error(`cannot write ${file}: there is no folder ${dirname(resolve(file))}`);
  }
  const places = [join(folder, basename(file)), findRealPath(file)];
  if (places.some(place => place !== undefined && isKept(place, config)) || isSecondName(file, config)) {
    throw new Error(`${file} belongs to the database in DATA_DIR; name another file`);
  }
}

/** @throws Error when `file` is what is to be read, by whatever path, link or further name; `-` is standard input */
export function refuseInput(file: string, input: string): void {
  const [read, written] = [input === '-' ? findStandardInput() : findStats(input), findStats(file)];
  if (read?.isFile() !== true || written === undefined || !isSame(read, written)) return;
  throw new Error(`${file} is the file that is read; name another file`);
}

/** @throws Error when the file is a device or a pipe, which would be replaced by a file of this name */
export function refuseDevice(file: string): void {
  if (findStats(file)?.isFile() === false) throw new Error(`${file} is not a file; name one, or use - and >`);
}

/**
 * A file that gets its name when it is whole. A signal that ends this process removes what was written of it; what
 * processes have left that were killed is removed now.
 * @param command for what is said
 * @throws Error with one line when nothing can be written beside it
 */
export function createPartialFile(file: string, command: string) {
  const say = (line: string) => console.error(`catalog ${command}: ${escapeUnprintable(line)}`);
  for (const leftover of removeLeftovers(file)) say(`removed ${leftover}, left by a process that has ended`);
  const folder = `${file}.${process.pid}.partial`;
  const withdraw = listenForEnd(signal => {
    removeFolder(folder);
    say(`ended by ${signal}; nothing was written to ${file}`);
  });
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    withdraw();
    throw createWriteError(file, error);
  }
  const path = join(folder, basename(file));
  return {
    /** Where it is written: in a folder of its own beside its place. */
    path,
    /** Gives it its own name. @throws Error of the system */
    finish: () => renameSync(path, file),
    /** Removes what was written of it. */
    remove(): void {
      withdraw();
      removeFolder(folder);
    },
  };
}

/** What the system says of a full disk names no file. */
export const createWriteError = (file: string, error: unknown): Error =>
  new Error(`cannot write ${file}: ${getErrorMessage(error)}`, { cause: error });

const removals = 10;

/** A thread that writes may make one more file meanwhile, such as SQLite's journal: in a folder that is gone it makes none. */
function removeFolder(folder: string): void {
  for (let left = removals; left >= 0 && existsSync(folder); left--) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/** @returns what was removed: partial files of this name whose process does not exist, or has had the id of this one */
function removeLeftovers(file: string): string[] {
  const begin = `${basename(file)}.`;
  const leftovers = readNames(dirname(file)).filter(name => {
    const id = name.startsWith(begin) ? /^(\d+)\.partial$/.exec(name.slice(begin.length))?.[1] : undefined;
    return id !== undefined && (Number(id) === process.pid || !isRunning(Number(id)));
  });
  const paths = leftovers.map(name => join(dirname(file), name));
  for (const path of paths) removeFolder(path);
  return paths;
}

/** Also when it is another user's. */
function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return getErrorCode(error) !== 'ESRCH';
  }
}

function isKept(place: string, { DATA_DIR }: Pick<Config, 'DATA_DIR'>): boolean {
  // Where catalog.db is a link, SQLite keeps the log beside what it leads to.
  const database = findRealPath(getEmbeddedFile({ DATA_DIR }));
  if (database !== undefined && (place === database || place.startsWith(`${database}-`))) return true;
  const data = findRealPath(DATA_DIR);
  return data !== undefined && kept.test(relative(data, place).split(sep)[0] ?? '');
}

/** Whether it is a hard link to the database, its log or the secret. */
function isSecondName(file: string, config: Pick<Config, 'DATA_DIR'>): boolean {
  const written = findStats(file);
  if (written === undefined) return false;
  const database = getEmbeddedFile(config);
  const names = [...['', '-wal', '-shm'].map(end => database + end), getSecretFile(config.DATA_DIR)];
  return names.map(findStats).some(stat => stat !== undefined && isSame(stat, written));
}

const isSame = (one: Stats, other: Stats): boolean => one.dev === other.dev && one.ino === other.ino;

/** Undefined for what is not there, or cannot be reached: then opening it says why. */
function findStats(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function findStandardInput(): Stats | undefined {
  try {
    return fstatSync(0);
  } catch {
    return undefined;
  }
}

function findRealPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
