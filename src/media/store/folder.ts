/** Files in a folder: that of the service, or one that several machines share. */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from './atomic.ts';
import { type FileStore, hashPattern, type StoredFile, shelfOf } from './store.ts';

const unfinishedFolder = 'unfinished';
/** Milliseconds after which an unfinished file is abandoned. */
const abandoned = 60 * 60 * 1000;

export function folderStore(folder: string, now: () => number): FileStore {
  const unfinished = join(folder, unfinishedFolder);
  const pathOf = (hash: string): string => join(folder, shelfOf(hash), hash);
  const has = async (hash: string): Promise<boolean> => (await statOf(pathOf(hash))) !== undefined;
  return {
    place: folder,
    pathOf,
    has,
    async put(hash, bytes) {
      if (!(await has(hash))) await writeWhole(pathOf(hash), bytes, unfinished);
    },
    read: hash => whereThere(readFile(pathOf(hash))),
    remove: hash => rm(pathOf(hash), { force: true }),
    async *list() {
      for (const shelf of await namesIn(folder)) {
        if (!/^[0-9a-f]{2}$/.test(shelf)) continue;
        for (const hash of await namesIn(join(folder, shelf))) {
          const found = hashPattern.test(hash) ? await fileOf(hash, pathOf(hash)) : undefined;
          if (found !== undefined) yield found;
        }
      }
    },
    async removeUnfinished() {
      let removed = 0;
      for (const name of await namesIn(unfinished)) {
        const path = join(unfinished, name);
        const found = await statOf(path);
        if (found === undefined || found.mtimeMs > now() - abandoned) continue;
        await rm(path, { force: true });
        removed += 1;
      }
      return removed;
    },
  };
}

async function fileOf(hash: string, path: string): Promise<StoredFile | undefined> {
  const found = await statOf(path);
  return found === undefined ? undefined : { hash, size: found.size, writtenAt: found.mtimeMs };
}

const statOf = (path: string) => whereThere(stat(path));
const namesIn = async (folder: string): Promise<string[]> => (await whereThere(readdir(folder))) ?? [];

/** Undefined for what is not there. */
async function whereThere<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
