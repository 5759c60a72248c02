/**
 * A cache of files that can be made again, bounded in bytes: the least recently used file is removed first. The order
 * of use is known only while the process runs; after a start it is the order in which the files were written. While the
 * folder cannot be used, the cache is empty; each request tries the folder again.
 */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, type Log } from '../operations/log.ts';
import { succeedOnce } from '../turns/once.ts';
import { writeWhole } from './store/atomic.ts';
import { getShelf } from './store/store.ts';

export type FileCache = ReturnType<typeof createFileCache>;

interface Entry {
  readonly path: string;
  readonly size: number;
}

const unfinishedFolder = 'unfinished';

/** @param limit the maximum size in bytes */
export function createFileCache(folder: string, limit: number, log: Log) {
  let total = 0;
  const toKey = (hash: string, name: string): string => `${hash}-${name}`;
  const toPath = (key: string): string => join(folder, getShelf(key), key);

  async function load(): Promise<Map<string, Entry>> {
    // A folder that cannot be written to is read all the same.
    await rm(join(folder, unfinishedFolder), { recursive: true, force: true }).catch(() => undefined);
    const found = await readEntries(folder);
    total = found.reduce((sum, [, { size }]) => sum + size, 0);
    return new Map(found);
  }
  /** Entries by key, the least recently used first. */
  const index = succeedOnce(load);
  const indexIfAny = (): Promise<Map<string, Entry> | undefined> => index().catch(() => undefined);
  function drop(entries: Map<string, Entry>, key: string): Promise<void> {
    const entry = entries.get(key);
    if (entry === undefined) return Promise.resolve();
    entries.delete(key);
    total -= entry.size;
    return rm(entry.path, { force: true });
  }
  async function makeRoom(entries: Map<string, Entry>): Promise<void> {
    for (const key of entries.keys()) {
      if (total <= limit) return;
      await drop(entries, key);
    }
  }

  async function keep(key: string, bytes: Uint8Array): Promise<void> {
    const entries = await index();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeWhole(toPath(key), bytes, join(folder, unfinishedFolder));
    total += bytes.length - (entries.get(key)?.size ?? 0);
    entries.delete(key);
    entries.set(key, { path: toPath(key), size: bytes.length });
    await makeRoom(entries);
  }

  /** Moves an entry to the end of the order of use. */
  function markUsed(entries: Map<string, Entry> | undefined, key: string): Entry | undefined {
    const entry = entries?.get(key);
    if (entries === undefined || entry === undefined) return undefined;
    entries.delete(key);
    entries.set(key, entry);
    return entry;
  }

  return {
    /** The size in bytes; 0 before the cache is first used. */
    size: () => total,
    /** Whether the cache has an entry; its file is not checked. */
    has: async (hash: string, name: string) => (await indexIfAny())?.has(toKey(hash, name)) === true,
    /** The path of an entry, or undefined; the file is not checked. */
    locate: async (hash: string, name: string) => markUsed(await indexIfAny(), toKey(hash, name))?.path,
    /** @param hash the hash of the image; @param name the name of the file among those of the image */
    async get(hash: string, name: string): Promise<Uint8Array | undefined> {
      const entries = await indexIfAny();
      const key = toKey(hash, name);
      const entry = markUsed(entries, key);
      if (entries === undefined || entry === undefined) return undefined;
      try {
        return await readFile(entry.path);
      } catch {
        // The file was removed, or cannot be read: the caller makes it again.
        await drop(entries, key).catch(() => undefined);
        return undefined;
      }
    },
    /** Adds a file; only logs a failure. */
    async put(hash: string, name: string, bytes: Uint8Array): Promise<void> {
      if (bytes.length > limit) return;
      try {
        await keep(toKey(hash, name), bytes);
      } catch (error) {
        log.warn('an image could not be written to media-cache', describeError(error));
      }
    },
    /** Removes all files of an image; only logs a failure. */
    async forget(hash: string): Promise<void> {
      try {
        const entries = await index();
        for (const key of [...entries.keys()]) if (key.startsWith(`${hash}-`)) await drop(entries, key);
      } catch (error) {
        log.warn('cached images could not be removed', describeError(error));
      }
    },
  };
}

/** All entries, oldest first. */
async function readEntries(folder: string): Promise<[key: string, entry: Entry][]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found: { key: string; entry: Entry; writtenAt: number }[] = [];
  for (const shelf of await readdir(folder)) {
    if (!/^[0-9a-f]{2}$/.test(shelf)) continue;
    // Files that cannot be read are made again.
    for (const key of await readdir(join(folder, shelf)).catch(() => [])) {
      const path = join(folder, shelf, key);
      const file = await stat(path).catch(() => undefined);
      if (file !== undefined) found.push({ key, entry: { path, size: file.size }, writtenAt: file.mtimeMs });
    }
  }
  found.sort((a, b) => a.writtenAt - b.writtenAt);
  return found.map(({ key, entry }) => [key, entry]);
}
