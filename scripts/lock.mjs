/**
 * Work that one process at a time may do in a folder. The lock is a folder, and what is in it is named by the process that
 * holds it: both appear at once, when they are renamed to their place. Git does not see empty folders. Plain Node.
 */
import { mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const pollMs = 200;

/**
 * @param {string} path of the lock; its parent is there
 * @param {(holder: string) => void} onWait called once when another process holds it
 * @param {() => T} work not begun while another process is at it
 * @template T
 * @returns {T}
 */
export function runLocked(path, onWait, work) {
  const own = String(process.pid);
  for (let waits = 0; !take(path, own); waits += 1) {
    const holder = findHolder(path);
    if (waits === 0 && holder !== undefined) onWait(holder);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs);
  }
  try {
    return work();
  } finally {
    removeEmpty(join(path, own));
    removeEmpty(path);
  }
}

/** @returns whether this process holds the lock now */
function take(path, own) {
  const holder = findHolder(path);
  // That of a process that has ended is taken over: of several that try to, one finds it.
  if (holder !== undefined) return !isAlive(holder) && rename(join(path, holder), join(path, own));
  // Windows renames no folder to one that is there, not even to an empty one.
  removeEmpty(path);
  const ready = `${path}-${own}`;
  mkdirSync(join(ready, own), { recursive: true });
  if (rename(ready, path)) return true;
  removeEmpty(join(ready, own));
  removeEmpty(ready);
  return false;
}

/** @returns the id of the process, as text; undefined when there is none */
function findHolder(path) {
  try {
    return readdirSync(path).find(name => /^\d+$/.test(name));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

function isAlive(holder) {
  // A container gives its processes the same ids each time.
  if (Number(holder) === process.pid) return false;
  try {
    return process.kill(Number(holder), 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** @returns false when another process was faster */
function rename(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
    return false;
  }
}

function removeEmpty(path) {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
  }
}
