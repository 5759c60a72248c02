/** Why a file of the database could not be written: SQLite has one code for all reasons but a full disk. */
import { closeSync, openSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getErrorCode, getErrorMessage } from '../../../error-text.ts';
import { StorageError } from '../../database.ts';

/**
 * The error of a failed write. To find the reason it creates a file in the folder: a system makes a file system
 * read-only when its disk fails, even while files are open. Every other reason counts as a full disk, since an exceeded
 * quota or limit on the size of files may still let an empty file be created.
 * @param file the database file
 */
export function createWriteFailure(file: string, cause: unknown): StorageError {
  const code = getErrorCode(cause) === 'EROFS' ? 'EROFS' : attemptCreation(dirname(file));
  if (code === 'EROFS') {
    return new StorageError(
      'read-only',
      `${file} is on a file system that is read-only (EROFS); mount it for writing.`,
      { cause },
    );
  }
  if (code === 'EIO') return new StorageError('unavailable', `The disk of ${file} fails (EIO).`, { cause });
  return new StorageError('full', `The disk of ${file} is full.`, { cause });
}

/** @returns the code of the error when a file is created in the folder, or its message; undefined if it can be created */
export function attemptCreation(folder: string): string | undefined {
  const path = join(folder, `.catalog-${crypto.randomUUID()}`);
  try {
    closeSync(openSync(path, 'wx', 0o600));
    rmSync(path);
    return undefined;
  } catch (error) {
    return getErrorCode(error) ?? getErrorMessage(error);
  }
}
