/** Whether files can still be opened: connections count as open files, and clients open as many as they like. */
import { closeSync, openSync } from 'node:fs';
import { getErrorCode } from './error-text.ts';

/**
 * A thread opens fewer than ten files at a time while it loads its code; the rest are for connections that are accepted
 * before it has done so.
 */
const minSpareFiles = 64;

/**
 * To be called before a thread starts, and before a request to another server, the first of which starts a thread in
 * Bun: Bun ends the whole process if no file can be opened while a thread starts.
 * @throws Error when the process or the system has too many open files
 */
export function requireSpareFiles(): void {
  const held: number[] = [];
  try {
    while (held.length < minSpareFiles) held.push(openSync(process.execPath, 'r'));
  } catch (error) {
    const code = getErrorCode(error);
    // Another reason, such as a program that was replaced by an upgrade, prevents nothing.
    if (code === 'EMFILE' || code === 'ENFILE')
      throw new Error(
        `too few files can still be opened (${code}): raise the limit of open files (ulimit -Hn), or let the proxy keep fewer connections`,
        { cause: error },
      );
  } finally {
    for (const file of held) closeSync(file);
  }
}
