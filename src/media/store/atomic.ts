/** Writes files whole or not at all, even if the process is killed or the machine fails. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getErrorCode } from '../../error-text.ts';
import { HttpError } from '../../http/errors.ts';

/**
 * Writes the file to the folder `beside`, flushes it, and then renames it.
 * @param path the final path; the parent of its folder must exist
 * @param beside a folder on the same file system for unfinished files; its parent must exist
 * @throws HttpError 507 when there is no room
 */
export async function writeWhole(path: string, bytes: Uint8Array, beside: string): Promise<void> {
  const unfinished = join(beside, randomUUID());
  try {
    await makeFolder(beside);
    await makeFolder(dirname(path));
    await writeFlushed(unfinished, bytes);
    await rename(unfinished, path);
    await flushFolder(dirname(path));
  } catch (error) {
    // If this fails too, the file is removed later, like those of interrupted writes.
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw hasNoRoom(error)
      ? new HttpError('STORAGE_FULL', { message: 'No space is left to store the file.', cause: error })
      : error;
  }
}

/** Creates one folder, without its parents: nothing must be created in place of a share that is not mounted. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  }
}

async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Flushes a folder: otherwise a power failure could lose the file's name. Windows cannot do so, and need not. */
async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Whether the disk is full, a quota is used up, or the file would be too large. */
const hasNoRoom = (error: unknown): boolean => /^(ENOSPC|EDQUOT|EFBIG)$/.test(getErrorCode(error) ?? '');
