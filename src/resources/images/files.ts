/**
 * The files of images and their rows, which cannot be changed atomically. A file is written before its row and removed
 * after it: an interruption may leave a file without a row, never a row without its file.
 */

import type { Media } from '../../media/index.ts';
import { sniff } from '../../media/inspect/index.ts';
import type { PreparedImage } from '../../media/prepare.ts';
import type { Database } from '../../storage/database.ts';
import type { ImageStore } from './store.ts';

const detectType = (bytes: Uint8Array): string => sniff(bytes) ?? 'application/octet-stream';

export function createImageFiles(database: Database, media: Media, store: ImageStore) {
  const isUsed = (hash: string): Promise<boolean> => store.has(database.read, hash);

  async function removeUnused(hash: string): Promise<void> {
    if (await isUsed(hash)) return;
    const bytes = await media.store.read(hash);
    await media.remove(hash);
    if (bytes !== undefined && (await isUsed(hash))) await media.store.put(hash, bytes, detectType(bytes));
  }
  /** Ensures that a used image has a file, and an unused one has none. */
  async function settle(image: PreparedImage): Promise<void> {
    if (!(await isUsed(image.hash))) await removeUnused(image.hash);
    // Another request may have removed the file as unused just before the row was written.
    else if (!(await media.store.has(image.hash))) await media.keep(image);
  }

  return {
    /** Removes a file without a row. If the file gets a row at the same time, it is restored. */
    removeUnused,
    /**
     * Keeps the file of an image while `work` writes what uses it. If nothing uses it in the end, the file is removed.
     * @throws what `work` throws; HttpError 503, 507
     */
    async keepFor<T>(image: PreparedImage, work: () => Promise<T>): Promise<T> {
      await media.keep(image);
      try {
        return await work();
      } finally {
        // The rows are committed whether or not this succeeds; `catalog media check` finds what remains.
        await settle(image).catch(() => undefined);
      }
    },
    /** Removes images that no product has used for long, and abandoned unfinished files; returns how many of both. */
    async sweep(now: number): Promise<number> {
      let removed = 0;
      for (;;) {
        const hashes = await database.write(session => store.forgetUnused(session, now));
        if (hashes.length === 0) return removed + (await media.store.removeUnfinished());
        for (const hash of hashes) await removeUnused(hash);
        await database.write(session => store.forgetRemoved(session, hashes, now));
        removed += hashes.length;
      }
    },
  };
}
