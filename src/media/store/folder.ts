/** Stores files in a folder: that of the service, or one that several machines share. */

import { access, constants, mkdir, readdir, readFile, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode } from '../../error-text.ts';
import { hourMs } from '../../ports/clock.ts';
import { writeWhole } from './atomic.ts';
import {
  createStoreUnavailableError,
  emptyThough,
  type FileStore,
  getShelf,
  hashPattern,
  matchesHash,
  type StoredFile,
} from './store.ts';

const unfinishedFolder = 'unfinished';
const shelfPattern = /^[0-9a-f]{2}$/;
/** Milliseconds after which an unfinished file is abandoned. */
const abandoned = hourMs;

/** Too many open files; a folder that is not permitted, mounted read-only, broken, or on an unreachable machine. */
const awayCodes =
  'EMFILE ENFILE EROFS EACCES EPERM ENOTDIR EIO ESTALE ENODEV ENXIO ENOTCONN ETIMEDOUT EHOSTDOWN EHOSTUNREACH'.split(
    ' ',
  );

/**
 * @param isOwn whether the folder is in the data folder of the service: it is then created with the first file. Any
 * other is created only by `open`, if no files have been stored: later it may be a share that is not mounted.
 */
export function createFolderStore(folder: string, isOwn: boolean, now: () => number): FileStore {
  const { requireFolder, guarded, ifThere, mayBeMade } = createPlaceGuard(folder, isOwn);
  const unfinished = join(folder, unfinishedFolder);
  const toPath = (hash: string): string => join(folder, getShelf(hash), hash);
  const findStats = (path: string) => ifThere(() => stat(path));
  const read = (hash: string) => ifThere(() => readFile(toPath(hash)));
  const has = async (hash: string): Promise<boolean> => (await findStats(toPath(hash))) !== undefined;
  const readNames = (path: string) => guarded(() => readdir(path).catch(ignoreMissingFolder));

  async function findFile(hash: string): Promise<StoredFile | undefined> {
    const found = hashPattern.test(hash) ? await findStats(toPath(hash)) : undefined;
    return found === undefined ? undefined : { hash, size: found.size, writtenAt: found.mtimeMs };
  }
  async function check(): Promise<void> {
    await requireFolder(true);
    await guarded(() => access(folder, constants.R_OK | constants.X_OK));
  }
  const make = (): Promise<unknown> => mkdir(folder, { recursive: true, mode: 0o700 });

  return {
    place: folder,
    pathOf: toPath,
    has,
    check,
    async open(isUsed) {
      const isThere = (await guarded(() => stat(folder).catch(ignoreMissing))) !== undefined;
      if (!isThere && !isUsed) {
        if (!isOwn) await guarded(make);
        return;
      }
      await check();
      await guarded(() => access(folder, constants.W_OK));
      const names = isUsed ? await readNames(folder) : undefined;
      if (names?.some(name => shelfPattern.test(name)) === false)
        throw createStoreUnavailableError(new Error(`${folder}: ${emptyThough}`));
    },
    async put(hash, bytes) {
      // A damaged file must be replaced; otherwise it would stay, however often the right file is uploaded.
      const there = await read(hash);
      if (there !== undefined && (await matchesHash(there, hash))) return;
      await guarded(async () => {
        if (mayBeMade()) {
          await make();
          await requireFolder();
        }
        await writeWhole(toPath(hash), bytes, unfinished);
      });
    },
    read,
    async remove(hash) {
      await ifThere(() => unlink(toPath(hash)));
    },
    async *list() {
      for (const shelf of (await ifThere(() => readdir(folder))) ?? []) {
        if (!shelfPattern.test(shelf)) continue;
        for (const name of await readNames(join(folder, shelf))) {
          const found = await findFile(name);
          if (found !== undefined) yield found;
        }
      }
    },
    async removeUnfinished() {
      let removed = 0;
      for (const name of await readNames(unfinished)) {
        const path = join(unfinished, name);
        const found = await findStats(path);
        if (found === undefined || found.mtimeMs > now() - abandoned) continue;
        await guarded(() => rm(path, { force: true }));
        removed += 1;
      }
      return removed;
    },
  };
}

/** Distinguishes a missing file from a missing folder, in which case nothing is known about files. */
function createPlaceGuard(folder: string, isOwn: boolean) {
  /** Whether the folder has existed: if it is missing after that, something is wrong. */
  let wasThere = !isOwn;

  /** @param always throws even if the folder has not been created yet @throws HttpError 503 if the folder is missing */
  async function requireFolder(always = false): Promise<void> {
    const found = await stat(folder).catch((error: unknown) => {
      if (getErrorCode(error) !== 'ENOENT') throw createStoreUnavailableError(error);
    });
    if (found?.isDirectory() === true) wasThere = true;
    else if (found !== undefined) throw createStoreUnavailableError(new Error(`${folder} is not a folder`));
    else if (wasThere || always) throw createStoreUnavailableError(new Error(`${folder} is not there`));
  }
  /** @throws HttpError 503 when the folder cannot be reached; otherwise whatever `work` throws */
  async function runGuarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const code = getErrorCode(error);
      if (code === 'ENOENT') await requireFolder();
      throw awayCodes.some(away => away === code) ? createStoreUnavailableError(error) : error;
    }
  }
  /** Like runGuarded, but returns undefined for a missing file. */
  const runIfThere = <T>(work: () => Promise<T>): Promise<T | undefined> =>
    runGuarded(work).catch(ignoreMissing);
  return { requireFolder, guarded: runGuarded, ifThere: runIfThere, mayBeMade: () => !wasThere };
}

function ignoreMissing(error: unknown): undefined {
  if (getErrorCode(error) !== 'ENOENT') throw error;
}

/** For reading the names in an inner folder, which may be missing, or be a file of another program. */
function ignoreMissingFolder(error: unknown): string[] {
  const code = getErrorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return [];
  throw error;
}
