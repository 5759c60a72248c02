/** Files that are there whole or not at all, whatever ends the process or the machine. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HttpError } from '../../http/errors.ts';

/**
 * Writes beside, flushes, and gives the file its name then.
 * @param beside a folder on the same file system for what is unfinished
 * @throws HttpError 507 when there is no room
 */
export async function writeWhole(path: string, bytes: Uint8Array, beside: string): Promise<void> {
  const unfinished = join(beside, randomUUID());
  try {
    await mkdir(beside, { recursive: true, mode: 0o700 });
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFlushed(unfinished, bytes);
    await rename(unfinished, path);
    await flushFolder(dirname(path));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw hasNoRoom(error)
      ? new HttpError('STORAGE_FULL', { message: 'There is no room to keep the file.', cause: error })
      : error;
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

function hasNoRoom(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
