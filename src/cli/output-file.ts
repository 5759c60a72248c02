/**
 * The output file of a command: refused if it would replace a file that is needed, and written under a temporary name
 * until it is complete.
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
import { escapeUnprintable } from './terminal/index.ts';

/** What the service keeps in DATA_DIR. An operator may keep other files there, such as backups. */
const kept = /^(catalog\.db(-.*|\.\d+\.partial|\.before-restore-.*)?|jwt-secret.*|outbox|media|media-cache)$/;

/**
 * @throws Error with one line when the file is a folder, its folder does not exist, or it is one of those that the
 * service keeps in DATA_DIR, by whatever path, symbolic link or hard link
 */
export function refuseKept(file: string, config: Pick<Config, 'DATA_DIR'>): void {
  if (findStats(file)?.isDirectory() === true) throw new Error(`${file} is a folder; name a file`);
  const folder = findRealPath(dirname(resolve(file)));
  if (folder === undefined || findStats(folder)?.isDirectory() !== true)
    throw new Error(`cannot write ${file}: there is no folder ${dirname(resolve(file))}`);
  const places = [join(folder, basename(file)), findRealPath(file)];
  if (places.some(place => place !== undefined && isKept(place, config)) || isSecondName(file, config))
    throw new Error(`${file} belongs to the database in DATA_DIR; name another file`);
}

/** @throws Error when `file` is the input, by whatever path or link; an `input` of `-` is standard input */
export function refuseInput(file: string, input: string): void {
  const [read, written] = [input === '-' ? attempt(() => fstatSync(0)) : findStats(input), findStats(file)];
  if (read?.isFile() !== true || written === undefined || !isSame(read, written)) return;
  throw new Error(`${file} is the file being read; name another file`);
}

/** @throws Error when the file is a device or a pipe, which the output would replace */
export function refuseDevice(file: string): void {
  if (findStats(file)?.isFile() === false)
    throw new Error(`${file} is not a regular file; name one, or use - and redirect standard output`);
}

/**
 * Creates a file that gets its name when it is complete. A signal that ends this process removes the partial file.
 * Partial files of processes that were killed are removed now.
 * @param command the name that messages begin with
 * @throws Error with one line when nothing can be written beside `file`
 */
export function createPartialFile(file: string, command: string) {
  const say = (line: string) => console.error(`catalog ${command}: ${escapeUnprintable(line)}`);
  for (const leftover of removeLeftovers(file)) say(`removed ${leftover}, left by a process that ended`);
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
    /** Where to write: a temporary folder beside the final place. */
    path,
    /** Renames the file to its final name. @throws Error of the system */
    finish: () => renameSync(path, file),
    /** Removes the partial file, if it still exists. */
    remove(): void {
      withdraw();
      removeFolder(folder);
    },
  };
}

/** Adds the file's name: the system's message about a full disk lacks it. */
export const createWriteError = (file: string, error: unknown): Error =>
  new Error(`cannot write ${file}: ${getErrorMessage(error)}`, { cause: error });

const removals = 10;

/** Retries, since a thread that still writes may create a file in the folder, such as SQLite's journal. */
function removeFolder(folder: string): void {
  for (let left = removals; left >= 0 && existsSync(folder); left--) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/** Removes partial files of this name whose process has ended, or had the id of this one. @returns their paths */
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

/** Whether a process exists, even if it belongs to another user. */
function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return getErrorCode(error) !== 'ESRCH';
  }
}

function isKept(place: string, { DATA_DIR }: Pick<Config, 'DATA_DIR'>): boolean {
  // If catalog.db is a link, SQLite keeps the log beside its target.
  const database = findRealPath(getEmbeddedFile({ DATA_DIR }));
  if (database !== undefined && (place === database || place.startsWith(`${database}-`))) return true;
  const data = findRealPath(DATA_DIR);
  return data !== undefined && kept.test(relative(data, place).split(sep)[0] ?? '');
}

/** Whether `file` is a hard link to the database, its log or the secret. */
function isSecondName(file: string, config: Pick<Config, 'DATA_DIR'>): boolean {
  const written = findStats(file);
  if (written === undefined) return false;
  const database = getEmbeddedFile(config);
  const names = [...['', '-wal', '-shm'].map(end => database + end), getSecretFile(config.DATA_DIR)];
  return names.map(findStats).some(stat => stat !== undefined && isSame(stat, written));
}

const isSame = (one: Stats, other: Stats): boolean => one.dev === other.dev && one.ino === other.ino;

/** Undefined if there is no such file, or it cannot be reached; opening it will report why. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const findStats = (path: string): Stats | undefined => attempt(() => statSync(path));

const findRealPath = (path: string): string | undefined => attempt(() => realpathSync(path));
