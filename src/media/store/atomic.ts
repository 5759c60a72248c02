/** Files that are there whole or not at all, whatever ends the process or the machine. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getErrorCode } from '../../error-text.ts';
import { HttpError } from '../../http/errors.ts';

/**
 * Writes beside, flushes, and gives the file its name then.
 * @param path in a folder whose own folder is there
 * @param beside a folder on the same file system for what is unfinished; its own folder is there
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
    // What cannot be removed either is removed later, as what is left of writes that were cut off.
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw hasNoRoom(error)
      ? new HttpError('STORAGE_FULL', { message: 'There is no room to keep the file.', cause: error })
      : error;
  }
}

/** One only: where a share that is not mounted should be, nothing is made. */
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

/** Without it the name could be lost with the power. Windows cannot, and need not. */
async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** A disk that is full, a quota that is used up, a file that may not grow. */
const hasNoRoom = (error: unknown): boolean => /^(ENOSPC|EDQUOT|EFBIG)$/.test(getErrorCode(error) ?? '');
